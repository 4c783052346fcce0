#include "tools/fabric/cli/sweeps.hh"

#include "control/config/text/say.hh"
#include "dataplane/base/file_roles.hh"

namespace sluice::fabric {

std::optional<std::string> folder_for(const Arguments& arguments, std::span<const char* const> names) {
    std::string folder = arguments.out;
    if (folder.empty()) {
        const auto name = folder_name(arguments.files[0]);
        if (!name) return failed(name.error()), std::nullopt;
        folder = "out/" + *name;
    }
    FileRoles roles;
    roles.reads("the scenario", arguments.files[0]);
    for (const char* name : names) roles.writes("--out", folder + "/" + name);
    roles.writes("--html", arguments.html);
    if (const std::string clash = roles.clash_text(); !clash.empty()) return failed(clash), std::nullopt;
    return folder;
}

SweepOptions options_of_runs(const SweepOptions& asked) {
    SweepOptions options = asked;
    options.is_stopped = [] { return signal_that_came() != 0; };
    return options;
}

void say_earlier(const SweepFolder& folder) {
    if (!folder.earlier().empty())
        say("rows of an earlier sweep, of another file, other words or another version, are now in {}\n",
            folder.earlier());
}

std::vector<std::string> words_of_rows(const Arguments& arguments, const FabricPlan& plan) {
    std::vector<std::string> words = arguments.sets;
    words.insert(words.end(), arguments.asserts.begin(), arguments.asserts.end());
    if (arguments.duration) words.push_back(std::to_string(arguments.duration->ps));
    for (const WorkloadPlan& each : plan.workloads)
        words.push_back(fmt::format("{}: {:016x}", each.path,
                                    (each.schedule ? each.contents.digest() : each.list.digest())));
    return words;
}

}  // namespace sluice::fabric
