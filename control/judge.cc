#include "control/judge.hh"

#include <algorithm>

#include "control/commands.hh"
#include "control/qos.hh"

namespace sluice {

std::vector<Finding> judge(const Config& config, const Machine& machine) {
    std::vector<Finding> findings = check_config(config, machine);
    for (const EventConfig& event : config.events) {
        const std::string error = check_command(config, event.command);
        if (error.empty()) continue;
        findings.push_back(
            {Severity::error, "event-command", "event.do", error, "correct the command", event.place});
    }
    for (const QosProblem& problem : effective_qos(config).problems)
        findings.push_back({Severity::error, "buffer", problem.path, problem.wrong, problem.fix,
                            config.source.find(problem.path)});
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return findings;
}

}  // namespace sluice
