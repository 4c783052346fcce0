#include "dataplane/path/load_balance.hh"

#include "lib/route/port_load.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/rng.hh"

namespace sluice {
namespace {

constexpr std::uint32_t balance_stream = 0xBA1A;  // of draws; part of what a seed means

}  // namespace

std::uint32_t choose_member(WorkerContext& worker, LoadBalance mode, const BalanceQuestion& question,
                            BalanceChoice* record) {
    const Policy& policy = *worker.policy;
    const NextHopGroup& group = policy.next_hop_groups[question.group];
    const BalanceSettings& settings = policy.balance.settings;
    const auto is_up = [&](PortId port) {
        return worker.shared.link_up[port].load(std::memory_order_relaxed);
    };
    const RemoteQuality* const remote = policy.balance.remote;
    const auto told = [&](PortId port) -> std::uint8_t {
        return remote == nullptr ? 0
                                 : remote->bands(port, question.group, worker.now)[question.traffic_class];
    };
    const auto band = [&](std::uint32_t next_hop) -> std::uint8_t {
        const PortId port = policy.next_hops[next_hop].port;
        if (!is_up(port)) return LinkQuality::unusable;
        const ClassId queue = policy.ports[port].map.tc_to_queue[question.traffic_class];
        const LinkQuality own = quality_of(worker.shared, policy, port, queue, worker.now);
        return static_cast<std::uint8_t>(own.band() + told(port));
    };
    const auto drawn = [&] {
        return static_cast<std::uint32_t>(
            draw({policy.seed, balance_stream, question.ingress_port, question.sequence}) >> 32);
    };
    const BalanceGroup members{policy.buckets.data() + group.first_bucket, group.log2_buckets,
                               policy.members.subspan(group.first_member, group.members)};
    const BalanceChoice choice = balance(mode, flowlet_of(question.state, question.hash), question.hash,
                                         members, question.arrival, settings, band, drawn);
    BalanceCounters& counters = worker.balance_use[question.group];
    if (choice.reason == BalanceReason::new_flowlet) counters.flowlets.add(1);
    if (choice.reason == BalanceReason::moved || choice.reason == BalanceReason::member_lost)
        counters.moves.add(1);
    if (choice.shared) counters.collisions.add(1);
    if (record != nullptr) {
        *record = choice;
        if (choice.next_hop != no_member) record->told = told(policy.next_hops[choice.next_hop].port);
    }
    return choice.next_hop;
}

void publish_load(WorkerContext& worker, const PortContext& port, Time now) {
    const Policy& policy = *worker.policy;
    const PortPolicy& own = policy.ports[port.id];
    PortLoad& load = worker.shared.loads[port.id];
    const Traffic& sent = port.counters.tx;
    load.set_sent(sent.bytes.get() + sent.packets.get() * wire_overhead_bytes, now, own.speed.byte_time(),
                  policy.balance.scale);
    for_each_class(port.backlog | load.filled(), [&](ClassId n) {
        load.set_queued(n, std::uint64_t{port.queue[n].use.used_cells()} * policy.cell.bytes());
    });
    std::uint8_t stopped = own.held;
    for_each_class(port.watchdog.machine.awake(), [&](ClassId n) {
        if (port.watchdog.machine.state(n) >= WatchdogState::stormed)
            stopped = static_cast<std::uint8_t>(stopped | 1U << n);
    });
    unsigned paused = 0;
    for_each_class(port.honor.paused(now), [&](ClassId priority) {
        const ClassId queue = own.map.pfc_priority_to_queue[priority];
        const Time until = port.honor.deadline(priority);
        const bool before = (paused >> queue & 1U) != 0;
        if (!before || load.paused_until(queue) < until) load.set_paused_until(queue, until);
        paused |= 1U << queue;
    });
    load.set_stopped(stopped, static_cast<std::uint8_t>(paused));
}

}  // namespace sluice
