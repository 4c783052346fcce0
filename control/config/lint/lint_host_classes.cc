// Classes of simulated hosts' packets as they arrive (data: lossless; CNPs: not delayed), and of a mirror's
// packets to its collector (lossy).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/compile/hosts.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

std::string host_cnp_remedy(const PortConfig& said, const EffectivePort& port) {
    const bool usual_is_good = cnp_delay(port, class_at(said, port, usual_cnp)).words.empty();
    return "write " + (usual_is_good ? fmt::format("cnp_dscp = {}, or ", usual_cnp.dscp) : std::string()) +
           cnp_remedy(port, "the map of its port");
}

void check_cnps(const std::string& name, const HostConfig& host, const PortConfig& said,
                const EffectivePort& port, Findings& findings) {
    const std::string delay = host_cnp_delay(said, port, host.cnp_dscp);
    if (delay.empty()) return;
    const ClassId tc = class_at(said, port, {host.cnp_dscp, {}, true});
    findings.warn("host-cnp-class", host_path(name, "cnp_dscp"),
                  fmt::format("its CNPs arrive in class {}, whose queue {} {}: congestion is told of late",
                              tc, port.map.tc_to_queue[tc], delay),
                  host_cnp_remedy(said, port));
}

void check_data(const std::string& name, const std::set<PacketLabel>& labels, const PortConfig& said,
                const EffectivePort& port, Findings& findings) {
    if (port.lossless == 0) return;
    for (const PacketLabel& label : labels) {
        const ClassId tc = class_at(said, port, label);
        if (port.group[port.map.tc_to_priority_group[tc]].lossless) continue;
        findings.warn(
            "host-data-class", host_path(name, "dscp"),
            fmt::format("its RoCE packets of DSCP {} arrive in class {}, which is lossy at its port: "
                        "no PFC protects them",
                        label.dscp, tc),
            "write a dscp of a lossless class, or roce_tc in the map of its port");
    }
}

// A queue that marks cannot signal a Not-ECT sender: it drops its packets, or passes them.
void check_ecn(const Config& config, const EffectiveQos& qos, const std::string& name, const HostConfig& host,
               Findings& findings) {
    if (host.ecn != Ecn::not_ect) return;
    for (const FlowConfig& flow : config.flows) {
        if (std::ranges::find(flow.senders(), name) == flow.senders().end()) continue;
        for (const std::string& receiver : flow.receivers()) {
            const auto to = config.hosts.find(receiver);
            const auto out = to == config.hosts.end() ? qos.ports.end() : qos.ports.find(to->second.port);
            const auto in = qos.ports.find(host.port);
            if (out == qos.ports.end()) continue;
            const ClassId tc = class_at(config.ports.at(host.port), in->second, data_label(flow, host));
            const unsigned queue = out->second.map.tc_to_queue[tc];
            if (!out->second.wred_profile[queue]) continue;
            return findings.warn(
                "host-not-ect", host_path(name, "ecn"),
                fmt::format("it sends Not-ECT RoCEv2 into queue {}, which {} marks: it never hears of "
                            "congestion",
                            queue, in_quotes(out->second.wred[queue])),
                "write ecn = \"ect0\"");
        }
    }
}

// The labels of the data that it sends; a READ's data is sent by the host that is read from.
std::set<PacketLabel> labels_of(const Config& config, const std::string& name, const HostConfig& host) {
    std::set<PacketLabel> labels;
    for (const FlowConfig& flow : config.flows)
        if (std::ranges::find(flow.senders(), name) != flow.senders().end())
            labels.insert(data_label(flow, host));
    return labels;
}

}  // namespace

ClassId class_at(const PortConfig& said, const EffectivePort& port, const PacketLabel& label) {
    return class_of(class_map(port.map, said), label);
}

std::string host_cnp_delay(const PortConfig& said, const EffectivePort& port, unsigned cnp_dscp) {
    const ClassId tc = class_at(said, port, {cnp_dscp, {}, true});
    if (tc == class_at(said, port, usual_cnp)) return {};  // `cnp-queue` judges it
    return cnp_delay(port, tc).words;
}

void check_host_classes(const Config& config, const EffectiveQos& qos, Findings& findings) {
    for (const auto& [name, host] : config.hosts) {
        const auto port = qos.ports.find(host.port);
        if (port == qos.ports.end()) continue;
        const PortConfig& said = config.ports.at(host.port);
        check_cnps(name, host, said, port->second, findings);
        check_ecn(config, qos, name, host, findings);
        check_data(name, labels_of(config, name, host), said, port->second, findings);
    }
}

// Packets may leave for the collector by any port: reports the first that has their class lossless.
void check_mirror_classes(const Config& config, const EffectiveQos& qos, Findings& findings) {
    for (const auto& [name, mirror] : config.mirrors) {
        if (!mirror.collector) continue;
        const auto wrong = std::ranges::find_if(qos.ports, [&](const auto& entry) {
            const auto& [port, effective] = entry;
            const ClassId tc = class_at(config.ports.at(port), effective, {mirror.dscp});
            return effective.group[effective.map.tc_to_priority_group[tc]].lossless ||
                   effective.queue[effective.map.tc_to_queue[tc]].lossless;
        });
        if (wrong == qos.ports.end()) continue;
        findings.warn(
            "mirror-class", mirror_path(name, "dscp"),
            fmt::format("DSCP {} leads to class {} at port {}, which is lossless there: its packets "
                        "go in the first lossy class",
                        mirror.dscp, class_at(config.ports.at(wrong->first), wrong->second, {mirror.dscp}),
                        in_quotes(wrong->first)),
            "write a dscp of a lossy class, like 8");
    }
}

}  // namespace sluice::lint
