// sluice-fabric: runs a fabric of switches and hosts, or says what is wrong with it, or draws it.
#include <array>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/fabric/report/drawing.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/report/figures/figures.hh"
#include "control/serve/server/program.hh"
#include "tools/fabric/cli/manual.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

int draw_topology(const Arguments& arguments) {
    const auto plan = read_fabric(arguments, arguments.files[0]);
    if (!plan) return exit_configuration;
    return say("{}", svg_of(plan->topology, {})), exit_done;
}

int reference(const Arguments& /*arguments*/) { return say("{}", fabric_reference()), exit_done; }

int figures(const Arguments& /*arguments*/) { return say("{}", fabric_figures_reference()), exit_done; }

int man(const Arguments& /*arguments*/) { return say("{}", man_page(SLUICE_VERSION)), exit_done; }

// Of a run's report.
int why(const Arguments& arguments) {
    const std::string path = arguments.files[0] + "/report.json";
    const auto read = read_shaped_file(path, shape_for_why());
    if (!read) return complain("sluice-fabric: {}: {}\n", path, read.error()), exit_failed;
    const nlohmann::ordered_json& report = *read;
    if (!arguments.host.empty() && !report["hosts"].contains(arguments.host)) {
        complain("sluice-fabric: there is no host {}\n", in_quotes(arguments.host));
        return exit_configuration;
    }
    const std::string answer = why_text(report["pause_trees"], arguments.host);
    say("{}", answer.empty() ? (arguments.host.empty() ? "nobody" : arguments.host) + " waited for no pause\n"
                             : answer);
    return exit_done;
}

struct Verb {
    std::string_view name;
    int (*run)(const Arguments&);
};
constexpr std::array verbs{Verb{"run", run_verb},       Verb{"check", check_verb},
                           Verb{"draw", draw_topology}, Verb{"why", why},
                           Verb{"sweep", sweep_verb},   Verb{"merge", merge_verb},
                           Verb{"report", report_verb}, Verb{"compare", compare_verb},
                           Verb{"list", list_verb},     Verb{"reference", reference},
                           Verb{"figures", figures},    Verb{"man", man}};

int run_main(int argc, char** argv) {
    if (argc == 2 && argv[1] == std::string_view("--version"))
        return say("sluice-fabric {}\n", SLUICE_VERSION), exit_done;
    const auto arguments = parse_arguments({argv + 1, argv + argc});
    if (!arguments) {
        if (arguments.error().empty()) return say("{}", usage()), exit_done;
        return complain_of_usage("sluice-fabric", arguments.error());
    }
    for (const Verb& verb : verbs)
        if (verb.name == arguments->verb) return verb.run(*arguments);
    return complain_of_usage("sluice-fabric", "there is no command " + in_quotes(arguments->verb));
}

}  // namespace
}  // namespace sluice::fabric

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-fabric", fabric::exit_failed, [&] { return fabric::run_main(argc, argv); });
}
