#include "control/config/compile/compile.hh"

#include <algorithm>
#include <bit>
#include <cassert>

#include "control/config/compile/trimming.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/decision_filter.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/peers/capture_file.hh"
#include "dataplane/ports/device.hh"
#include "dataplane/ports/receive_queue.hh"
#include "dataplane/ports/ring_size.hh"
#include "lib/frame/classify.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

std::array<PoolLimits, max_pools> pool_limits(const EffectiveQos& qos, PoolDirection direction) {
    std::array<PoolLimits, max_pools> limits{};
    for (const EffectivePool& pool : qos.pools)
        if (pool.direction == direction) {
            assert(pool.shared_cells > 0 && pool.shared_cells <= pool.size_cells);
            limits[pool.index] = {static_cast<std::uint32_t>(pool.shared_cells), pool.shared_headroom_cells};
        }
    return limits;
}

// Equal profiles are one; 1 for the first.
std::uint16_t number_of(std::vector<WredProfile>& profiles, const WredProfile& profile) {
    const auto place = std::find(profiles.begin(), profiles.end(), profile);
    const auto number = place - profiles.begin() + 1;
    if (place == profiles.end()) profiles.push_back(profile);
    return static_cast<std::uint16_t>(number);
}

// `configured`: the port's effective settings, as watchdog_of has them.
WatchdogPolicy watchdog_policy(const WatchdogConfig& configured, ClockKind clock, const EffectivePort& port,
                               bool stopped, bool big_red_switch) {
    WatchdogPolicy policy;
    policy.settings.detection = configured.detection;
    policy.settings.restoration = configured.restoration.value_or(configured.detection * 2);
    policy.settings.action = configured.action;
    if (clock == ClockKind::real_time)
        policy.settings.poll = configured.poll.value_or(configured.detection / 4);
    for (ClassId n = 0; n < classes; ++n) {
        policy.priorities[n] = static_cast<std::uint8_t>(
            classes_that_map_to(port.map.pfc_priority_to_queue, n) & port.masks.honors);
        if (port.queue[n].lossless && policy.priorities[n] != 0)
            policy.candidates = static_cast<std::uint8_t>(policy.candidates | 1U << n);
    }
    if (configured.action != WatchdogAction::off && !stopped) policy.watched = policy.candidates;
    if (big_red_switch && cuts(configured.action)) policy.cut = policy.candidates;
    return policy;
}

// "auto": where the WRED preset of the port's speed begins to mark, 4 KB for each Gb/s.
std::uint64_t microburst_bytes(const PortConfig& port, const QueueConfig& queue) {
    const std::uint64_t by_speed = port.speed.bits_per_second / 8 * 32 / 1'000'000;
    return queue.microburst_bytes.value_or(port.microburst_bytes.value_or(by_speed));
}

std::uint32_t microburst_cells(std::uint64_t bytes, CellSize cell) {
    if (bytes == 0) return 0;
    return std::max(1U, cell.rounded_down(bytes).value_or(max_buffer_cells));  // no queue is ever as deep
}

}  // namespace

ClassMap class_map(const MapConfig& from, const PortConfig& port) {
    ClassMap map;
    map.dscp_to_tc = from.dscp_to_tc;
    map.pcp_to_tc = from.pcp_to_tc;
    map.tc_to_queue = from.tc_to_queue;
    map.tc_to_priority_group = from.tc_to_priority_group;
    map.pfc_priority_to_queue = from.pfc_priority_to_queue;
    map.roce_tc = from.roce_tc.value_or(ClassMap::follow);
    map.cnp_tc = from.cnp_tc.value_or(ClassMap::follow);
    map.default_tc = port.default_tc;
    map.trust = port.trust;
    return map;
}

ClassId class_of(const ClassMap& map, const PacketLabel& label) {
    Parsed parsed;
    parsed.roce = true;
    parsed.cnp = label.cnp;
    parsed.tos = static_cast<std::uint8_t>(label.dscp << 2);
    parsed.tags = label.pcp ? 1 : 0;
    parsed.pcp = label.pcp.value_or(0);
    return traffic_class(parsed, map);
}

BalancePolicy balance_policy(const LoadBalanceConfig& config) {
    const std::array by_transport{config.rc, config.uc, config.rd, config.ud, config.other, config.not_roce};
    static_assert(by_transport.size() == roce_transports);
    BalancePolicy policy;
    policy.settings = config.settings;
    policy.scale = config.scale;
    for (ClassId tc = 0; tc < classes; ++tc) {
        const bool wanted =
            config.classes.empty() || std::ranges::find(config.classes, tc) != config.classes.end();
        for (std::size_t n = 0; n < roce_transports; ++n)
            policy.mode[tc][n] = wanted ? by_transport[n].value_or(config.mode) : LoadBalance::hash;
    }
    policy.active = policy.balances();
    return policy;
}

std::array<PuntLimit, punt_class_count> punt_limits(const PuntConfig& config) {
    return {
#define PUNT(name, rate, burst, sentence) config.name,
#include "lib/punt/punt_classes.def"
#undef PUNT
    };
}

Policy compile_ports(const Config& config, const EffectiveQos& qos, const std::vector<MacAddress>& macs,
                     const OperatorState& state) {
    Policy policy;
    policy.hash = {config.hash_seed, config.hash_roce_qp};
    policy.balance = balance_policy(config.load_balance);
    policy.cell = qos.cell;
    policy.seed = config.seed;
    policy.watermarks = state.watermarks;
    policy.ingress_pools = pool_limits(qos, PoolDirection::ingress);
    policy.egress_pools = pool_limits(qos, PoolDirection::egress);
    policy.decisions = decision_filter(config, state.decisions.value_or(config.decisions));
    std::size_t index = 0;
    for (const auto& [name, port] : config.ports) {
        const EffectivePort& effective = qos.ports.at(name);
        PortPolicy out;
        out.station = {macs[index++], port.promiscuous};
        out.usual = UsualFrames<0>(out.station);
        out.usual_tagged = UsualFrames<1>(out.station);
        out.map = class_map(effective.map, port);
        const PortPolicy* before = policy.ports.empty() ? nullptr : &policy.ports.back();
        out.ways = before != nullptr && before->ways->is_of(out.map, effective.lossless)
                       ? before->ways
                       : std::make_shared<ClassTable>(out.map, effective.lossless);
        out.mtu = static_cast<std::uint16_t>(port.mtu);
        out.admin_up = !state.down.contains(name);
        out.group = effective.group;
        out.queue = effective.queue;
        out.schedule = effective.schedule;
        out.pfc_send = {effective.lossless, effective.masks.may_send, port.pfc_quanta, port.speed};
        out.pfc_honors = effective.masks.honors;
        const auto held = state.held.find(name);
        out.held = held != state.held.end() ? held->second : std::uint8_t{0};
        out.speed = port.speed;
        for (unsigned n = 0; n < classes; ++n)
            if (effective.wred_profile[n]) out.wred[n] = number_of(policy.wred, *effective.wred_profile[n]);
        out.no_wred_at_enqueue = no_wred_at_enqueue(policy.wred, out);
        for (unsigned n = 0; n < classes; ++n)
            out.microburst_cells[n] = microburst_cells(microburst_bytes(port, port.queue[n]), qos.cell);
        out.watchdog = watchdog_policy(watchdog_of(config.watchdog, port), config.clock, effective,
                                       state.unwatched.contains(name), state.big_red_switch);
        out.punts = port.responder;
        out.punt_limit = punt_limits(config.punt);
        policy.ports.push_back(out);
    }
    if (has_trimming(config))
        for (const auto& [name, port] : config.ports) policy.trim.push_back(qos.ports.at(name).trim);
    return policy;
}

std::optional<MacAddress> configured_mac(const Config& config, const PortConfig& port, std::size_t index) {
    if (port.mac || config.clock == ClockKind::real_time) return port.mac;
    return MacAddress{
        {0x02, 0x53, 0x4C, 0x00, static_cast<std::uint8_t>(index >> 8), static_cast<std::uint8_t>(index)}};
}

bool has_our_sender(const Config& config, const PortConfig& port) {
    return config.clock == ClockKind::virtual_time || !parse_device(port.device).rx_pcaps.empty();
}

std::optional<PeerDelay> peer_delay(const PortConfig& port) {
    if (port.peer.value_or(PeerKind::obey) != PeerKind::obey) return std::nullopt;
    return PeerDelay{cable_delay(port), reaction_time(port.speed, port.reaction)};
}

Duration cable_delay(const PortConfig& port) { return propagation_delay(port.cable_m); }

PacketDemand packet_demand(const Config& config) {
    PacketDemand demand;
    // An mbuf holds at least a cell: the model refuses packets before the pool is empty.
    demand.buffer = config.buffer_size_bytes / config.cell_bytes;
    const std::uint32_t packet_buffer = packet_buffer_bytes(config);
    const std::uint64_t segments = (max_frame_bytes + packet_buffer - 1) / packet_buffer;
    for (const auto& [name, port] : config.ports) {
        const DeviceText device = parse_device(port.device);
        demand.rings += 2 * burst_size;
        if (device.has("pci")) {
            const RingSizes sizes = ring_sizes(port.speed, config.turn_max, modeled_ring, packet_buffer);
            demand.rings += std::uint64_t{port.rx_queues} * sizes.receive +
                            std::max<std::uint32_t>(sizes.transmit, ring_descriptors);
        } else if (device.has("net_af_packet") || device.has("xdp")) {
            demand.rings += burst_size * segments;  // its rings hold copies
        } else if (config.clock == ClockKind::real_time) {
            demand.rings += (port.rx_queues + 1ULL) * ring_descriptors;
        }
        // A further receive queue adds its poller's burst and the handed-off frames, which have buffers
        // however late the port's owner takes them.
        demand.rings += (port.rx_queues - 1ULL) * (hand_off_capacity + burst_size) * segments;
        if (!device.infinite_rx || config.clock == ClockKind::virtual_time) continue;
        // A file that cannot be read is an error of the port later.
        for (const std::string& file : device.rx_pcaps)
            if (const auto capture = CaptureReader::scan(file)) demand.captures += 2 * capture->packets;
    }
    demand.caches = (config.workers + 1ULL) * packet_cache * 2;
    return demand;
}

SwitchResources switch_resources(const Config& config, rte_mempool* pool, std::size_t packets) {
    // Destinations of a worker whose neighbors are to be resolved, between two rounds of control.
    constexpr std::size_t unresolved_ring = 1024;
    // Frames of a port on their way to control, and from it.
    constexpr std::uint16_t control_slots = 64;
    // Microbursts of a worker: more than every queue of every port at an instant.
    constexpr std::size_t microburst_ring = 4096;
    return {pool,
            packets,
            config.clock == ClockKind::virtual_time,
            decision_ring(config),
            microburst_ring,
            config.kernel.routes ? unresolved_ring : 0,
            control_slots,
            config.decisions.recorder,
            std::bit_ceil(config.load_balance.flowlets),
            2 * config.wires.size()};
}

std::uint16_t mirror_ring_frames(const Config& config) {
    constexpr std::uint64_t usual = 1024, most = UINT16_MAX;
    if (config.clock == ClockKind::real_time) return usual;
    // A link that goes down discards its packets at one instant.
    return static_cast<std::uint16_t>(std::clamp(config.buffer_size_bytes / config.cell_bytes, usual, most));
}

EalOptions eal_options(const Config& config) {
    EalOptions options;
    const PacketDemand demand = packet_demand(config);
    options.memory_bytes = demand.total() * PacketPool::eal_bytes_each;
    options.hugepage_bytes = demand.total() * PacketPool::bytes_each(packet_buffer_bytes(config)) +
                             2 * Fib::bytes(fib_sizes(config));
    for (const auto& [name, port] : config.ports)
        if (const DeviceText device = parse_device(port.device); device.has("pci")) {
            options.needs_hugepages = "a PCI port";
            options.pci.push_back(port.device);
        } else if (device.has("net_virtio_user")) {
            options.needs_hugepages = "net_virtio_user";  // whose other side maps DPDK's memory
        }
    options.allow_hugepages = config.clock == ClockKind::real_time;
    options.extra = config.eal;
    return options;
}

}  // namespace sluice
