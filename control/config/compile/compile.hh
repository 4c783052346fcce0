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

// An operator's commands that are not configuration: they are not saved.
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
// The class that a port's map gives to a RoCE packet as it comes in.
ClassId class_of(const ClassMap& map, const PacketLabel& label);
Policy compile_ports(const Config& config, const EffectiveQos& qos, const std::vector<MacAddress>& macs,
                     const OperatorState& state);

// The MAC of the `index`-th port; nothing: the device's.
std::optional<MacAddress> configured_mac(const Config& config, const PortConfig& port, std::size_t index);

// True when the sender behind the port is ours, so that we know if it obeys PFC: that of a capture, and every
// one under the virtual clock.
bool has_our_sender(const Config& config, const PortConfig& port);

// The delay of the simulated peer of a port after a pause, as in the headroom: its reaction and both
// interfaces. Nothing: it ignores pauses; without `port.peer` it obeys.
std::optional<PeerDelay> peer_delay(const PortConfig& port);
Duration cable_delay(const PortConfig& port);  // one way

// mbufs that the configuration can need at once.
struct PacketDemand {
    std::uint64_t buffer = 0;  // cells of the shared buffer
    std::uint64_t rings = 0;
    std::uint64_t caches = 0;
    std::uint64_t captures = 0;  // net_pcap with infinite_rx keeps its file in mbufs
    std::uint64_t total() const { return buffer + rings + caches + captures; }
};
PacketDemand packet_demand(const Config& config);
// The resources of a switch; `packets`: the size of the pool.
SwitchResources switch_resources(const Config& config, rte_mempool* pool, std::size_t packets);
// Frames of a worker that may be on their way to mirrors at once.
std::uint16_t mirror_ring_frames(const Config& config);
// EAL arguments that the configuration needs.
EalOptions eal_options(const Config& config);

constexpr unsigned packet_cache = 512;  // mbufs a thread keeps for itself, which is DPDK's most

}  // namespace sluice
