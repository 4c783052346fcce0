#include "control/config/lint/judge.hh"

#include <algorithm>
#include <utility>

#include "control/config/compile/qos.hh"
#include "control/config/lint/lint_qos.hh"
#include "control/config/lint/lint_start.hh"
#include "control/config/schema/command_words.hh"
#include "control/config/schema/findings.hh"

namespace sluice {

std::vector<Finding> judge_config(const Config& config, const Machine& machine, const Config* good) {
    std::vector<Finding> findings = check_config(config, machine, good);
    const auto add = [&](std::vector<Finding> more) {
        findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                        std::make_move_iterator(more.end()));
    };
    lint::Findings of_events(config);
    for (const EventConfig& event : config.events)
        if (const std::string error = check_command(config, event.command); !error.empty())
            of_events.error("event-command", "event.do", error, "correct the command", event.place);
    add(of_events.take());
    add(lint_qos(config, effective_qos(config)));
    add(lint_start(config, machine));
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return findings;
}

}  // namespace sluice
