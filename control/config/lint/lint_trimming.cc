// Packet trimming: trimmed packets need a class of their own at every hop, and senders that know them.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/hosts.hh"
#include "control/config/compile/trimming.hh"
#include "control/config/lint/lint_parts.hh"

namespace sluice::lint {
namespace {

bool trims(const EffectivePort& port, unsigned queue) { return (port.trim.queues >> queue & 1U) != 0; }

// Packets that were trimmed elsewhere come in here: nothing may pause them, or trim them again.
void check_trimmed_class(const std::string& name, const EffectivePort& port, std::uint8_t dscp,
                         const std::string& trimmed_at, Findings& findings) {
    const ClassId tc = port.map.dscp_to_tc[dscp];
    const unsigned queue = port.map.tc_to_queue[tc];
    const auto report = [&](std::string_view what) {
        findings.error(
            "trim-class", port_path(name, "map"),
            fmt::format("packets trimmed at {} (DSCP {}) are of class {} here: {}", trimmed_at, dscp, tc,
                        what),
            fmt::format("map DSCP {} to a class of its own, which is lossy and not trimmed", dscp));
    };
    if (port.group[port.map.tc_to_priority_group[tc]].lossless || port.queue[queue].lossless)
        report("it is lossless, and is paused behind the congestion that they tell of");
    else if (trims(port, queue) && (name != trimmed_at || queue != port.trim.queue))
        report(fmt::format("queue {} trims", queue));
}

void check_roce_class(const std::string& name, const EffectivePort& port, Findings& findings) {
    if (port.map.roce_tc)
        findings.error("trim-roce-tc", port_path(name, "map"),
                       fmt::format("roce_tc gives every RoCEv2 packet class {}, whatever its DSCP: trimmed "
                                   "packets of another hop are with the data again",
                                   *port.map.roce_tc),
                       "leave roce_tc out, and give the data's DSCP its class in dscp_to_tc");
}

void check_taking_queue(const Config& config, const EffectiveQos& qos, Findings& findings) {
    const auto lossless = std::ranges::find_if(qos.ports, [](const auto& port) {
        return port.second.trim.queues != 0 && port.second.queue[port.second.trim.queue].lossless;
    });
    if (lossless != qos.ports.end() && config.trimming.queue)
        findings.error("trim-class", "trimming.queue",
                       fmt::format("queue {} of {} is lossless: trimmed packets wait while it is paused",
                                   *config.trimming.queue, lossless->first),
                       "name a lossy queue");
}

// Headers of a RoCEv2 packet: Ethernet with a tag 18, IP 20 or 40, UDP 8, BTH 12, RETH 16.
void check_trim_size(const Config& config, Findings& findings) {
    constexpr std::uint16_t of_ipv4 = 74, of_ipv6 = 94;
    const bool v6 = std::ranges::any_of(config.ports, [](const auto& port) {
        return std::ranges::any_of(port.second.address,
                                   [](const IpPrefix& each) { return each.address.is_v6; });
    });
    const std::uint16_t least = v6 ? of_ipv6 : of_ipv4;
    if (config.trimming.size_bytes < least)
        findings.warn("trim-size", "trimming.size",
                      fmt::format("{} bytes are fewer than the {} of a RoCEv2 packet's headers over IPv{}",
                                  config.trimming.size_bytes, least, v6 ? 6 : 4),
                      fmt::format("write size = {} or more", least));
}

bool is_trimmed_somewhere(const EffectiveQos& qos, ClassId tc) {
    return std::ranges::any_of(
        qos.ports, [&](const auto& port) { return trims(port.second, port.second.map.tc_to_queue[tc]); });
}

void check_acknowledgements(const Config& config, const EffectiveQos& qos, Findings& findings) {
    for (const auto& [name, host] : config.hosts) {
        const auto port = qos.ports.find(host.port);
        if (port == qos.ports.end()) continue;
        const PacketLabel label{ack_dscp(host), host.pcp};
        const ClassId tc = class_at(config.ports.at(host.port), port->second, label);
        if (is_trimmed_somewhere(qos, tc))
            findings.warn("trim-acks", host_path(name, "ack_dscp"),
                          fmt::format("acknowledgements are of class {}, whose queues trim: they wait behind "
                                      "data, and are trimmed with it",
                                      tc),
                          fmt::format("write ack_dscp = {}", host.cnp_dscp));
    }
}

// TCP, VXLAN and all others that know no trimmed packets have DSCP 0 unless they are told another.
void check_other_traffic(const std::string& name, const EffectivePort& port, Findings& findings) {
    const ClassId tc = port.map.dscp_to_tc[0];
    const unsigned queue = port.map.tc_to_queue[tc];
    if (!trims(port, queue) || (port.trim.trimmable & 1U) == 0) return;
    findings.warn("trim-other-traffic", port_path(name, fmt::format("queue.{}.on_full", queue)),
                  fmt::format("queue {} takes DSCP 0, and so TCP and VXLAN: a receiver takes their trimmed "
                              "packets for damaged ones",
                              queue),
                  "name the DSCPs of RoCE in trimming.trimmable_dscp, or map DSCP 0 to another queue");
}

// A packet that its group refuses is dropped, not trimmed.
void check_group_limit(const std::string& name, const EffectivePort& port, const EffectiveQos& qos,
                       Findings& findings) {
    for (unsigned tc = 0; tc < classes; ++tc) {
        const unsigned n = port.map.tc_to_priority_group[tc];
        const GroupLimits& group = port.group[n];
        if (group.lossless) continue;
        const std::uint64_t of_group =
            group.reserved_cells +
            equal_limit_cells(group.threshold, qos.pool(PoolDirection::ingress, group.pool), 1);
        for (const auto& [to, egress] : qos.ports) {
            const unsigned queue = egress.map.tc_to_queue[tc];
            const QueueLimits& limits = egress.queue[queue];
            if (!trims(egress, queue) ||
                std::ranges::find(port.map.dscp_to_tc, tc) == port.map.dscp_to_tc.end())
                continue;
            const std::uint64_t of_queue =
                limits.reserved_cells +
                equal_limit_cells(limits.threshold, qos.pool(PoolDirection::egress, limits.pool), 1);
            if (of_group >= of_queue) continue;
            findings.warn(
                "trim-group-limit", port_path(name, fmt::format("priority_group.{}", n)),
                fmt::format(
                    "the group drops from {} bytes on, and queue {} of class {} trims from {} on: one "
                    "sender's packets are dropped first",
                    of_group * qos.cell.bytes(), queue, tc, of_queue * qos.cell.bytes()),
                "raise the group's dynamic_th or static_th, or lower the queue's");
            break;
        }
    }
}

}  // namespace

void check_trimmed_classes(const EffectiveQos& qos, const std::map<std::uint8_t, std::string>& trimmed_at,
                           Findings& findings) {
    for (const auto& [name, port] : qos.ports) {
        for (const auto& [dscp, place] : trimmed_at) check_trimmed_class(name, port, dscp, place, findings);
        check_roce_class(name, port, findings);
    }
}

void check_trimming(const Config& config, const EffectiveQos& qos, Findings& findings) {
    if (!has_trimming(config)) return;
    check_trim_size(config, findings);
    check_taking_queue(config, qos, findings);
    check_trimmed_classes(qos, trimmed_dscps(config), findings);
    for (const auto& [name, port] : qos.ports) {
        check_other_traffic(name, port, findings);
        check_group_limit(name, port, qos, findings);
    }
    check_acknowledgements(config, qos, findings);
}

}  // namespace sluice::lint
