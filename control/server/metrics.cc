#include "control/server/metrics.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

enum class Kind : std::uint8_t { counter, gauge, seconds_counter, seconds_gauge, celsius_gauge, flag };

// `path` in the report; {label} stands for any key or index, whose text is the label's value.
struct Metric {
    std::string_view path;
    Kind kind;
    std::string_view help;
};

constexpr std::array metrics{
    Metric{"end_ns", Kind::seconds_counter, "Time of the switch's clock."},
    Metric{"verdict.lossless_packets", Kind::counter, "Frames that came while their class was lossless."},
    Metric{"verdict.lost_packets", Kind::counter, "Lossless frames that were dropped, for whatever reason."},
    Metric{"ledger.rx", Kind::counter, "Frames received by all ports."},
    Metric{"ledger.tx", Kind::counter, "Frames sent by all ports."},
    Metric{"ledger.generated", Kind::counter, "Frames that the switch made."},
    Metric{"ledger.punted", Kind::counter, "Frames handed to the control plane."},
    Metric{"ledger.injected", Kind::counter, "Frames of the control plane, sent out of a port."},
    Metric{"ledger.dropped", Kind::counter, "Frames dropped, for whatever reason."},
    Metric{"ledger.consumed", Kind::counter, "MAC control frames taken in."},
    Metric{"ledger.queued", Kind::gauge, "Frames in queues, hand-off and out-batches."},
    Metric{"ports.{port}.rx.packets", Kind::counter, "Frames received."},
    Metric{"ports.{port}.rx.bytes", Kind::counter, "Bytes received, without FCS."},
    Metric{"ports.{port}.tx.packets", Kind::counter, "Frames sent."},
    Metric{"ports.{port}.tx.bytes", Kind::counter, "Bytes sent, without FCS."},
    Metric{"ports.{port}.drops.{reason}", Kind::counter, "Frames that came in here and were dropped."},
    Metric{"ports.{port}.punted.{class}", Kind::counter,
           "Frames that came in here and were handed to the control plane."},
    Metric{"ports.{port}.injected_packets", Kind::counter,
           "Frames of the control plane that were sent here."},
    Metric{"ports.{port}.replied_packets", Kind::counter, "Replies of the switch that were sent here."},
    Metric{"ports.{port}.returned_packets", Kind::counter,
           "Frames that came in here and were kept, until they were routed again or given up."},
    Metric{"ports.{port}.unresolved_waiting_packets", Kind::gauge,
           "Frames that came in here and are kept until their next hop's neighbour is known."},
    Metric{"ports.{port}.inject_lost_packets", Kind::counter,
           "Replies and kept frames for which the way from the control plane was full."},
    Metric{"ports.{port}.tap_refused_packets", Kind::counter,
           "Punted frames that the port's TAP did not take."},
    Metric{"ports.{port}.imissed", Kind::counter, "Frames that the receive ring missed."},
    Metric{"ports.{port}.fell_behind", Kind::counter, "Times the worker fell behind and paused the peer."},
    Metric{"ports.{port}.rx_queues.{queue}.packets", Kind::counter,
           "Frames received by each receive queue of a port that has several."},
    Metric{"ports.{port}.rx_queues.{queue}.bytes", Kind::counter, "Bytes of these frames, without FCS."},
    Metric{"ports.{port}.rx_queues.{queue}.fell_behind", Kind::counter,
           "Times that such a queue, other than the first, paused the peer."},
    Metric{"ports.{port}.flaps", Kind::counter, "Times the link went down."},
    Metric{"ports.{port}.steering.{verdict}", Kind::counter,
           "Frames by what the steering program of an XDP port decided; no_socket counts beside a verdict."},
    Metric{"ports.{port}.link_speed_bps", Kind::gauge, "Speed of the link of a network card; 0: unknown."},
    Metric{"ports.{port}.physical.crc_errors", Kind::counter, "Frames with a bad check sequence."},
    Metric{"ports.{port}.physical.symbol_errors", Kind::counter, "Symbols or bytes that are none."},
    Metric{"ports.{port}.physical.alignment_errors", Kind::counter, "Frames that end within a byte."},
    Metric{"ports.{port}.physical.length_errors", Kind::counter, "Frames of another length than they say."},
    Metric{"ports.{port}.physical.undersize_frames", Kind::counter, "Frames below 64 bytes."},
    Metric{"ports.{port}.physical.oversize_frames", Kind::counter, "Frames above what the card takes."},
    Metric{"ports.{port}.physical.fragments", Kind::counter,
           "Frames below 64 bytes with a bad check sequence."},
    Metric{"ports.{port}.physical.jabbers", Kind::counter, "Oversize frames with a bad check sequence."},
    Metric{"ports.{port}.physical.local_faults", Kind::counter, "Faults of the link found here."},
    Metric{"ports.{port}.physical.remote_faults", Kind::counter, "Faults of the link found by the peer."},
    Metric{"ports.{port}.physical.mac_discards", Kind::counter, "Frames that the card's MAC discarded."},
    Metric{"ports.{port}.physical.no_buffer", Kind::counter, "Frames for which the card had no buffer."},
    Metric{"ports.{port}.physical.rx_pause", Kind::counter, "PAUSE frames that the MAC received."},
    Metric{"ports.{port}.physical.tx_pause", Kind::counter, "PAUSE frames that the MAC sent."},
    Metric{"ports.{port}.physical.rx_pfc.{priority}", Kind::counter, "PFC frames that the MAC received."},
    Metric{"ports.{port}.physical.tx_pfc.{priority}", Kind::counter, "PFC frames that the MAC sent."},
    Metric{"ports.{port}.physical.rx_discards.{priority}", Kind::counter,
           "Frames of the priority that the card's buffer had no room for."},
    Metric{"ports.{port}.physical.module_temperature_mc", Kind::celsius_gauge,
           "Temperature of the pluggable module."},
    Metric{"kernel.routes", Kind::gauge, "Routes of the kernel."},
    Metric{"kernel.routes_elsewhere", Kind::gauge, "Routes of the kernel by no port of the switch."},
    Metric{"kernel.neighbors", Kind::gauge, "Neighbours of the kernel at the ports."},
    Metric{"kernel.refused", Kind::counter, "Changes by the kernel that did not fit the tables."},
    Metric{"kernel.asks", Kind::counter, "Times that the kernel was asked to resolve a packet's neighbour."},
    Metric{"kernel.asks_lost", Kind::counter, "Packets without a neighbour that were too many to ask for."},
    Metric{"kernel.overruns", Kind::counter, "Times that news of the kernel were lost."},
    Metric{"kernel.resyncs", Kind::counter, "Times that the kernel was asked for everything."},
    Metric{"ports.{port}.link_up", Kind::flag, "1: the link is up."},
    Metric{"ports.{port}.roce_packets", Kind::counter, "RoCEv2 packets received."},
    Metric{"ports.{port}.lossy_roce_packets", Kind::counter,
           "RoCEv2 packets received, but for CNPs, in a class that is not lossless."},
    Metric{"ports.{port}.cnp_packets", Kind::counter, "Congestion notification packets received."},
    Metric{"ports.{port}.cnp_sent_packets", Kind::counter, "Congestion notification packets sent."},
    Metric{"ports.{port}.ce_arrived_packets", Kind::counter, "Packets received with CE set."},
    Metric{"ports.{port}.pfc.rx_xoff.{priority}", Kind::counter, "XOFF frames received for the priority."},
    Metric{"ports.{port}.pfc.rx_xon.{priority}", Kind::counter, "XON frames received for the priority."},
    Metric{"ports.{port}.pfc.tx_xoff.{priority}", Kind::counter,
           "XOFF frames sent for the priority, refreshes included."},
    Metric{"ports.{port}.pfc.tx_xon.{priority}", Kind::counter, "XON frames sent for the priority."},
    Metric{"ports.{port}.pfc.tx_refresh.{priority}", Kind::counter, "XOFF frames sent again."},
    Metric{"ports.{port}.pfc.rx_unexpected.{priority}", Kind::counter,
           "Pauses for a priority on which PFC is not enabled."},
    Metric{"ports.{port}.pfc.expired.{priority}", Kind::counter, "Pauses that ended by their time."},
    Metric{"ports.{port}.pfc.rx_paused_ns.{priority}", Kind::seconds_counter,
           "Time the peer held the priority."},
    Metric{"ports.{port}.pfc.tx_paused_ns.{priority}", Kind::seconds_counter, "Time we asserted a pause."},
    Metric{"ports.{port}.pfc.rx_pause_global", Kind::counter, "802.3x PAUSE frames, which are ignored."},
    Metric{"ports.{port}.queues.{queue}.tx_packets", Kind::counter, "Packets sent from the queue."},
    Metric{"ports.{port}.queues.{queue}.tx_bytes", Kind::counter, "Bytes sent from the queue."},
    Metric{"ports.{port}.queues.{queue}.dropped_packets", Kind::counter,
           "Packets that the queue refused or lost."},
    Metric{"ports.{port}.queues.{queue}.wred_dropped_packets", Kind::counter, "Packets dropped by WRED."},
    Metric{"ports.{port}.queues.{queue}.ecn_marked_packets", Kind::counter, "Packets marked CE."},
    Metric{"ports.{port}.queues.{queue}.ect_packets", Kind::counter,
           "Packets sent that came with ECT or CE."},
    Metric{"ports.{port}.queues.{queue}.occupancy_packets", Kind::gauge, "Packets in the queue."},
    Metric{"ports.{port}.queues.{queue}.occupancy_bytes", Kind::gauge,
           "Bytes of the buffer that the queue holds."},
    Metric{"ports.{port}.queues.{queue}.watermark_bytes", Kind::gauge, "Highest shared use since the start."},
    Metric{"ports.{port}.queues.{queue}.latency_ns.{quantile}", Kind::seconds_gauge,
           "Time from enqueue to dequeue since the start."},
    Metric{"ports.{port}.priority_groups.{priority}.packets", Kind::counter,
           "Packets of the priority group."},
    Metric{"ports.{port}.priority_groups.{priority}.dropped_packets", Kind::counter,
           "Packets that the buffer refused."},
    Metric{"ports.{port}.priority_groups.{priority}.headroom_overruns", Kind::counter,
           "Lossless packets lost because headroom was full."},
    Metric{"ports.{port}.priority_groups.{priority}.xoff", Kind::flag, "1: the group has paused its peer."},
    Metric{"ports.{port}.priority_groups.{priority}.xoff_transitions", Kind::counter,
           "Times the group went into XOFF."},
    Metric{"ports.{port}.priority_groups.{priority}.shared_bytes", Kind::gauge, "Shared bytes in use."},
    Metric{"ports.{port}.priority_groups.{priority}.headroom_bytes", Kind::gauge, "Headroom bytes in use."},
    Metric{"ports.{port}.priority_groups.{priority}.headroom_size_bytes", Kind::gauge, "Headroom."},
    Metric{"ports.{port}.priority_groups.{priority}.shared_watermark_bytes", Kind::gauge,
           "Highest shared use since the start."},
    Metric{"ports.{port}.priority_groups.{priority}.headroom_watermark_bytes", Kind::gauge,
           "Highest use of headroom since the start."},
    Metric{"pools.{pool}.size_bytes", Kind::gauge, "Memory of the pool."},
    Metric{"pools.{pool}.used_bytes", Kind::gauge, "Shared bytes in use."},
    Metric{"pools.{pool}.watermark_bytes", Kind::gauge, "Highest shared use since the start."},
    Metric{"pools.{pool}.headroom_size_bytes", Kind::gauge,
           "Headroom of the pool's groups: the sum, or what they share."},
    Metric{"pools.{pool}.headroom_used_bytes", Kind::gauge, "Headroom bytes in use."},
    Metric{"pools.{pool}.headroom_watermark_bytes", Kind::gauge, "Highest use of headroom since the start."},
    Metric{"workers.{worker}.turns", Kind::counter, "Turns of the worker."},
    Metric{"workers.{worker}.busy_turns", Kind::counter, "Turns that found packets."},
    Metric{"workers.{worker}.time_ns", Kind::seconds_counter, "Time of all turns."},
    Metric{"workers.{worker}.busy_ns", Kind::seconds_counter, "Time of turns that found packets."},
    Metric{"workers.{worker}.longest_turn_ns", Kind::seconds_gauge,
           "The longest turn, or sleep between two, since the start."},
    Metric{"workers.{worker}.busy_turn_ns.{quantile}", Kind::seconds_gauge,
           "Length of turns that found packets, since the start."},
    Metric{"workers.{worker}.pauses_obeyed", Kind::counter,
           "Pauses received whose time to be obeyed is known."},
    Metric{"workers.{worker}.pause_obeyed_ns.{quantile}", Kind::seconds_gauge,
           "At most from a pause's arrival to the last frame of its class, to the device."},
    Metric{"workers.{worker}.xoffs_sent", Kind::counter, "XOFFs whose time to be sent is known."},
    Metric{"workers.{worker}.xoff_sent_ns.{quantile}", Kind::seconds_gauge,
           "At most from a group over its limit to the XOFF, to the device."},
    Metric{"workers.{worker}.meter.stages.{stage}.packets", Kind::counter,
           "Packets of the stage, while metered."},
    Metric{"workers.{worker}.meter.stages.{stage}.cycles", Kind::counter,
           "Cycles of the stage, while metered."},
    Metric{"ecmp.{group}.members.{member}.packets", Kind::counter, "Packets that took this member."},
    Metric{"ecmp.{group}.members.{member}.bytes", Kind::counter, "Bytes that took this member."},
};

bool is_label(std::string_view segment) { return segment.starts_with('{'); }

template <class Each>
void for_each_segment(std::string_view path, Each each) {
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        each(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
}

std::string name_of(const Metric& metric) {
    std::string name = "sluice";
    for_each_segment(metric.path, [&](std::string_view segment) {
        if (!is_label(segment)) name.append("_").append(segment);
    });
    if (metric.kind == Kind::seconds_counter || metric.kind == Kind::seconds_gauge)
        name.replace(name.rfind("_ns"), 3, "_seconds");
    if (metric.kind == Kind::celsius_gauge) name.replace(name.rfind("_mc"), 3, "_celsius");
    if (metric.kind == Kind::counter || metric.kind == Kind::seconds_counter) name += "_total";
    return name;
}

std::string_view kind_of(const Metric& metric) {
    return metric.kind == Kind::counter || metric.kind == Kind::seconds_counter ? "counter" : "gauge";
}

std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

std::string value_text(Kind kind, const Json& value) {
    if (kind == Kind::flag) return value.get<bool>() ? "1" : "0";
    if (kind == Kind::celsius_gauge) return fmt::format("{:.3f}", value.get<double>() / 1000);
    const auto number = value.get<std::uint64_t>();
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    if (kind == Kind::seconds_counter || kind == Kind::seconds_gauge)
        return fmt::format("{}.{:09}", number / ns_per_s, number % ns_per_s);
    return fmt::format("{}", number);
}

// What the report calls p999 is the quantile 0.999.
std::string label_value(std::string_view label, std::string_view key) {
    if (label != "quantile") return escaped(key);
    if (key == "p50") return "0.5";
    if (key == "p99") return "0.99";
    return key == "p999" ? "0.999" : "1";
}

// Every value under `node` that `path` reaches, as a line each.
void walk(const Metric& metric, const std::string& name, const Json& node, std::string_view path,
          const std::string& labels, std::string& out) {
    if (path.empty()) {
        if (node.is_number_unsigned() || node.is_number_integer() || node.is_boolean())
            out += fmt::format("{}{} {}\n", name, labels.empty() ? "" : "{" + labels + "}",
                               value_text(metric.kind, node));
        return;
    }
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view segment = path.substr(0, end);
    const std::string_view rest = path.substr(std::min(end + 1, path.size()));
    if (!is_label(segment)) {
        if (const auto found = node.find(std::string(segment)); node.is_object() && found != node.end())
            walk(metric, name, *found, rest, labels, out);
        return;
    }
    const std::string_view label = segment.substr(1, segment.size() - 2);
    const auto one = [&](std::string_view key, const Json& child) {
        walk(metric, name, child, rest,
             fmt::format("{}{}{}=\"{}\"", labels, labels.empty() ? "" : ",", label, label_value(label, key)),
             out);
    };
    if (node.is_object())
        for (const auto& [key, child] : node.items()) one(key, child);
    if (node.is_array())
        for (std::size_t i = 0; i < node.size(); ++i) one(std::to_string(i), node[i]);
}

}  // namespace

std::string metrics_text(const Json& report) {
    std::string out;
    for (const Metric& metric : metrics) {
        const std::string name = name_of(metric);
        out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, metric.help, name, kind_of(metric));
        walk(metric, name, report, metric.path, {}, out);
    }
    const bool lossless = report.contains("lossless") && report["lossless"] == true;
    out += fmt::format(
        "# HELP sluice_lossless 1: no promise of losslessness has been broken.\n# TYPE sluice_lossless "
        "gauge\n"
        "sluice_lossless {}\n",
        lossless ? 1 : 0);
    return out;
}

std::string metrics_reference() {
    std::string out = "# Metrics\n\n| name | kind | labels | meaning |\n|---|---|---|---|\n";
    for (const Metric& metric : metrics) {
        std::string labels;
        for_each_segment(metric.path, [&](std::string_view segment) {
            if (!is_label(segment)) return;
            if (!labels.empty()) labels += ", ";
            labels += segment.substr(1, segment.size() - 2);
        });
        out +=
            fmt::format("| `{}` | {} | {} | {} |\n", name_of(metric), kind_of(metric), labels, metric.help);
    }
    return out + "| `sluice_lossless` | gauge |  | 1: no promise of losslessness has been broken. |\n";
}

}  // namespace sluice
