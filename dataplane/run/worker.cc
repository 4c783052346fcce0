#include "dataplane/run/worker.hh"

#include <rte_prefetch.h>

#include "dataplane/path/egress.hh"
#include "dataplane/path/ingress.hh"
#include "dataplane/path/load_balance.hh"
#include "dataplane/path/note_spells.hh"
#include "dataplane/path/punt.hh"

namespace sluice {

namespace {

// From each other worker, twice the packets that this one receives in a turn and a burst: enough to catch up,
// with short turns.
std::size_t max_of_each(const WorkerContext& worker) {
    return (2 * worker.own_ports.size() + 1) * burst_size;
}

// A class that is becoming lossless pauses its peer at any use of its group.
void keep_changing_in_xoff(PortContext& port, const PortPolicy& own) {
    for (ClassId n = 0; n < classes; ++n) {
        if (!own.group[n].changing) continue;
        port.group[n].stay_in_xoff();
        port.groups_in_use = static_cast<std::uint8_t>(port.groups_in_use | 1U << n);
        port.groups_judged = static_cast<std::uint8_t>(port.groups_judged | 1U << n);
    }
}

// Lossless packets are counted while their group is lossless: counters learn of every change.
void change_losslessness(WorkerContext& worker, const Policy& before, const Policy& now) {
    const auto change = [&](PortId port, ReceiveCounters& counters) {
        for (unsigned n = 0; n < classes; ++n)
            if (const bool is = now.ports[port].group[n].lossless; is != before.ports[port].group[n].lossless)
                counters.change_losslessness(n, is);
    };
    for (PortContext* port : worker.own_ports) change(port->id, port->counters);
    for (ReceiveQueue* queue : worker.polled) change(queue->port, queue->counters);
}

// Hands a new policy's settings to the mechanisms that keep state.
void take_up(WorkerContext& worker, const Policy* before, const Policy& now) {
    if (before != nullptr) change_losslessness(worker, *before, now);
    for (PortContext* port : worker.own_ports) {
        const PortPolicy& own = now.ports[port->id];
        if (before == nullptr || before->ports[port->id].schedule != own.schedule)
            port->scheduler.configure(own.schedule);
        port->generator.configure(own.pfc_send);
        if (port->control) port->control->configure(own.punt_limit);
        if (port->wire) port->wire->configure(*own.wire);
        for (unsigned n = 0; n < classes; ++n) port->queue[n].microburst.configure(own.microburst_cells[n]);
        port->groups_in_use = port->groups_judged = 0xFF;  // limits may have moved: judge every group once
        port->watchdog.settings_changed |=
            before == nullptr || before->ports[port->id].watchdog != own.watchdog;
        if (before == nullptr) continue;
        keep_changing_in_xoff(*port, own);
        for (unsigned n = 0; n < classes; ++n) {
            const PortPolicy& was = before->ports[port->id];
            if (was.group[n].pool != own.group[n].pool)
                port->group[n].move(worker.shared.ingress_use[was.group[n].pool],
                                    worker.shared.ingress_use[own.group[n].pool]);
            port->group[n].cut_reserved(own.group[n], worker.shared.ingress_use[own.group[n].pool]);
            if (was.queue[n].pool != own.queue[n].pool)
                port->queue[n].use.move(worker.shared.egress_use[was.queue[n].pool],
                                        worker.shared.egress_use[own.queue[n].pool]);
        }
    }
}

void clear_user_watermarks(WorkerContext& worker) {
    for (PortContext* port : worker.own_ports) {
        for (PriorityGroup& group : port->group) group.clear_user_watermarks();
        for (EgressQueue& queue : port->queue) queue.use.clear_user_watermarks();
    }
    if (worker.id != 0) return;  // pools are shared: one worker clears them
    for (PoolUse& pool : worker.shared.ingress_use) pool.clear_user_watermarks();
    for (PoolUse& pool : worker.shared.egress_use) pool.clear_user_watermarks();
}

template <class Take>
void for_each_burst(std::span<Packet* const> packets, Take take) {
    for (std::size_t i = 0; i < packets.size(); i += burst_size)
        take(packets.subspan(i, std::min<std::size_t>(burst_size, packets.size() - i)));
}

void take_handed_over(WorkerContext& worker) {
    if (worker.shared.workers == 1) return;
    worker.handed_over.begin();
    for (WorkerId from = 0; from < worker.shared.workers; ++from)
        if (from != worker.id)
            worker.handed_over.collect(worker.shared.mailbox(from, worker.id), max_of_each(worker));
    worker.handed_over.end();
}

// Enqueues packets that stayed with this worker; returns how many.
unsigned enqueue_local(WorkerContext& worker, Time now) {
    const auto local = std::span(worker.local.packets).first(worker.local.count);
    for_each_burst(local, [&](auto packets) { enqueue(worker, packets, now); });
    worker.local.count = 0;
    return static_cast<unsigned>(local.size());
}

// The same, then of those that others handed over.
unsigned enqueue_all(WorkerContext& worker, Time now) {
    const unsigned local = enqueue_local(worker, now);
    const auto handed_over = worker.handed_over.all();
    for_each_burst(handed_over, [&](auto packets) {
        // No stage may have fetched them.
        for (Packet* packet : packets) rte_prefetch0(&meta(packet));
        enqueue(worker, packets, now);
    });
    return local + static_cast<unsigned>(handed_over.size());
}

// `stayed`: local packets before the full burst came. Returns how many packets moved.
template <class Meter>
unsigned send_full_burst(WorkerContext& worker, std::size_t stayed, Time now, Meter& meter) {
    const auto local = std::span(worker.local.packets).first(worker.local.count);
    PortContext* const port = idle_way_out(worker.shared, local.subspan(stayed));
    if (port == nullptr) return 0;
    const unsigned enqueued = enqueue_local(worker, now);
    meter.lap(Stage::enqueue, enqueued);
    port->reactions.sent_early = now;
    return enqueued + egress(worker, *port, now, meter);
}

// Records the reactions of a port that were due and came in the turn before.
[[gnu::cold]] void note_reactions(WorkerContext& worker, PortContext& port, Time now) {
    PendingReactions& pending = port.reactions;
    if (pending.heard && port.out.empty()) {
        pending.heard = false;
        worker.reactions->pause_obeyed.record(now - pending.heard_since);
    }
    if (!pending.over || port.want_xoff != 0 || port.out.begins_with_ours()) return;
    pending.over = false;
    if (port.generator.asserted() != 0) worker.reactions->xoff_sent.record(now - pending.over_since);
}

template <class Meter>
unsigned turn(WorkerContext& worker, Time now, Meter& meter) {
    begin_turn(worker);
    worker.last_turn = worker.now;
    worker.now = now;
    unsigned work = 0;
    for (PortContext* port : worker.own_ports) {
        link_events(worker, *port, now);
        take_up_watchdog(worker, *port, now);
        if (port->reactions.any()) [[unlikely]]
            note_reactions(worker, *port, now);
    }
    const bool draining = worker.shared.draining.load(std::memory_order_relaxed);
    for (PortContext* port : worker.own_ports) take_releases(worker, *port, now);
    meter.lap(Stage::turn, 0);
    for (PortContext* port : worker.own_ports) judge_groups(worker, *port, now);
    meter.lap(Stage::judge, 0);
    take_handed_over(worker);
    meter.lap(Stage::enqueue, 0);
    for (PortContext* port : worker.wire_ports) work += release_from_wire(worker, *port, now, draining);
    for (PortContext* port : worker.own_ports) {
        if (!port->link_up || draining) continue;
        const std::size_t stayed = worker.local.count;
        const unsigned received = ingress(worker, *port, now, meter);
        work += received;
        if (received == burst_size && worker.shared.workers == 1)
            work += send_full_burst(worker, stayed, now, meter);
    }
    for (ReceiveQueue* queue : worker.polled) work += receive_for_owner(worker, *queue, now, meter);
    for (PortContext* port : worker.multi_queue_ports) work += receive_handed_off(worker, *port, now, meter);
    for (unsigned n = 0; n < burst_size && has_injection(worker) && inject_next(worker, now); ++n) ++work;
    const unsigned enqueued = enqueue_all(worker, now);
    meter.lap(Stage::enqueue, enqueued);
    work += enqueued;
    // A port may have got the bursts of all others: it sends until it has no frame, or the device takes none,
    // within bounds.
    const std::size_t most = 1 + worker.shared.ports.size();
    for (PortContext* port : worker.own_ports) {
        work += watch(worker, *port, now);
        unsigned sent = burst_size;
        for (std::size_t bursts = 0; sent == burst_size && bursts < most; ++bursts)
            work += sent = egress(worker, *port, now, meter);
    }
    if (worker.policy->balance.active) [[unlikely]]
        for (const PortContext* port : worker.own_ports) publish_load(worker, *port, now);
    meter.lap(Stage::turn, 0);
    return work;
}

}  // namespace

WorkerContext::WorkerContext(Shared& shared_state, WorkerId worker, std::size_t packets, rte_mempool* pool)
    : shared(shared_state),
      id(worker),
      chunks(packets, shared_state.ports.size() * classes),
      packet_pool(pool),
      local(packets),
      drops(shared_state.ports.size()),
      next_hop_use(max_next_hops),
      balance_use(first_next_hop_group + max_next_hop_groups) {
    for (const auto& port : shared.ports) {
        for (const auto& queue : port->more_receive_queues)
            if (queue->poller == id) polled.push_back(queue.get());
        if (shared.owner[port->id] != id) continue;
        own_ports.push_back(port.get());
        if (port->wire) wire_ports.push_back(port.get());
        if (!port->more_receive_queues.empty()) multi_queue_ports.push_back(port.get());
    }
    handed_over.reserve((shared.workers - 1U) * max_of_each(*this));
}

Shared::Shared(unsigned worker_count, unsigned port_count, std::unique_ptr<const Policy> first,
               bool exclusive_pools, std::size_t all_flowlets)
    : workers(worker_count),
      policy(worker_count, std::move(first)),
      releases(worker_count, port_count),
      loads(port_count),
      flowlets(all_flowlets) {
    set_exclusive(exclusive_pools);
}

void Shared::set_exclusive(bool exclusive_pools) {
    exclusive = exclusive_pools;
    for (auto* uses : {&ingress_use, &egress_use})
        for (PoolUse& use : *uses) use.exclusive = exclusive_pools;
}

void begin_turn(WorkerContext& worker) {
    const auto next = worker.shared.policy.view();
    if (next.value == worker.policy) [[likely]]
        return;
    // Control may free the policy before once the new one is acknowledged.
    take_up(worker, worker.policy, *next.value);
    if (worker.policy != nullptr && worker.policy->watermarks != next.value->watermarks)
        clear_user_watermarks(worker);
    worker.policy = next.value;
    worker.shared.policy.acknowledge(worker.id, next.generation);
}

void change_link(WorkerContext& worker, PortContext& port, bool up, Time now) {
    port.link_up = up;
    // Once the link is down the owner no longer touches the device; control may close it when no other worker
    // polls it. seq_cst: see Switch::link_up.
    worker.shared.link_up[port.id].store(up, std::memory_order_seq_cst);
    if (port.recorder) port.recorder->link_changed(up, now);
    if (up) {
        keep_changing_in_xoff(port, worker.policy->ports[port.id]);
        return;
    }
    port.counters.flaps.add(1);
    discard_queues(worker, port, now);
    if (port.io->link_up()) resume_peer(worker, port, now);
    // No pause of either side is left; groups over their limit send XOFF again when the link is back.
    port.honor.forget(now);
    note_obeyed(port, now);
    port.generator.reset(now);
    port.want_xoff = port.want_xon = 0;
    port.pause_peer = false;
    port.reactions = {};
    port.receive.full_bursts = 0;
    for (PriorityGroup& group : port.group) group.stop();
    watch_link_down(worker, port, now);
}

void settle_pauses(WorkerContext& worker, Time now) {
    for (PortContext* port : worker.own_ports) {
        port->honor.settle(now);
        port->generator.settle(now);
    }
}

unsigned turn(WorkerContext& worker, Time now) {
    const std::uint32_t session = worker.meter.session();
    if (session == 0) [[likely]] {
        NoLaps unmetered;
        return turn(worker, now, unmetered);
    }
    Laps laps(worker.meter, session);
    const unsigned work = turn(worker, now, laps);
    laps.finish(work);
    return work;
}

}  // namespace sluice
