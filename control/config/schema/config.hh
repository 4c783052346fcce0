// The configuration as a value: the TOML file with every default filled in and nothing resolved.
// `load_config` makes it, `check_config` (lint.hh) judges it, `compile` turns it into the workers' policy,
// and `to_toml` (schema.hh) writes it down so that it loads back equal. Collections are sorted (ports in
// natural order: p2 before p10), so that equal configurations compare equal.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <tuple>
#include <vector>

#include "control/config/schema/copy_on_write.hh"
#include "control/config/schema/host_config.hh"
#include "control/config/schema/mirror_config.hh"
#include "control/config/schema/natural_order.hh"
#include "control/config/schema/source_place.hh"
#include "control/config/schema/wire_config.hh"
#include "lib/frame/classify.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/frame/trim.hh"
#include "lib/peer/faults.hh"
#include "lib/pfc/pfc_mode.hh"
#include "lib/pfc/pfc_watchdog.hh"
#include "lib/punt/punt.hh"
#include "lib/queue/wred.hh"
#include "lib/record/decision_event.hh"
#include "lib/route/load_balance.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class ClockKind : std::uint8_t { virtual_time, real_time };
enum class PeerKind : std::uint8_t { obey, ignore };

// The preset `lossless`: DSCP 26 and 3 are RoCE, 48 is CNP, 56 is network control.
constexpr std::array<ClassId, 64> preset_dscp_to_tc() {
    std::array<ClassId, 64> map{};
    map[26] = map[3] = 3;
    map[48] = 6;
    map[56] = 7;
    return map;
}

struct MapConfig {
    std::array<ClassId, 64> dscp_to_tc = preset_dscp_to_tc();
    std::array<ClassId, 8> pcp_to_tc{0, 0, 0, 3, 0, 0, 6, 7};
    std::array<ClassId, 8> tc_to_queue{0, 1, 2, 3, 4, 5, 6, 7};
    std::array<ClassId, 8> tc_to_priority_group{0, 1, 2, 3, 4, 5, 6, 7};
    std::array<ClassId, 8> pfc_priority_to_queue{0, 1, 2, 3, 4, 5, 6, 7};
    std::optional<ClassId> roce_tc;  // RoCEv2 data and ACK; absent: follow DSCP
    std::optional<ClassId> cnp_tc = ClassId{6};
    bool operator==(const MapConfig&) const = default;
};

enum class PoolDirection : std::uint8_t { ingress, egress };

// Memory of one direction that groups or queues share. Values absent here and below are the preset's.
struct PoolConfig {
    PoolDirection direction = PoolDirection::ingress;
    std::uint64_t size_bytes = 0;             // with the reserved parts and headrooms of its groups
    std::uint64_t shared_headroom_bytes = 0;  // 0: every group has its own
    bool operator==(const PoolConfig&) const = default;
};

// A limit on shared use: alpha = 2^dynamic_th of the free cells, or fixed.
struct ThresholdConfig {
    std::optional<int> dynamic_th;              // in [-8, 7]
    std::optional<std::uint64_t> static_bytes;  // 0: no limit
    bool operator==(const ThresholdConfig&) const = default;
};

struct PriorityGroupConfig : ThresholdConfig {
    std::optional<std::string> pool;
    std::optional<std::uint64_t> size_bytes;  // reserved
    std::optional<std::uint64_t> xoff_bytes;  // headroom; absent: computed
    std::optional<std::uint64_t> xon_bytes;
    std::optional<std::uint64_t> xon_offset_bytes;
    std::optional<bool> lossless;
    bool operator==(const PriorityGroupConfig&) const = default;
};

// A WRED curve; absent values come from the curve it starts from (control/config/compile/wred_profiles.hh).
struct WredCurveConfig {
    std::optional<std::uint64_t> min_bytes;
    std::optional<std::uint64_t> max_bytes;
    std::optional<Chance> probability;  // at max
    bool operator==(const WredCurveConfig&) const = default;
};

struct WredConfig {
    WredCurveConfig green, yellow, red, ect;
    std::optional<Duration> sojourn_min;
    std::optional<Duration> sojourn_max;
    std::optional<Chance> sojourn_probability;
    MarkAt mark_at = MarkAt::dequeue;
    std::uint8_t weight = 0;  // in [0, 15]
    bool ecn = true;
    std::optional<bool> drop_non_ect;  // absent: of lossy queues
    bool operator==(const WredConfig&) const = default;
};

enum class QueueScheduler : std::uint8_t { strict, dwrr };
enum class OnFull : std::uint8_t { drop, trim };

struct QueueConfig : ThresholdConfig {
    std::optional<std::string> pool;
    std::optional<std::uint64_t> size_bytes;  // reserved
    std::optional<QueueScheduler> scheduler;
    std::optional<std::uint8_t> weight;  // in [1, 255]
    Rate min_rate{};                     // 0: none
    Rate max_rate{};
    std::optional<std::uint64_t> max_burst_bytes;   // on the wire; absent: two frames of the MTU
    std::optional<std::string> wred;                // a [wred.NAME], or one of wred_profile_names
    std::optional<OnFull> on_full;                  // what a lossy queue does with packets beyond its limit
    std::optional<std::uint64_t> microburst_bytes;  // absent: the port's
    bool operator==(const QueueConfig&) const = default;
};

// A port's settings of the watchdog; absent values are the switch's.
struct PortWatchdogConfig {
    std::optional<Duration> detection;
    std::optional<Duration> restoration;
    std::optional<WatchdogAction> action;
    bool operator==(const PortWatchdogConfig&) const = default;
};

struct PortConfig {
    std::string device;  // DPDK device string, or PCI address
    Rate speed = gigabits(100);
    std::uint32_t cable_m = 5;
    std::optional<Duration> reaction;  // of the peer to our PFC; absent: headroom.hh has it by speed
    // IP MTU in bytes, in [min_mtu, max_mtu]. The default on an interface of the kernel fits a packet buffer.
    std::uint32_t mtu = 9100;
    std::optional<MacAddress> mac;  // absent: the device's, or 02:53:4c:00:00:<index> for a device without
    std::vector<IpPrefix> address;
    bool promiscuous = false;      // route frames with any unicast destination MAC
    bool responder = false;        // we answer ARP, ND and ping, and say why packets cannot go on
    bool proxy_arp = false;        // likewise ARP and ND for hosts behind other ports
    std::optional<PeerKind> peer;  // absent: obey under the virtual clock, else unknown
    std::string qos = "lossless";
    std::optional<std::vector<ClassId>> pfc;  // absent: the preset's
    std::optional<PfcMode> pfc_mode;
    bool small_xoff = false;  // a configured xoff may be too small: the report then promises nothing
    std::uint16_t pfc_quanta = 0xFFFF;                // of the XOFFs we send
    Rate shaper{};                                    // 0: none
    std::optional<std::uint64_t> shaper_burst_bytes;  // on the wire; absent: two frames of the MTU
    std::optional<std::uint64_t> microburst_bytes;    // of each queue; 0: none; absent: by speed
    std::optional<std::uint8_t> trim_dscp;            // of packets trimmed here; absent: the switch's
    Trust trust = Trust::dscp;
    ClassId default_tc = 0;  // with trust = port, and for frames with neither DSCP nor PCP
    std::string map = "default";
    std::optional<unsigned> worker;  // absent: ports are dealt round
    std::uint16_t rx_queues = 1;     // in [1, max_receive_queues]; more under the real clock only
    std::vector<unsigned>
        rx_workers;  // workers that poll those beyond the first, in turn; empty: all, from the next one on
    std::array<PriorityGroupConfig, classes> priority_group{};
    std::array<QueueConfig, classes> queue{};
    PortWatchdogConfig watchdog;
    FaultSettings fault;  // injected, under the virtual clock only
    SourcePlace place;
    bool operator==(const PortConfig&) const = default;
};

// The same address behind another port is another neighbor (every port may have 169.254.0.1 or fe80::1).
struct NeighborKey {
    IpAddress address;
    std::string port;
    auto operator<=>(const NeighborKey&) const = default;
};

struct NeighborConfig {
    IpAddress address;
    std::string port;
    MacAddress mac;
    std::optional<std::uint16_t> vlan;  // tag this next hop's frames; absent: untagged
    SourcePlace place;
    bool operator==(const NeighborConfig&) const = default;
    NeighborKey key() const { return {address, port}; }
};

constexpr std::uint32_t min_hop_weight = 1;
constexpr std::uint32_t max_hop_weight = 256;

struct NextHopConfig {
    IpAddress address;                      // of a neighbor
    std::uint32_t weight = min_hop_weight;  // in [min_hop_weight, max_hop_weight]
    std::string port{};                     // of the neighbor; empty: every one that has it
    bool operator==(const NextHopConfig&) const = default;
    auto operator<=>(const NextHopConfig& other) const {
        return std::tie(address, port, weight) <=> std::tie(other.address, other.port, other.weight);
    }
    bool is_to(const NeighborKey& neighbor) const {
        return address == neighbor.address && (port.empty() || port == neighbor.port);
    }
};
using NextHops = std::vector<NextHopConfig>;  // sorted

struct RouteConfig {
    IpPrefix prefix;
    NextHops via;  // empty: blackhole
    SourcePlace place;
    std::optional<LoadBalance> load_balance{};  // absent: as [load_balance] has it
    bool operator==(const RouteConfig&) const = default;
};

// Sorted by their keys. Duplicates are possible until `check_config` refuses them.
struct ByPrefix {
    using is_transparent = void;
    static const IpPrefix& key(const RouteConfig& route) { return route.prefix; }
    static const IpPrefix& key(const IpPrefix& prefix) { return prefix; }
    bool operator()(const auto& a, const auto& b) const { return key(a) < key(b); }
};
// An address alone finds its neighbors at all ports.
struct ByNeighborKey {
    using is_transparent = void;
    static auto key(const auto& of) { return std::tie(of.address, of.port); }
    bool operator()(const auto& a, const auto& b) const { return key(a) < key(b); }
    bool operator()(const NeighborConfig& a, const IpAddress& b) const { return a.address < b; }
    bool operator()(const IpAddress& a, const NeighborConfig& b) const { return a < b.address; }
};
using RouteSet = std::multiset<RouteConfig, ByPrefix>;
using NeighborSet = std::multiset<NeighborConfig, ByNeighborKey>;

// off: no rings. ready: rings, and recording starts with the command `decisions on`. on: from the start.
enum class RecordMode : std::uint8_t { off, ready, on };

// Decision records: which packets, and the file. Empty lists choose all.
struct DecisionsConfig {
    std::optional<RecordMode> record;   // absent: on with a file, ready when an event may switch it on
    std::string file;                   // JSON lines; empty: only the report says why
    std::optional<std::uint32_t> ring;  // events of a worker on their way to control; absent: chosen
    std::uint32_t recorder = 256;       // entries of each port's recorder; 0: off
    std::vector<std::string> ports;     // ingress
    std::vector<std::string> egress;
    std::vector<ClassId> classes;  // traffic classes
    std::vector<Verdict> verdicts;
    FlowFilter flow;
    bool operator==(const DecisionsConfig&) const = default;
};

// Load balancing of groups whose route does not name a mode.
struct LoadBalanceConfig {
    LoadBalance mode = LoadBalance::hash;
    std::vector<ClassId> classes;                                // for others: the hash; empty: for all
    std::optional<LoadBalance> rc, uc, rd, ud, other, not_roce;  // by RoCE transport; absent: `mode`
    std::uint32_t flowlets = 2048;                               // of each receive queue
    BalanceSettings settings;
    LoadScale scale;
    bool operator==(const LoadBalanceConfig&) const = default;
};

struct EventConfig {
    Duration at;
    std::string command;
    SourcePlace place;
    bool operator==(const EventConfig&) const = default;
};

// A condition at the end of the run, as --assert takes it.
struct ExpectationConfig {
    std::string that;
    SourcePlace place;
    bool operator==(const ExpectationConfig&) const = default;
};

// Second-level forwarding tables, for prefixes longer than /24, 2 x 1 KiB each; absent: chosen.
struct FibConfig {
    std::optional<std::uint32_t> ipv4_tables;
    std::optional<std::uint32_t> ipv6_tables;
    bool operator==(const FibConfig&) const = default;
};

// The name of a port's TAP: as much of the port's name as the kernel takes.
constexpr std::size_t tap_name_bytes = 15;
inline std::string_view tap_name(std::string_view port) { return port.substr(0, tap_name_bytes); }

struct KernelConfig {
    bool routes = false;  // the kernel's routes and neighbors are ours, behind those of the configuration
    std::optional<bool> taps;  // an interface of the kernel for ports that are none; absent: as `routes`
    std::uint64_t receive_buffer_bytes = 8'000'000;  // of the netlink socket
    bool has_taps() const { return taps.value_or(routes); }
    bool operator==(const KernelConfig&) const = default;
};

// The rate of each punt class that control takes from a port.
struct PuntConfig {
#define PUNT(name, rate, burst, sentence) PuntLimit name{rate, burst};
#include "lib/punt/punt_classes.def"
#undef PUNT
    bool operator==(const PuntConfig&) const = default;
};

// Packet trimming (lib/frame/trim.hh) of all queues whose on_full says so.
struct TrimmingConfig {
    std::uint16_t size_bytes = TrimPolicy{}.bytes;  // in [min_trim_bytes, max_trim_bytes]
    std::optional<std::uint8_t> dscp;               // of trimmed packets; absent: none, or the preset's
    std::optional<ClassId> queue;                   // that takes them; absent: by dscp and the port's map
    std::optional<std::vector<std::uint8_t>> trimmable_dscp;  // absent: all
    bool operator==(const TrimmingConfig&) const = default;
};

struct WatchdogConfig {
    static constexpr Duration min_detection = milliseconds(100), max_detection = seconds(5);

    Duration detection = milliseconds(200);  // in [min_detection, max_detection]
    std::optional<Duration> restoration;     // in [100 ms, 60 s]; absent: 2 x detection
    std::optional<Duration> poll;            // absent: detection / 4; the virtual clock is exact without
    WatchdogAction action = WatchdogAction::drop;
    bool operator==(const WatchdogConfig&) const = default;
};

// The effective settings of a port.
inline WatchdogConfig watchdog_of(const WatchdogConfig& all, const PortConfig& port) {
    WatchdogConfig own = all;
    own.detection = port.watchdog.detection.value_or(all.detection);
    if (port.watchdog.restoration) own.restoration = port.watchdog.restoration;
    own.action = port.watchdog.action.value_or(all.action);
    return own;
}

struct Config {
    ClockKind clock = ClockKind::virtual_time;
    std::uint64_t seed = 1;
    unsigned workers = 1;         // in [1, max_workers]
    std::vector<unsigned> cores;  // CPU of each worker under the real clock; empty: chosen
    std::uint64_t hash_seed = 1;
    bool hash_roce_qp = false;  // the destination QP takes part in the ECMP hash
    LoadBalanceConfig load_balance;
    std::vector<std::string> eal;  // extra EAL arguments
    Duration virtual_turn{};
    unsigned virtual_ring_frames = 4096;   // receive ring of a simulated port
    Duration turn_max = microseconds(50);  // longest turn of a worker under the real clock, for the headroom
    Duration idle_sleep{};                 // of a worker with nothing to do, between two turns; 0: it polls
    std::string buffer_profile = "none";   // see buffer_profile.hh
    std::uint64_t buffer_size_bytes = 16'000'000;
    std::uint32_t cell_bytes = 256;
    std::optional<std::uint32_t> packet_buffer_bytes;  // in [768, 16384]; absent: see the function
    WatchdogConfig watchdog;
    TrimmingConfig trimming;
    PortConfig port_defaults;  // [default]: the base of every port; ports have their final values
    std::map<std::string, PortConfig, NaturalOrder> ports;
    HostConfig host_defaults;  // [host.default]: likewise of the hosts
    std::map<std::string, HostConfig, NaturalOrder> hosts;
    std::vector<FlowConfig> flows;
    std::map<std::string, PoolConfig> pools;  // none: the preset's
    std::map<std::string, WredConfig> wred;
    std::map<std::string, MapConfig> maps{{"default", {}}};  // "default" is always there
    FibConfig fib;
    PuntConfig punt;
    KernelConfig kernel;
    CopyOnWrite<NeighborSet> neighbors;
    CopyOnWrite<RouteSet> routes;
    std::vector<EventConfig> events;
    std::map<std::string, WireConfig, NaturalOrder> wires;
    std::vector<ExpectationConfig> expectations;  // [[assert]]
    DecisionsConfig decisions;
    std::map<std::string, MirrorConfig> mirrors;  // at most max_mirrors
    SourceMap source;
    bool operator==(const Config&) const = default;
};

// Settings of the command line that override the configuration, at the start and at every reload of the file.
struct Overrides {
    std::optional<std::uint64_t> seed;
    std::string decisions;  // [decisions] file; with it they are recorded

    void apply(Config& config) const {
        if (seed) config.seed = *seed;
        if (decisions.empty()) return;
        config.decisions.file = decisions;
        if (config.decisions.record == RecordMode::off) config.decisions.record = RecordMode::on;
    }
};

// An error in a file. Line 0: the file as a whole. `path` is the key, "port.p1.speed".
struct ConfigError {
    std::string file;
    SourcePlace place;
    std::string path;
    std::string wrong;    // a sentence about the value: `"100X" has the unknown unit "X"`
    std::string allowed;  // may be empty
    std::string remedy;   // may be empty

    // `file:line:column: path: wrong; allowed: ...; do: ...`, a single line.
    std::string text() const;
};

constexpr std::size_t max_config_bytes = 64U << 20;
constexpr std::size_t max_routes = 1'048'576;  // and as many neighbors
constexpr std::size_t max_route_hops = 256;
constexpr std::size_t max_events = 65'536;
constexpr std::size_t max_expectations = 1'000;
constexpr std::size_t max_config_errors = 10'000;  // further ones are left out, and the last error says so

using ConfigResult = tl::expected<Config, std::vector<ConfigError>>;

// The configuration in `text`, or all its errors in the file's order. `file` is for messages.
ConfigResult parse_config(std::string_view text, std::string_view file);
ConfigResult load_config(const std::string& path);
// The text of a file, a little more than max_config_bytes of it at most.
tl::expected<std::string, ConfigError> read_config_file(const std::string& path);

// Data bytes of a packet buffer. Under the virtual clock buffers are small, and a frame takes several: they
// are most of the memory of the switch. Devices under the real clock need a frame in one buffer.
std::uint32_t packet_buffer_bytes(const Config& config);
// True when the device is an interface of the kernel, which receives a frame into one packet buffer.
bool on_kernel_interface(const PortConfig& port);

// Sorts events by time and PFC priorities, as parsing does.
void sort_config(Config& config);
// Adds a route, its next hops sorted, or a neighbor.
void add(Config& config, RouteConfig route);
void add(Config& config, NeighborConfig neighbor);
// True when a next hop is a neighbor.
bool has_neighbor(const NeighborSet& neighbors, const NextHopConfig& hop);

}  // namespace sluice
