#include "control/config/lint/lint_start.hh"

#include <fmt/format.h>

#include "control/config/lint/memory.hh"
#include "control/config/routes/routes.hh"
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
                           fmt::format("the device {}", refused->wrong), refused->remedy, port.place);
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

}  // namespace sluice
