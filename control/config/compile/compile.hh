// Compiles a configuration into the policy that workers read, but for routes (routes.hh).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/schema/config.hh"
#include "dataplane/base/eal.hh"
#include "dataplane/path/policy.hh"
#include "dataplane/run/switch_resources.hh"
#include "lib/peer/pause_sender.hh"

namespace sluice {

// An operator's commands that are no configuration: they are not saved.
struct OperatorState {
    std::set<std::string> down;                // ports
    std::map<std::string, std::uint8_t> held;  // queues of a port, as a mask
    std::set<std::string> unwatched;           // ports whose PFC watchdog is stopped
    bool big_red_switch = false;               // every lossless queue is in the watchdog's action
    std::optional<DecisionsConfig> decisions;  // instead of the configuration's, when told
    std::uint64_t watermarks = 0;              // how often users' watermarks were cleared
    std::vector<std::string> forced{};         // accepted reasons why the configuration is not lossless
    bool operator==(const OperatorState&) const = default;
};

// `macs[i]` is the MAC of the i-th port in configuration order. `qos` has no problems.
BalancePolicy balance_policy(const LoadBalanceConfig& config);
ClassMap class_map(const MapConfig& from, const PortConfig& port);
// A RoCE packet, and the class that a port's map gives it as it comes in.
struct PacketLabel {
    unsigned dscp;
    std::optional<std::uint8_t> pcp{};  // absent: untagged
    bool cnp = false;
};
ClassId class_of(const ClassMap& map, const PacketLabel& label);
Policy compile_ports(const Config& config, const EffectiveQos& qos, const std::vector<MacAddress>& macs,
                     const OperatorState& state);

// The MAC of the port, the `index`-th, where the configuration decides it; nothing where its device does.
std::optional<MacAddress> configured_mac(const Config& config, const PortConfig& port, std::size_t index);

// Whether the sender behind the port is ours, so that we know if it obeys PFC: that of a capture, and of
// anything under the virtual clock.
bool has_our_sender(const Config& config, const PortConfig& port);

// How late the simulated peer of a port obeys a pause: the term of the headroom, its reaction and both
// interfaces. Nothing: it ignores pauses; without `port.peer` it obeys.
std::optional<PeerDelay> peer_delay(const PortConfig& port);
Duration cable_delay(const PortConfig& port);  // one way

// mbufs that the configuration can need at once: the whole buffer, rings, caches, captures held in memory.
struct PacketDemand {
    std::uint64_t buffer = 0;  // cells of the shared buffer
    std::uint64_t rings = 0;
    std::uint64_t caches = 0;
    std::uint64_t captures = 0;  // net_pcap with infinite_rx keeps its file in mbufs
    std::uint64_t total() const { return buffer + rings + caches + captures; }
};
PacketDemand packet_demand(const Config& config);
// What a switch of the configuration is made of; `packets` of the pool.
SwitchResources switch_resources(const Config& config, rte_mempool* pool, std::size_t packets);
// Frames of a worker that may be on their way to mirrors.
std::uint16_t mirror_ring_frames(const Config& config);
// EAL arguments that the configuration needs.
EalOptions eal_options(const Config& config);

constexpr unsigned packet_cache = 512;  // mbufs a thread keeps for itself, which is DPDK's most

}  // namespace sluice
