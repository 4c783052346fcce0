#include "control/config/compile/trimming.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/qos_pools.hh"
#include "lib/frame/parse.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

constexpr std::uint64_t bit_of_dscp(unsigned dscp) { return std::uint64_t{1} << dscp; }

// Network control: class selectors 6 and 7 (RFC 4594, 3.1 and 3.2).
constexpr std::uint64_t control_dscps = bit_of_dscp(48) | bit_of_dscp(56);

// DSCP of the packets that are trimmed at this port.
std::optional<std::uint8_t> trimmed_dscp_of(const Config& config, const PortConfig& port) {
    if (port.trim_dscp) return port.trim_dscp;
    return config.trimming.dscp ? config.trimming.dscp : preset_of(port.qos).trim_dscp;
}

std::uint8_t trimming_queues(const PortConfig& port) {
    std::uint8_t queues = preset_of(port.qos).trims;
    for (unsigned n = 0; n < classes; ++n) {
        const auto& on_full = port.queue[n].on_full;
        if (!on_full) continue;
        const auto bit = static_cast<std::uint8_t>(1U << n);
        queues = static_cast<std::uint8_t>(*on_full == OnFull::trim ? queues | bit : queues & ~bit);
    }
    return queues;
}

// DSCPs of packets that may be trimmed: those of the file, but for control and trimmed packets.
std::uint64_t trimmable_dscps(const Config& config, std::uint64_t trimmed, EffectiveQos& qos) {
    const std::uint64_t never = control_dscps | trimmed;
    if (!config.trimming.trimmable_dscp) return ~never;
    std::uint64_t listed = 0;
    for (const std::uint8_t dscp : *config.trimming.trimmable_dscp) {
        listed |= bit_of_dscp(dscp);
        if ((never & bit_of_dscp(dscp)) != 0)
            qos.problems.push_back(
                {{},
                 "trimming.trimmable_dscp",
                 fmt::format(
                     "packets of DSCP {} are {}, which are never trimmed", dscp,
                     (trimmed & bit_of_dscp(dscp)) != 0 ? "trimmed ones" : "network control (RFC 4594)"),
                 fmt::format("leave {} out", dscp),
                 "trim-never"});
    }
    return listed & ~never;
}

void refuse_queues(const std::string& name, const EffectivePort& port, EffectiveQos& qos) {
    for_each_class(port.trim.queues, [&](ClassId n) {
        const PortKey key{"queue", n, "on_full"};
        if (port.queue[n].lossless)
            qos.problems.push_back({name, key,
                                    fmt::format("queue {} is lossless: it refuses nothing that could be "
                                                "trimmed",
                                                n),
                                    "write on_full = \"drop\", or make its classes lossy", "trim-lossless"});
        if (n == port.trim.queue)
            qos.problems.push_back(
                {name, key,
                 fmt::format("queue {} takes the trimmed packets (DSCP {}), and cannot trim them", n,
                             port.trim.dscp),
                 fmt::format("write on_full = \"drop\", or map DSCP {} to the class of another queue",
                             port.trim.dscp),
                 "trim-own-queue"});
    });
}

}  // namespace

bool has_trimming(const Config& config) {
    return std::ranges::any_of(config.ports,
                               [](const auto& port) { return trimming_queues(port.second) != 0; });
}

std::map<std::uint8_t, std::string> trimmed_dscps(const Config& config) {
    std::map<std::uint8_t, std::string> dscps;
    for (const auto& [name, port] : config.ports)
        if (const auto dscp = trimmed_dscp_of(config, port); dscp && trimming_queues(port) != 0)
            dscps.emplace(*dscp, name);
    return dscps;
}

std::optional<QosProblem> too_large_to_trim(const Config& config, const decltype(Config::hosts)& hosts) {
    // Trimmed packets keep fewer bytes than the parser reads, so frames that hosts describe may be cut as
    // well as whole ones.
    constexpr std::uint16_t most = parse_view_bytes;
    if (config.trimming.size_bytes <= most) return std::nullopt;
    const auto describes =
        std::ranges::find_if(hosts, [](const auto& host) { return host.second.describes_payload; });
    if (describes == hosts.end()) return std::nullopt;
    return QosProblem{
        {},
        "trimming.size",
        fmt::format("{} bytes: frames of hosts that describe their payload, as {} does, have {} to keep",
                    config.trimming.size_bytes, describes->first, most),
        fmt::format("write size = {} or less, or set payload = \"carried\" for the hosts", most),
        "trim-described"};
}

void read_trimming(const Config& config, EffectiveQos& qos) {
    if (!has_trimming(config)) return;
    std::uint64_t trimmed = 0;
    for (const auto& [name, port] : config.ports)
        if (const auto dscp = trimmed_dscp_of(config, port)) trimmed |= bit_of_dscp(*dscp);
    const std::uint64_t trimmable = trimmable_dscps(config, trimmed, qos);
    if (auto problem = too_large_to_trim(config, config.hosts)) qos.problems.push_back(std::move(*problem));
    for (auto& [name, port] : qos.ports) {
        const PortConfig& said = config.ports.at(name);
        const std::uint8_t queues = trimming_queues(said);
        if (queues == 0) continue;
        const auto dscp = trimmed_dscp_of(config, said);
        if (!dscp) {
            qos.problems.push_back({{},
                                    "trimming.dscp",
                                    "queues trim, and trimmed packets have no DSCP",
                                    "write dscp = 11, or another that no other packet has",
                                    "trim-dscp",
                                    name});
            return;
        }
        TrimPolicy& rule = port.trim;
        rule.trimmable = trimmable;
        rule.bytes = config.trimming.size_bytes;
        rule.queues = queues;
        rule.dscp = *dscp;
        rule.traffic_class = port.map.dscp_to_tc[*dscp];
        rule.queue = config.trimming.queue.value_or(port.map.tc_to_queue[rule.traffic_class]);
        refuse_queues(name, port, qos);
    }
}

}  // namespace sluice
