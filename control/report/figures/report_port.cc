#include "control/report/figures/report_port.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/config/compile/compile.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/port_warnings.hh"
#include "control/report/figures/quantiles.hh"
#include "control/report/figures/report_nic.hh"
#include "dataplane/path/port_trace.hh"
#include "dataplane/peers/fault_port.hh"
#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device_port.hh"
#include "dataplane/ports/port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/ports/receive_queue.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/egress_queue_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/pfc/pfc_generator.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/queue/packet_queue.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json traffic(const Traffic& counters) {
    return {{"packets", counters.packets.get()}, {"bytes", counters.bytes.get()}};
}

// By reason, those that are not zero.
Json drops_json(auto counted) {
    Json drops = Json::object();
    for (std::size_t i = 1; i < drop_reason_count; ++i) {
        const auto reason = static_cast<DropReason>(i);
        if (const std::uint64_t count = counted(reason); count != 0) drops[to_string(reason)] = count;
    }
    return drops;
}

// Cells as bytes.
struct Cells {
    std::uint64_t bytes_each;
    std::uint64_t operator()(std::uint64_t cells) const { return cells * bytes_each; }
};

// The effects of WRED and ECN, by color.
Json colors_json(const QueueCounters& counters) {
    Json json = Json::object();
    constexpr std::array<const char*, colors> names{"green", "yellow", "red"};
    for (unsigned n = 0; n < colors; ++n) {
        const auto color = static_cast<Color>(n);
        const auto taken = counters.taken_if([&](EcnBits bits) { return bits.color() == color; });
        const auto marked = counters.marked[n].get();
        json[names[n]] = {{"passed_packets", taken - marked},
                          {"marked_packets", marked},
                          {"dropped_packets", counters.wred_dropped[n].get()},
                          {"ce_arrived_packets", counters.taken_if([&](EcnBits bits) {
                               return bits.color() == color && bits.ecn() == Ecn::ce;
                           })}};
    }
    return json;
}

std::uint64_t sum(const std::array<Counter, colors>& counters) {
    std::uint64_t all = 0;
    for (const Counter& counter : counters) all += counter.get();
    return all;
}

Json queue_json(const RunningSwitch& running, PortView port, ClassId n, Cells bytes) {
    const QueueCounters& counters = port.counters().queue[n];
    const EgressQueueUse& use = port.use(n);
    Json json = {
        {"tx_packets", counters.tx.packets.get()},
        {"tx_bytes", counters.tx.bytes.get()},
        {"dropped_packets", counters.dropped.get()},
        {"wred_dropped_packets", sum(counters.wred_dropped)},
        {"ecn_marked_packets", sum(counters.marked)},
        {"ect_packets", counters.taken_if([](EcnBits bits) { return bits.ecn() != Ecn::not_ect; })},
        {"non_ect_packets", counters.taken_if([](EcnBits bits) { return bits.ecn() == Ecn::not_ect; })},
        {"colours", colors_json(counters)},
        {"occupancy_packets", port.packets(n).packets()},
        {"occupancy_bytes", bytes(use.used_cells())},
        {"watermark_bytes", bytes(use.shared_watermark.persistent.get())},
        {"user_watermark_bytes", bytes(use.shared_watermark.user.get())},
        {"deepest_bytes", bytes(use.deepest_cells())},
        {"user_deepest_bytes", bytes(use.user_deepest_cells())},
        {"latency_ns", quantiles_json(counters.latency)}};
    const PortSchedule& schedule = running.device().policy().ports[port.id()].schedule;
    if (schedule.queue[n].max_rate != Rate{}) json["burst_bytes"] = burst_bytes_of_queue(schedule, n);
    // Under the virtual clock time begins with the run.
    if (port.trace() != nullptr && running.config().clock == ClockKind::virtual_time) {
        const DepthTrace::Moments depth = port.trace()->queue[n].moments(running.now());
        const auto as_bytes = [&](double cells) {
            return static_cast<std::uint64_t>(std::llround(cells * static_cast<double>(bytes.bytes_each)));
        };
        json["mean_bytes"] = as_bytes(depth.mean);
        json["deviation_bytes"] = as_bytes(depth.deviation);
    }
    return json;
}

Json group_json(const RunningSwitch& running, PortView port, ClassId n, Cells bytes) {
    const GroupLimits& limits = running.device().policy().ports[port.id()].group[n];
    const GroupCounters& counters = port.counters().group[n];
    const PriorityGroup& group = port.group(n);
    Json json = {
        {"packets", port.received([n](const auto& queue) { return queue.group_rx[n].packets.get(); })},
        {"bytes", port.received([n](const auto& queue) { return queue.group_rx[n].bytes.get(); })},
        {"dropped_packets", counters.dropped.get()},
        {"headroom_overruns", counters.headroom_overruns.get()},
        {"xoff", group.in_xoff()},
        {"xoff_transitions", counters.xoff.get()},
        {"lossless", running.qos().ports.at(running.port_names()[port.id()]).group[n].lossless},
        {"state", class_state(limits)},
        {"reserved_bytes", bytes(group.reserved_cells())},
        {"shared_bytes", bytes(group.shared_cells())},
        {"headroom_bytes", bytes(group.headroom_cells())},
        {"headroom_size_bytes", bytes(limits.headroom_cells)},
        {"shared_watermark_bytes", bytes(group.shared_watermark.persistent.get())},
        {"user_shared_watermark_bytes", bytes(group.shared_watermark.user.get())},
        {"headroom_watermark_bytes", bytes(group.headroom_watermark.persistent.get())},
        {"user_headroom_watermark_bytes", bytes(group.headroom_watermark.user.get())}};
    add_class_wait(json, running, port.id(), n);
    return json;
}

// `now`: the owner's view, pauses that run included; nothing while workers run: as they settled last.
Json pfc_json(PortView port, std::optional<Time> now) {
    Json json;
    const auto list = [&](const char* key, auto figure) {
        Json values = Json::array();
        for (unsigned n = 0; n < classes; ++n) values.push_back(figure(static_cast<ClassId>(n)));
        json[key] = std::move(values);
    };
    const PfcHonor& honor = port.honor();
    const PfcGenerator& generator = port.generator();
    list("rx_xoff", [&](ClassId n) { return honor.counters(n).rx_xoff.get(); });
    list("rx_xon", [&](ClassId n) { return honor.counters(n).rx_xon.get(); });
    list("tx_xoff", [&](ClassId n) { return generator.counters(n).tx_xoff.get(); });
    list("tx_xon", [&](ClassId n) { return generator.counters(n).tx_xon.get(); });
    list("tx_refresh", [&](ClassId n) { return generator.counters(n).tx_refresh.get(); });
    list("tx_late", [&](ClassId n) { return generator.counters(n).tx_late.get(); });
    list("rx_unexpected", [&](ClassId n) { return honor.counters(n).rx_unexpected.get(); });
    list("expired", [&](ClassId n) { return honor.counters(n).expired.get(); });
    list("rx_paused_ns", [&](ClassId n) {
        return now ? honor.paused_time(n, *now).ps / 1000
                   : static_cast<std::int64_t>(honor.counters(n).paused_ps.get() / 1000);
    });
    list("tx_paused_ns", [&](ClassId n) {
        return now ? generator.asserted_time(n, *now).ps / 1000
                   : static_cast<std::int64_t>(generator.counters(n).asserted_ps.get() / 1000);
    });
    json["rx_pause_global"] = port.counters().pfc.rx_pause_global.get();
    json["rx_unknown"] = port.counters().pfc.rx_unknown.get();
    return json;
}

Json faults_json(const FaultPort& port) {
    const FaultCounters& faults = port.faults();
    return {{"dropped", faults.dropped},
            {"bad_fcs", faults.bad_fcs},
            {"corrupted", faults.corrupted},
            {"duplicated", faults.duplicated},
            {"delayed", faults.delayed},
            {"cut", faults.cut},
            {"tx_dropped", faults.tx_dropped},
            {"tx_bad_fcs", faults.tx_bad_fcs},
            {"tx_corrupted", faults.tx_corrupted},
            {"tx_duplicated", faults.tx_duplicated},
            {"tx_delayed", faults.tx_delayed},
            {"tx_cut", faults.tx_cut},
            {"pfc_lost", faults.pfc_lost},
            {"pfc_duplicated", faults.pfc_duplicated},
            {"pfc_delayed", faults.pfc_delayed},
            {"pfc_changed", faults.pfc_changed},
            {"storm_xoff", faults.storm_xoff},
            {"stuck_xoff", faults.stuck_xoff},
            {"slow_xoff", faults.slow_xoff},
            {"slow_xon", faults.slow_xon},
            {"overshot_bytes", port.account().overshot_bytes}};
}

// Averaged over the run; whole packets.
std::uint64_t per_second(std::uint64_t packets, Time run) {
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    const std::uint64_t ns = run.ps / 1000;
    return ns == 0 ? 0
                   : static_cast<std::uint64_t>(static_cast<double>(packets) * ns_per_s /
                                                static_cast<double>(ns));
}

// Frames by the decision of an XDP port's steering program.
Json steering_json(const Steering& steering) {
    Json json = Json::object();
    const auto counters = steering.counters();
    for (std::size_t n = 0; n < counters.size(); ++n) json[steer_catalogue[n].name] = counters[n];
    return json;
}

// The sender of the port's PFC frames.
std::string_view pfc_tx_text(const RunningSwitch& running, PortId id) {
    if (const DevicePort* device = running.device_port(id);
        device != nullptr && device->capabilities().pfc.tx != PfcTx::software)
        return to_string(device->capabilities().pfc.tx);
    return running.qos().ports.at(running.port_names()[id]).masks.may_send != 0 ? "software" : "none";
}

// The frames that control received from a port and sent by it; only where it does.
void add_slow_path(Json& json, const PortCounters& counters, bool punts, const SlowPath& slow_path,
                   PortId id) {
    Json punted = Json::object();
    for (std::size_t n = 0; n < punt_class_count; ++n) {
        const std::uint64_t count = counters.punted[n].get();
        punts |= count != 0;
        punted[std::string(punt_class_texts[n].name)] = count;
    }
    if (counters.mirrored.get() != 0) json["mirrored_packets"] = counters.mirrored.get();
    if (!punts && counters.injected.get() + counters.returned.get() == 0) return;
    json["punted"] = std::move(punted);
    json["injected_packets"] = counters.injected.get();
    json["replied_packets"] = counters.replied.get();
    json["returned_packets"] = counters.returned.get();
    json["unresolved_waiting_packets"] = slow_path.waiting(id);
    json["inject_lost_packets"] = slow_path.account(id).lost;
    if (slow_path.tap(id) != nullptr) json["tap_refused_packets"] = slow_path.account(id).refused;
}

// By receive queue, where there are several; the port's worker polls the first.
Json receive_queues_json(PortView port, WorkerId owner) {
    Json list = Json::array();
    list.push_back({{"worker", owner},
                    {"packets", port.counters().rx.packets.get()},
                    {"bytes", port.counters().rx.bytes.get()}});
    for (unsigned n = 1; n < port.receive_queues(); ++n) {
        const ReceiveQueue& queue = port.more_receive_queue(n);
        list.push_back({{"worker", queue.poller},
                        {"packets", queue.counters.rx.packets.get()},
                        {"bytes", queue.counters.rx.bytes.get()},
                        {"fell_behind", queue.behind.get()}});
    }
    return list;
}

}  // namespace

std::uint8_t ignored_pauses(const RunningSwitch& running, PortId id) {
    const Config& config = running.config();
    const PortConfig& port = config.ports.at(running.port_names()[id]);
    const bool promised = has_our_sender(config, port) && port.peer == PeerKind::ignore;
    return promised ? 0xFF : running.deaf_peers().deaf(id);
}

std::string pfc_peer_text(const RunningSwitch& running, PortId id) {
    if (ignored_pauses(running, id) != 0) return "ignores";
    const Config& config = running.config();
    const PortConfig& port = config.ports.at(running.port_names()[id]);
    // Under the real clock it obeys when it is told to, under the virtual one unless it is not.
    const bool is_promise = running.is_virtual() || port.peer;
    return has_our_sender(config, port) && is_promise ? "obeys" : "unknown";
}

void add_class_wait(Json& json, const RunningSwitch& running, PortId port, ClassId priority) {
    const auto since = running.class_changes().since(port, priority);
    if (!since) return;
    json["changing_since_ns"] = since->ps / 1000;
    json["waiting_cells"] = running.pending_cells();
    json["waiting_queue"] = nullptr;
    if (const auto queue = running.awaited_queue())
        json["waiting_queue"] = fmt::format("{}.{}", running.port_names()[queue->port], queue->queue);
}

Json port_json(RunningSwitch& running, PortId id) {
    Switch& device = running.device();
    const PortView port = device.view(id);
    const PortCounters& counters = port.counters();
    const Cells bytes{running.config().cell_bytes};
    Json json;
    make_room(json, 48);
    json["mac"] = print_mac(running.macs()[id]);
    json["rx"] = {{"packets", port.received([](const auto& queue) { return queue.rx.packets.get(); })},
                  {"bytes", port.received([](const auto& queue) { return queue.rx.bytes.get(); })}};
    json["tx"] = traffic(counters.tx);
    json["drops"] = drops_json([&](DropReason reason) { return device.dropped(id, reason); });
    json["lossless_drops"] =
        drops_json([&](DropReason reason) { return device.dropped_lossless(id, reason); });
    add_slow_path(json, counters, device.policy().ports[id].punts, running.slow_path(), id);
    const PortAccount account = port.io().account();
    json["moved_packets"] = account.moved;
    json["held_packets"] = account.delayed;
    json["waiting_packets"] = account.waiting;
    if (!running.is_virtual()) json["held_ns"] = account.paused_time.ps / 1000;
    json["lost_on_wire_packets"] = counters.lost_on_wire.get();
    const std::uint64_t cnps = port.received([](const auto& queue) { return queue.cnp.get(); });
    const std::uint64_t ce = port.received([](const auto& queue) { return queue.ce_arrived.get(); });
    json["roce_packets"] = port.received([](const auto& queue) { return queue.roce.get(); });
    json["lossy_roce_packets"] = port.received([](const auto& queue) { return queue.lossy_roce.get(); });
    json["cnp_packets"] = cnps;
    json["cnp_per_s"] = per_second(cnps, running.now());
    json["cnp_sent_packets"] = counters.cnp_latency.count();
    json["cnp_latency_ns"] = quantiles_json(counters.cnp_latency);
    json["ce_arrived_packets"] = ce;
    json["ce_arrived_per_s"] = per_second(ce, running.now());
    json["missed_packets"] = account.all_missed();
    json["imissed"] = account.missed;
    json["rx_errors"] = account.rx_errors;
    json["fell_behind"] = counters.behind.get();
    json["warnings"] = port_warnings(running, id);
    if (port.receive_queues() > 1) {
        json["rx_queues"] = receive_queues_json(port, device.owner_of(id));
        if (const DevicePort* of = running.device_port(id))
            for (std::uint16_t n = 0; n < port.receive_queues(); ++n)
                json["rx_queues"][n]["rx_errors"] = of->rx_errors_at(n);
    }
    if (const PortSchedule& schedule = device.policy().ports[id].schedule; schedule.shaper != Rate{})
        json["shaper_burst_bytes"] = burst_bytes_of_shaper(schedule);
    json["flaps"] = counters.flaps.get();
    json["link_up"] = device.link_up(id);
    json["link_since_ns"] = running.links().since(id).ps / 1000;
    if (const LinkCause cause = running.links().cause(id); cause != LinkCause::none)
        json["link_down_cause"] = to_string(cause);
    json["pfc_tx"] = pfc_tx_text(running, id);
    json["pfc_peer"] = pfc_peer_text(running, id);
    if (const DevicePort* device_of = running.device_port(id)) {
        if (!device_of->interface_name().empty()) {
            json["uncut_packets"] = account.uncut;
            json["beyond_mtu_packets"] = account.beyond_mtu;
            json["beyond_mtu_in_packets"] = account.beyond_mtu_in;
            json["refused_packets"] = account.refused;
        }
        json["link_speed_bps"] = std::uint64_t{device_of->link_mbps()} * 1'000'000;
        json["capabilities"] = capabilities_json(device_of->capabilities());
        if (device_of->capabilities().whole_mtu != 0)
            json["capabilities"]["scattered_seen"] = device_of->has_segmented();
        if (!device_of->physical().empty()) json["physical"] = physical_json(device_of->physical());
        if (const Steering* steering = device_of->steering()) json["steering"] = steering_json(*steering);
    }
    if (const FaultPort* faults = running.fault_port(id)) json["faults"] = faults_json(*faults);
    json["pfc"] = pfc_json(port, running.is_live() ? std::nullopt : std::optional(running.now()));
    json["queues"] = Json::array();
    json["priority_groups"] = Json::array();
    for (ClassId n = 0; n < classes; ++n) {
        json["queues"].push_back(queue_json(running, port, n, bytes));
        json["priority_groups"].push_back(group_json(running, port, n, bytes));
    }
    return json;
}

}  // namespace sluice
