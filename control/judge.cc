#include "control/judge.hh"

#include <algorithm>
#include <utility>

#include "control/commands.hh"
#include "control/lint_qos.hh"
#include "control/qos.hh"

namespace sluice {

std::vector<Finding> judge(const Config& config, const Machine& machine, const Config* good) {
    std::vector<Finding> findings = check_config(config, machine, good);
    for (const EventConfig& event : config.events) {
        const std::string error = check_command(config, event.command);
        if (error.empty()) continue;
        findings.push_back(
            {Severity::error, "event-command", "event.do", error, "correct the command", event.place});
    }
    for (Finding& finding : lint_qos(config, effective_qos(config))) findings.push_back(std::move(finding));
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return findings;
}

}  // namespace sluice
