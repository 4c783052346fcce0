// Load balancing on the packet path: what lib/route/load_balance.hh decides, asked with the figures of this
// switch.
#pragma once

#include "dataplane/path/worker_context.hh"
#include "lib/frame/parse.hh"

namespace sluice {

// Of a packet whose group has several members and is not spread by the hash alone.
struct BalanceQuestion {
    PortId ingress_port;
    ReceiveState& state;
    std::uint32_t group;  // its number
    std::uint32_t hash;
    ClassId traffic_class;
    Time arrival;
    std::uint64_t sequence;
};

inline LoadBalance load_balance_of(const BalancePolicy& policy, const NextHopGroup& group,
                                   ClassId traffic_class, const Parsed& parsed) {
    if (group.balance != NextHopGroup::by_policy) return static_cast<LoadBalance>(group.balance);
    const RoceTransport transport = roce_transport(parsed.roce, parsed.opcode);
    return policy.mode[traffic_class][static_cast<std::size_t>(transport)];
}

inline Flowlet& flowlet_of(ReceiveState& state, std::uint32_t hash) {
    return state.flowlets[hash & (state.flowlets.size() - 1)];
}

// The next hop for the packet, as the tables of the worker's policy have it; `no_member`: no link is up.
// `record`: null, or where to put why.
std::uint32_t choose_member(WorkerContext& worker, LoadBalance mode, const BalanceQuestion& question,
                            BalanceChoice* record);

// How busy a port is for a queue, as its owner said last.
inline LinkQuality quality_of(const Shared& shared, const Policy& policy, PortId port, ClassId queue,
                              Time now) {
    return shared.loads[port].quality(queue, now, policy.ports[port].speed.byte_time(), policy.balance.scale);
}

// The owner of a port says how busy it is. After every look at its queues while something is balanced.
void publish_load(WorkerContext& worker, const PortContext& port, Time now);

}  // namespace sluice
