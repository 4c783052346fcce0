// Load balancing on the packet path: lib/route/load_balance.hh with the figures of this switch.
#pragma once

#include "dataplane/path/worker_context.hh"
#include "lib/frame/parse.hh"

namespace sluice {

// A packet whose group has several members and is balanced by more than the hash.
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
// `record`: where to store the choice, or null.
std::uint32_t choose_member(WorkerContext& worker, LoadBalance mode, const BalanceQuestion& question,
                            BalanceChoice* record);

// How busy a port is for a queue, as its owner published it last.
inline LinkQuality quality_of(const Shared& shared, const Policy& policy, PortId port, ClassId queue,
                              Time now) {
    return shared.loads[port].quality(queue, now, policy.ports[port].speed.byte_time(), policy.balance.scale);
}

// The owner of a port publishes how busy it is, after every look at its queues while load is balanced.
void publish_load(WorkerContext& worker, const PortContext& port, Time now);

}  // namespace sluice
