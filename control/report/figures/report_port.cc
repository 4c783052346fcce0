#include "control/report/figures/report_port.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/config/compile/compile.hh"
#include "control/config/compile/trimming.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/report_rows.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/path/port_trace.hh"
#include "dataplane/peers/fault_port.hh"
#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device_port.hh"
#include "dataplane/ports/port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/ports/receive_queue.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/pfc/pfc_generator.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/queue/packet_queue.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

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
    std::uint64_t rounded(double cells) const {
        return static_cast<std::uint64_t>(std::llround(cells * static_cast<double>(bytes_each)));
    }
};

struct ColorSource {
    const QueueCounters& counters;
    unsigned n;
    std::uint64_t passed() const {
        return counters.taken_if([&](EcnBits bits) { return bits.color() == static_cast<Color>(n); }) -
               counters.marked[n].get();
    }
    std::uint64_t ce_arrived() const {
        return counters.taken_if(
            [&](EcnBits bits) { return bits.color() == static_cast<Color>(n) && bits.ecn() == Ecn::ce; });
    }
};

FIGURE_ROWS(color_rows, ColorSource, "ports.{port}.queues.{queue}.colours.{color}") = {
#include "control/report/figures/rows/color.def"
};

// The effects of WRED and ECN, by color.
Json colors_json(const QueueCounters& counters) {
    Json json;
    make_room(json, colors);
    constexpr std::array<const char*, colors> names{"green", "yellow", "red"};
    for (unsigned n = 0; n < colors; ++n) json[names[n]] = json_of(color_rows, {counters, n});
    return json;
}

std::uint64_t sum(const std::array<Counter, colors>& counters) {
    std::uint64_t all = 0;
    for (const Counter& counter : counters) all += counter.get();
    return all;
}

Json by_class(auto figure) {
    Json list = Json::array();
    for (ClassId n = 0; n < classes; ++n) list.push_back(figure(n));
    return list;
}

TrimCount sum(const std::array<TrimCount, classes>& queues) {
    TrimCount all;
    for (const TrimCount& queue : queues) all += queue;
    return all;
}

struct PortSource {
    RunningSwitch& running;
    PortId id;
    std::array<TrimCount, classes> trim = trim_counts(running, id);
    TrimCount all_trim = sum(trim);
    Switch& device = running.device();
    PortView port = device.view(id);
    const PortCounters& counters = port.counters();
    PortAccount account = port.io().account();
    const PortSchedule& schedule = device.policy().ports[id].schedule;
    SlowPath& slow_path = running.slow_path();
    bool has_slow_path = device.policy().ports[id].punts || was_slow(counters);
    const DevicePort* card =
        running.surroundings().device_port(id);  // or an interface of the kernel; null: neither
    bool has_interface = card != nullptr && !card->interface_name().empty();
    Cells bytes{running.config().cell_bytes};

    std::uint64_t cnp() const {
        return port.received([](const auto& queue) { return queue.cnp.get(); });
    }
    std::uint64_t ce_arrived() const {
        return port.received([](const auto& queue) { return queue.ce_arrived.get(); });
    }
    // True when control has received a frame from the port, or sent one by it.
    static bool was_slow(const PortCounters& counters) {
        return counters.injected.get() + counters.returned.get() != 0 ||
               std::ranges::any_of(counters.punted, [](const Counter& frames) { return frames.get() != 0; });
    }
};

struct QueueSource {
    const PortSource& of;
    ClassId n;
    const QueueCounters& counters = of.counters.queue[n];
    const TrimCount& trim = of.trim[n];
    const PacketQueue& packets = of.port.packets(n);
    const EgressQueueUse& use = of.port.use(n);
    const PortSchedule& schedule = of.schedule;
    const Cells& bytes = of.bytes;
    std::optional<DepthTrace::Moments> depth = moments(of, n);

    // Under the virtual clock time begins with the run.
    static std::optional<DepthTrace::Moments> moments(const PortSource& of, ClassId n) {
        if (of.port.trace() == nullptr || !of.running.is_virtual()) return std::nullopt;
        return of.port.trace()->queue[n].moments(of.running.now());
    }
};

FIGURE_ROWS(queue_rows, QueueSource, "ports.{port}.queues.{queue}") = {
#include "control/report/figures/rows/queue.def"
};

struct GroupSource {
    const PortSource& of;
    ClassId n;
    const PortView& port = of.port;
    const GroupLimits& limits = of.device.policy().ports[of.id].group[n];
    const GroupCounters& counters = of.counters.group[n];
    const PriorityGroup& group = of.port.group(n);
    const Cells& bytes = of.bytes;
    bool is_lossless = of.running.qos().ports.at(of.running.port_names()[of.id]).group[n].lossless;
};

FIGURE_ROWS(group_rows, GroupSource, "ports.{port}.priority_groups.{priority}") = {
#include "control/report/figures/rows/group.def"
};

Json group_json(const PortSource& of, ClassId n) {
    Json json = json_of(group_rows, {of, n});
    add_class_wait(json, of.running, of.id, n);
    return json;
}

Json awaited_queue_json(const RunningSwitch& running) {
    const auto queue = running.limit_change().fullest_queue();
    return queue ? Json(fmt::format("{}.{}", running.port_names()[queue->port], queue->queue))
                 : Json(nullptr);
}

struct ClassWaitSource {
    const RunningSwitch& running;
    Time since;
};

FIGURE_ROWS(class_wait_rows, ClassWaitSource, "ports.{port}.priority_groups.{priority}") = {
#include "control/report/figures/rows/class_wait.def"
};

// While workers run: pauses as they settled last; else as their owner sees them, those that run included.
struct PfcSource {
    PortView port;
    std::optional<Time> now;
    const PfcHonor::Counters& honor(ClassId n) const { return port.honor().counters(n); }
    const PfcGenerator::Counters& generator(ClassId n) const { return port.generator().counters(n); }
    std::int64_t rx_paused_ns(ClassId n) const {
        return now ? ns(port.honor().paused_time(n, *now))
                   : static_cast<std::int64_t>(honor(n).paused_ps.get() / 1000);
    }
    std::int64_t tx_paused_ns(ClassId n) const {
        return now ? ns(port.generator().asserted_time(n, *now))
                   : static_cast<std::int64_t>(generator(n).asserted_ps.get() / 1000);
    }
};

FIGURE_ROWS(pfc_rows, PfcSource, "ports.{port}.pfc") = {
#include "control/report/figures/rows/pfc.def"
};

FIGURE_ROWS(fault_rows, FaultPort, "ports.{port}.faults") = {
#include "control/report/figures/rows/faults.def"
};

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
    if (const DevicePort* device = running.surroundings().device_port(id);
        device != nullptr && device->capabilities().pfc.tx != PfcTx::software)
        return to_string(device->capabilities().pfc.tx);
    return running.qos().ports.at(running.port_names()[id]).masks.may_send != 0 ? "software" : "none";
}

Json punted_json(const PortCounters& counters) {
    Json json = Json::object();
    for (std::size_t n = 0; n < punt_class_count; ++n)
        json[std::string(punt_class_texts[n].name)] = counters.punted[n].get();
    return json;
}

struct ReceiveQueueSource {
    std::uint16_t number;
    WorkerId worker;
    const Traffic& rx;
    const Counter* behind;   // null: the first, of which the port tells
    const DevicePort* card;  // null: no device counts errors
};

FIGURE_ROWS(receive_queue_rows, ReceiveQueueSource, "ports.{port}.rx_queues.{queue}") = {
#include "control/report/figures/rows/receive_queue.def"
};

// By receive queue, where there are several; the port's worker polls the first.
Json receive_queues_json(const PortSource& of) {
    if (of.port.receive_queues() == 1) return absent();
    Json list = Json::array();
    list.push_back(
        json_of(receive_queue_rows, {0, of.device.owner_of(of.id), of.counters.rx, nullptr, of.card}));
    for (std::uint16_t n = 1; n < of.port.receive_queues(); ++n) {
        const ReceiveQueue& queue = of.port.more_receive_queue(n);
        list.push_back(
            json_of(receive_queue_rows, {n, queue.poller, queue.counters.rx, &queue.behind, of.card}));
    }
    return list;
}

FIGURE_ROWS(port_rows, PortSource, "ports.{port}") = {
#include "control/report/figures/rows/port.def"
};

struct CapabilitiesSource {
    const PortCapabilities& can;
    bool has_segmented;
};

FIGURE_ROWS(capability_rows, CapabilitiesSource, "ports.{port}.capabilities") = {
#include "control/report/figures/rows/capabilities.def"
};

// By priority, null where the driver counts none; absent where it counts it of no priority.
Json by_priority_json(const PhysicalCounters& counters, Physical kind) {
    const auto& values = counters.value[static_cast<std::size_t>(kind)];
    if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) return absent();
    Json list = Json::array();
    for (const auto& value : values) list.push_back(or_null(value));
    return list;
}

FIGURE_ROWS(physical_rows, PhysicalCounters, "ports.{port}.physical") = {
#include "control/report/figures/rows/physical.def"
};

// The setting that makes the port's RoCEv2 packets lossless.
std::string lossless_setting(const RunningSwitch& running, const std::string& name) {
    const EffectivePort& port = running.qos().ports.at(name);
    for (unsigned tc = 0; tc < classes; ++tc)
        if ((port.lossless >> port.map.tc_to_priority_group[tc] & 1U) != 0)
            return fmt::format("map.{}.roce_tc = {}", running.config().ports.at(name).map, tc);
    return fmt::format("port.{}.qos = \"lossless\"", name);
}

}  // namespace

std::uint8_t ignored_pauses(const RunningSwitch& running, PortId id) {
    const Config& config = running.config();
    const PortConfig& port = config.ports.at(running.port_names()[id]);
    const bool promised = has_our_sender(config, port) && port.peer == PeerKind::ignore;
    return promised ? 0xFF : running.watch().deaf_peers().deaf(id);
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
    if (const auto since = running.class_changes().since(port, priority))
        add_rows(json, class_wait_rows, {running, *since});
}

TrimCount& TrimCount::operator+=(const TrimCount& other) {
    sent += other.sent;
    dropped += other.dropped;
    is_there = is_there || other.is_there;
    return *this;
}

std::array<TrimCount, classes> trim_counts(const RunningSwitch& running, PortId id) {
    const Policy& policy = running.device().policy();
    const unsigned trims = policy.trim.empty() ? 0U : policy.trim[id].queues;
    std::array<TrimCount, classes> queues;
    for (ClassId n = 0; n < classes; ++n) {
        const TrimCounters& counters = running.device().view(id).counters().trim[n];
        TrimCount& queue = queues[n];
        queue = {counters.sent.get(), counters.dropped.get(), false};
        queue.is_there = queue.trimmed() != 0 || (trims >> n & 1U) != 0;
    }
    return queues;
}

TrimCount trim_count(const RunningSwitch& running) {
    TrimCount all;
    for (PortId id = 0; id < running.device().port_count(); ++id) all += sum(trim_counts(running, id));
    return all;
}

Json port_json(RunningSwitch& running, PortId id) { return json_of(port_rows, {running, id}); }

Json capabilities_json(const PortCapabilities& can, bool has_segmented) {
    return json_of(capability_rows, {can, has_segmented});
}

Json physical_json(const PhysicalCounters& counters) { return json_of(physical_rows, counters); }

std::string capabilities_text(const PortCapabilities& can) {
    return fmt::format(
        "driver {}, PFC {}: {}; MTU up to {}; receives by {}; rings of {} and {} descriptors{}; filter {}",
        can.driver, to_string(can.pfc.tx), can.pfc.why, can.max_mtu, can.receive_spread, can.receive_ring,
        can.transmit_ring, can.paced ? ", paced" : "", can.filter);
}

std::vector<std::string> port_warnings(const RunningSwitch& running, PortId id) {
    std::vector<std::string> warnings;
    const std::string& name = running.port_names()[id];
    const PortView port = running.device().view(id);
    const auto lossy = port.received([](const auto& queue) { return queue.lossy_roce.get(); });
    if (lossy != 0 && !has_trimming(running.config()))
        warnings.push_back(fmt::format("port {}: {} came in a class that is not lossless; do: set {}", name,
                                       print_count(lossy, "RoCEv2 packet"), lossless_setting(running, name)));
    const auto foreign = running.device().dropped(id, DropReason::not_for_us);
    if (const MacAddress wanted = port.foreign_mac(); foreign != 0 && wanted != MacAddress{})
        warnings.push_back(
            fmt::format("port {0}: {1} {4} not for the port's MAC {2}, the first was for {3}; do: send to "
                        "{2}, or set port.{0}.mac, or port.{0}.promiscuous = true",
                        name, print_count(foreign, "frame"), print_mac(running.macs()[id]), print_mac(wanted),
                        print_was(foreign)));
    if (const std::uint8_t deaf = running.watch().deaf_peers().deaf(id); deaf != 0)
        warnings.push_back("port " + name + ": " + deaf_peer_text(name, deaf));
    return warnings;
}

}  // namespace sluice
