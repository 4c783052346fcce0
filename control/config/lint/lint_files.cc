// Finds files that are written twice, or read and written, and settings of [decisions] that cannot work.
#include <fmt/format.h>

#include <set>

#include "control/config/lint/lint.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/config/schema/values.hh"
#include "dataplane/ports/device.hh"
#include "lib/buffer/fill_board.hh"

namespace sluice {

FileRoles configured_files(const Config& config) {
    FileRoles roles;
    for (const auto& [name, port] : config.ports) {
        const std::string key = lint::port_path(name, "device");
        const DeviceText device = parse_device(port.device);
        for (const std::string& file : device.rx_pcaps) roles.reads(key, file);
        roles.writes(key, device.tx_pcap);
    }
    roles.writes("decisions.file", config.decisions.file);
    for (const auto& [name, mirror] : config.mirrors) {
        const std::string key = lint::mirror_path(name, mirror.file.empty() ? "fifo" : "file");
        roles.writes(key, mirror.path());
        if (!mirror.file.empty()) roles.writes(key, mirror.file + ".1");  // when it is full
    }
    return roles;
}

namespace lint {

void check_files(const Config& config, Findings& findings) {
    std::set<std::pair<std::string, std::string>> told;  // each of a mirror's two files may meet another's
    for (const FileRoles::Clash& each : configured_files(config).clashes()) {
        const bool twice = each.other_is_written;
        const std::string& at = (twice ? each.written : each.other).what;
        const FileRoles::Role& writer = twice ? each.other : each.written;
        if (!told.emplace(at, writer.what).second) continue;
        findings.error(twice ? FindingId("file-written-twice") : FindingId("file-read-and-written"), at,
                       fmt::format("{} writes {} {}", writer.what, in_quotes(writer.path),
                                   twice ? "too" : "in the same run"),
                       twice ? "give each a file of its own" : "read another file");
    }
}

void check_decisions(const Config& config, Findings& findings) {
    const DecisionsConfig& decisions = config.decisions;
    check_ports_named(config, decisions.ports, "decisions-port", "decisions.port", findings);
    check_ports_named(config, decisions.egress, "decisions-port", "decisions.egress", findings);
    if (record_mode(config) == RecordMode::off) {
        if (!decisions.file.empty())
            findings.note("decisions-off", "decisions.file", "records are switched off: the file stays empty",
                          "leave record out, or write record = \"on\"");
        return;
    }
    constexpr std::uint64_t large_bytes = 1'000'000'000;
    const std::uint64_t bytes =
        decision_ring(config) * sizeof(DecisionEvent) * config.workers +
        FillBoard::entries(static_cast<unsigned>(config.ports.size())) * 2 * sizeof(Counter);
    if (bytes > large_bytes)
        findings.warn("decisions-memory", "decisions.ring",
                      fmt::format("decision records take {} for {} workers and {} ports", print_size(bytes),
                                  config.workers, config.ports.size()),
                      "write a smaller ring");
}

}  // namespace lint
}  // namespace sluice
