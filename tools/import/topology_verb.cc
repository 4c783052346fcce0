// sluice-import topology: another simulator's topology, or a list of links, to a fabric's file.
#include <fmt/format.h>

#include "control/config/text/say.hh"
#include "tools/import/verbs.hh"

namespace sluice::import {
namespace {

int import_topology_file(const TopologyArguments& arguments) {
    if (!check_roles(arguments)) return exit_refused;
    auto text = read_file(arguments.file);
    if (!text) return exit_failed;
    auto drawing = import_topology(std::move(*text), arguments.format);
    if (!drawing) return complain("{}\n", drawing.error().text(arguments.file)), exit_refused;
    if (const auto status = settle_account(arguments, drawing->account)) return *status;
    if (!drawing->kind && drawing->links.empty()) {
        complain("{}sluice-import: nothing is written, because no link is left\n",
                 whole_summary(arguments, drawing->account));
        return exit_refused;
    }
    fit_buffer(*drawing);
    const std::string name = arguments.out.empty() ? "fabric.toml" : arguments.out;
    const std::string made = to_fabric_file(*drawing, arguments.file, name);
    const std::string refusal = fabric_refusal(made, name);
    if (!refusal.empty() && !arguments.force) {
        complain(
            "{}sluice-import: nothing is written, because sluice-fabric check would refuse it for that; do: "
            "mend {}, or write it all the same with --force\n",
            refusal, arguments.file);
        return exit_refused;
    }
    const std::string said =
        fmt::format("{}: {}\n{}", name, size_of(*drawing), whole_summary(arguments, drawing->account));
    if (!deliver(arguments, made, said)) return exit_failed;
    return status_of(drawing->account);
}

}  // namespace

ProgramVerb topology_verb(TopologyArguments& arguments) {
    std::vector<Option> options = file_options(
        arguments,
        "write what could be read although some could not, or although sluice-fabric check would refuse it");
    options.push_back({"format", "FORMAT", "auto, htsim, hpcc or csv; default: auto, by the file's content",
                       keep_one_of<std::optional<TopologyFormat>>({{"auto", std::nullopt},
                                                                   {"htsim", TopologyFormat::htsim},
                                                                   {"hpcc", TopologyFormat::hpcc},
                                                                   {"csv", TopologyFormat::csv}},
                                                                  arguments.format)});
    const auto work = [&arguments](const Words& files) {
        arguments.file = files[0];
        return import_topology_file(arguments);
    };
    return {"topology", "FILE [OPTION...]",
            "Makes a fabric's file for sluice-fabric from FILE: htsim's .topo, the topology of HPCC and "
            "others of ns-3, or a CSV of links. Says of every line what "
            "became of it; the result passes sluice-fabric check.",
            work, std::move(options)};
}

}  // namespace sluice::import
