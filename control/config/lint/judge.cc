#include "control/config/lint/judge.hh"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "control/config/lint/memory.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/command_words.hh"
#include "control/config/schema/findings.hh"
#include "dataplane/ports/device.hh"

namespace sluice {

namespace lint {
namespace {

void check_frames(const Config& config, Findings& findings) {
    if (config.clock != ClockKind::real_time)
        return;  // its ports are files, whose frames take several buffers
    for (const auto& [name, port] : config.ports)
        if (const auto refused =
                refused_frames(parse_device(port.device), port.device, packet_buffer_bytes(config)))
            findings.error("device-frame", port_path(name, "device"),
                           fmt::format("the device {}", refused->wrong), refused->remedy);
}

void check_tables(const Config& config, bool v6, const std::optional<std::uint32_t>& said,
                  Findings& findings) {
    if (!said) return;
    const std::size_t needed = tables_needed(config, v6);
    if (needed <= *said) return;
    const std::string key = v6 ? "ipv6_tables" : "ipv4_tables";
    findings.error(
        "fib-tables", "fib." + key,
        fmt::format("{} tables for longer prefixes do not hold the configuration's own, which take {}", *said,
                    needed),
        fmt::format("write {} = {}, or leave it out", key, 2 * needed));
}

}  // namespace
}  // namespace lint

std::vector<Finding> lint_start(const Config& config, const Machine& machine) {
    lint::Findings findings(config);
    lint::check_frames(config, findings);
    lint::check_tables(config, false, config.fib.ipv4_tables, findings);
    lint::check_tables(config, true, config.fib.ipv6_tables, findings);
    std::vector<Finding> found = findings.take();
    for (Finding& finding : lint_memory(config, machine)) found.push_back(std::move(finding));
    return found;
}

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
