#include "dataplane/run/switch.hh"

#include <algorithm>
#include <functional>
#include <utility>

#include "dataplane/path/load_balance.hh"
#include "dataplane/path/port_context.hh"
#include "dataplane/run/worker.hh"
#include "lib/route/ecmp.hh"

namespace sluice {
namespace {

// figure(worker), or the worker's figure, summed.
template <class Figure>
std::uint64_t sum_of(const std::vector<std::unique_ptr<WorkerContext>>& workers, Figure figure) {
    std::uint64_t sum = 0;
    for (const auto& worker : workers) sum += std::invoke(figure, std::as_const(*worker)).get();
    return sum;
}

std::size_t receive_queues(const std::vector<PortSpec>& ports) {
    std::size_t sum = ports.size();
    for (const PortSpec& port : ports) sum += port.pollers.size();
    return sum;
}

}  // namespace

Switch::Switch(unsigned workers, std::unique_ptr<const Policy> policy, std::vector<PortSpec> ports,
               const Resources& resources)
    : shared_(std::make_unique<Shared>(workers, static_cast<unsigned>(ports.size()), std::move(policy),
                                       resources.one_thread || workers == 1,
                                       receive_queues(ports) * resources.flowlets)) {
    std::size_t flowlets_given = 0;
    const auto give_flowlets = [&](ReceiveState& state) {
        state.flowlets = std::span(shared_->flowlets).subspan(flowlets_given, resources.flowlets);
        flowlets_given += resources.flowlets;
    };
    for (PortSpec& spec : ports) {
        auto context = std::make_unique<PortContext>();
        context->io = spec.io.get();
        context->id = static_cast<PortId>(shared_->ports.size());
        shared_->owner[context->id] = spec.owner;
        context->link = spec.link;
        give_flowlets(context->receive);
        for (const WorkerId poller : spec.pollers) {
            context->more_receive_queues.push_back(std::make_unique<ReceiveQueue>(
                context->id, context->io, static_cast<std::uint16_t>(1 + context->more_receive_queues.size()),
                poller));
            give_flowlets(context->more_receive_queues.back()->state);
        }
        if (spec.on_wire) {
            context->wire = std::make_unique<WireDirection>();
            if (!resources.one_thread) context->wire->trace.touch();
        }
        if (resources.control_slots != 0)
            context->control = std::make_unique<ControlPath>(resources.control_slots);
        if (spec.trace_slots != 0) {
            context->trace = std::make_unique<PortTrace>(spec.trace_slots, spec.trace_width);
            if (!resources.one_thread) context->trace->reserve();
        }
        if (resources.recorder_entries != 0) {
            context->recorder = std::make_unique<PortRecorder>(resources.recorder_entries);
            if (!resources.one_thread) context->recorder->touch();
            context->sample_draw = context->id;
        }
        shared_->link_up[context->id].store(true, std::memory_order_relaxed);
        spec.io->wake_in(awake_, context->id);
        io_.push_back(std::move(spec.io));
        shared_->ports.push_back(std::move(context));
    }
    for (unsigned from = 0; from < workers; ++from)
        for (unsigned to = 0; to < workers; ++to)
            shared_->mailboxes.push_back(from == to ? nullptr
                                                    : std::make_unique<Mailbox<Packet*>>(resources.packets));
    for (unsigned w = 0; w < workers; ++w)
        workers_.push_back(std::make_unique<WorkerContext>(*shared_, static_cast<WorkerId>(w),
                                                           resources.packets, resources.pool));
    if (resources.decision_ring != 0 || resources.recorder_entries != 0) {
        shared_->fill = std::make_unique<FillBoard>(static_cast<unsigned>(shared_->ports.size()));
        if (!resources.one_thread) shared_->fill->touch();
    }
    if (!resources.one_thread) shared_->flowlets.touch();
    for (auto& worker : workers_) {
        if (!resources.one_thread) {  // real time does not wait for pages
            worker->chunks.touch();
            worker->local.packets.touch();
            worker->next_hop_use.touch();
            worker->balance_use.touch();
            worker->reactions = std::make_unique<Reactions>();
        }
        if (resources.decision_ring != 0)
            worker->decisions = std::make_unique<EventRing<DecisionEvent>>(resources.decision_ring);
        if (resources.microburst_ring != 0)
            worker->microbursts = std::make_unique<EventRing<Microburst>>(resources.microburst_ring);
        if (resources.unresolved_ring != 0)
            worker->unresolved = std::make_unique<EventRing<IpAddress>>(resources.unresolved_ring);
        if (resources.control_slots != 0)  // a slot is in no more than one place
            worker->injections =
                std::make_unique<Mailbox<PortId>>(worker->own_ports.size() * resources.control_slots + 1);
    }
}

Switch::~Switch() = default;

// As the constructor above takes it, and WorkerContext's.
SwitchMemory switch_memory(unsigned workers, unsigned ports, const SwitchResources& resources) {
    const std::uint64_t all_workers = workers;
    const auto slot = sizeof(FrameMailbox<InjectHead>::Slot);
    SwitchMemory memory;
    memory.workers =
        all_workers *
        (sizeof(WorkerContext) + ChunkPool::bytes(resources.packets, std::size_t{ports} * classes) +
         resources.packets * sizeof(Packet*) + ports * sizeof(DropCounters) +
         max_next_hops * sizeof(Traffic) +
         (first_next_hop_group + max_next_hop_groups) * sizeof(BalanceCounters) +
         resources.microburst_ring * sizeof(Microburst) + resources.unresolved_ring * sizeof(IpAddress));
    memory.mailboxes = all_workers * (all_workers - 1) * resources.packets * sizeof(Packet*);
    memory.ports = std::uint64_t{ports} * (sizeof(PortContext) + sizeof(PortPolicy) + sizeof(ControlPath) +
                                           2 * resources.control_slots * slot);
    memory.ports += resources.wire_ends * sizeof(WireDirection);
    memory.ports += ports * (sizeof(PortLoad) + resources.flowlets * sizeof(Flowlet));
    memory.decisions = all_workers * resources.decision_ring * sizeof(DecisionEvent);
    if (resources.decision_ring != 0 || resources.recorder_entries != 0)
        memory.fill = FillBoard::entries(ports) * 2 * sizeof(Counter);
    if (resources.recorder_entries != 0)
        memory.recorder = ports * PortRecorder::bytes(resources.recorder_entries);
    return memory;
}

std::uint64_t Switch::publish(std::unique_ptr<const Policy> policy) {
    awake_.wake();
    return shared_->policy.publish(std::move(policy));
}

bool Switch::acknowledged(std::uint64_t generation) { return shared_->policy.acknowledged(generation); }
std::uint64_t Switch::generation() const { return shared_->policy.generation(); }
const Policy& Switch::policy() const { return shared_->policy.latest(); }

void Switch::take_up() {
    for (auto& worker : workers_) begin_turn(*worker);
}

PortView Switch::view(PortId id) const { return PortView(*shared_->ports[id]); }
PortContext& Switch::port(PortId id) { return *shared_->ports[id]; }
const PortContext& Switch::port(PortId id) const { return *shared_->ports[id]; }

bool Switch::link_up(PortId id) const {
    if (shared_->link_up[id].load(std::memory_order_seq_cst)) return true;
    const auto& queues = shared_->ports[id]->more_receive_queues;
    return std::any_of(queues.begin(), queues.end(),
                       [](const auto& queue) { return queue->polled.load(std::memory_order_seq_cst); });
}

WorkerContext& Switch::owner(const PortContext& port) { return *workers_[owner_of(port.id)]; }
WorkerId Switch::owner_of(PortId id) const { return shared_->owner[id]; }

void Switch::put_port(PortId id, std::unique_ptr<Port> io) {
    io_[id] = std::move(io);
    shared_->ports[id]->io = io_[id].get();
    io_[id]->wake_in(awake_, id);
    awake_.wake(id);
}

std::uint64_t Switch::dropped() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_)
        for (const DropCounters& port : worker->drops)
            for (const Counter& of_reason : port.all) sum += of_reason.get();
    return sum;
}

std::uint64_t Switch::dropped(PortId ingress_port, DropReason reason) const {
    return sum_of(workers_, [&](auto& worker) -> auto& {
        return worker.drops[ingress_port].all[static_cast<std::size_t>(reason)];
    });
}

std::uint64_t Switch::dropped_lossless(PortId ingress_port, DropReason reason) const {
    return sum_of(workers_, [&](auto& worker) -> auto& {
        return worker.drops[ingress_port].lossless[static_cast<std::size_t>(reason)];
    });
}

std::uint64_t Switch::next_hop_packets(std::uint32_t next_hop) const {
    return sum_of(workers_, [&](auto& worker) -> auto& { return worker.next_hop_use[next_hop].packets; });
}

std::uint64_t Switch::next_hop_bytes(std::uint32_t next_hop) const {
    return sum_of(workers_, [&](auto& worker) -> auto& { return worker.next_hop_use[next_hop].bytes; });
}

const PortLoad& Switch::load(PortId id) const { return shared_->loads[id]; }

LinkQuality Switch::quality(PortId id, ClassId queue, Time now) const {
    return quality_of(*shared_, policy(), id, queue, now);
}

std::uint32_t Switch::hashed_hop(const NextHopGroup& group, std::uint32_t hash) const {
    const Policy& now = policy();
    return pick_member(now.buckets.data() + group.first_bucket, group.log2_buckets, hash,
                       [&](std::uint32_t hop) { return link_up(now.next_hops[hop].port); });
}

BalanceCounts Switch::balance_counts(std::uint32_t next_hop_group) const {
    const auto sum = [&](Counter BalanceCounters::*figure) {
        return sum_of(workers_,
                      [&](auto& worker) -> auto& { return worker.balance_use[next_hop_group].*figure; });
    };
    return {sum(&BalanceCounters::flowlets), sum(&BalanceCounters::moves), sum(&BalanceCounters::collisions)};
}

std::uint64_t Switch::lossless_drops() const { return sum_of(workers_, &WorkerContext::lossless_drops); }
std::uint64_t Switch::falls_behind() const { return sum_of(workers_, &WorkerContext::falls_behind); }
std::uint64_t Switch::watchdog_changes() const { return sum_of(workers_, &WorkerContext::watchdog_changes); }
std::uint64_t Switch::punts() const { return sum_of(workers_, &WorkerContext::punts); }
std::uint64_t Switch::news() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->news();
    return sum;
}

const TurnCounters& Switch::turns(WorkerId id) const { return workers_[id]->turns; }
const Reactions* Switch::reactions(WorkerId id) const { return workers_[id]->reactions.get(); }
StageMeter& Switch::meter(WorkerId id) { return workers_[id]->meter; }

std::vector<PortId> Switch::own_ports(WorkerId id) const {
    std::vector<PortId> ports;
    for (const PortContext* port : workers_[id]->own_ports) ports.push_back(port->id);
    return ports;
}

WorkerTraffic Switch::traffic(WorkerId id) const {
    WorkerTraffic sum;
    for (const PortContext* port : workers_[id]->own_ports) {
        sum.received += port->counters.rx.packets.get();  // of its first queue
        sum.sent += port->counters.tx.packets.get();
    }
    for (const ReceiveQueue* queue : workers_[id]->polled) sum.received += queue->counters.rx.packets.get();
    return sum;
}

PoolUse& Switch::ingress_use(unsigned pool) { return shared_->ingress_use[pool]; }
const PoolUse& Switch::ingress_use(unsigned pool) const { return shared_->ingress_use[pool]; }
PoolUse& Switch::egress_use(unsigned pool) { return shared_->egress_use[pool]; }

EventRing<DecisionEvent>* Switch::decisions(WorkerId id) const { return workers_[id]->decisions.get(); }
EventRing<Microburst>* Switch::microbursts(WorkerId id) const { return workers_[id]->microbursts.get(); }
EventRing<IpAddress>* Switch::unresolved(WorkerId id) const { return workers_[id]->unresolved.get(); }

void Switch::announce_injected(PortId id) { workers_[owner_of(id)]->injections->post({&id, 1}); }

bool Switch::inject(PortId id, std::span<const std::uint8_t> frame, const InjectHead& head) {
    PortContext& port = *shared_->ports[id];
    auto* slot = port.control->injected.claim();
    if (slot == nullptr || frame.size() > slot->data.size()) return false;
    std::copy(frame.begin(), frame.end(), slot->data.begin());
    slot->head = head;
    slot->bytes = static_cast<std::uint32_t>(frame.size());
    port.control->injected.post();
    announce_injected(id);
    return true;
}

std::uint64_t Switch::in_hand_off() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->local.count - worker->local.taken;
    for (const auto& mailbox : shared_->mailboxes)
        if (mailbox) sum += mailbox->size();
    for (const auto& port : shared_->ports)
        for (const auto& queue : port->more_receive_queues) sum += queue->handed_off.size();
    return sum;
}

Ledger Switch::counted() const {
    Ledger sum;
    for (const auto& port : shared_->ports) {
        const PortCounters& counters = port->counters;
        sum.rx +=
            PortView(*port).received([](const ReceiveCounters& queue) { return queue.rx.packets.get(); });
        sum.tx += counters.tx.packets.get();
        sum.consumed += counters.consumed.get();
        sum.generated += counters.generated.get() + counters.replied.get() + counters.mirrored.get();
        for (const TrimCounters& trim : counters.trim) sum.generated += trim.sent.get() + trim.dropped.get();
        if (port->wire) sum.generated += port->wire->made.get();
        sum.injected += counters.injected.get() + counters.returned.get();
        for (const Counter& punted : counters.punted) sum.punted += punted.get();
    }
    sum.dropped = dropped();
    const std::uint64_t in = sum.rx + sum.injected + sum.generated;
    const std::uint64_t out = sum.tx + sum.dropped + sum.punted + sum.consumed;
    sum.queued = in > out ? in - out : 0;
    return sum;
}

Ledger Switch::ledger() const {
    Ledger sum = counted();
    sum.queued = in_hand_off();
    for (const auto& port : shared_->ports) {
        sum.queued += port->out.count();
        if (port->wire) sum.queued += port->wire->held();
        for (const EgressQueue& queue : port->queue) sum.queued += queue.packets.packets();
    }
    return sum;
}

void Switch::empty() {
    for (auto& worker : workers_) {
        LocalInbox& local = worker->local;
        for (; local.taken < local.count; ++local.taken) rte_pktmbuf_free(local.packets[local.taken]);
        local.count = local.taken = 0;
    }
    for (const auto& mailbox : shared_->mailboxes)
        for (; mailbox && !mailbox->empty(); mailbox->pop()) rte_pktmbuf_free(mailbox->front());
    for (const auto& port : shared_->ports) {
        for (const auto& queue : port->more_receive_queues)
            for (; !queue->handed_off.empty(); queue->handed_off.pop())
                rte_pktmbuf_free(queue->handed_off.front().packet);
        port->out.discard([](Packet* packet) { rte_pktmbuf_free(packet); });
        while (Packet* packet = port->wire ? port->wire->due({}, true) : nullptr) rte_pktmbuf_free(packet);
        for (EgressQueue& queue : port->queue)
            while (!queue.packets.empty())
                rte_pktmbuf_free(static_cast<Packet*>(queue.packets.pop(owner(*port).chunks).packet()));
    }
}

PortId PortView::id() const { return port_->id; }
Port& PortView::io() const { return *port_->io; }
const PortCounters& PortView::counters() const { return port_->counters; }
const EgressQueueUse& PortView::use(ClassId queue) const { return port_->queue[queue].use; }
const PacketQueue& PortView::packets(ClassId queue) const { return port_->queue[queue].packets; }
const MicroburstMeter& PortView::microburst(ClassId queue) const { return port_->queue[queue].microburst; }
const PriorityGroup& PortView::group(ClassId n) const { return port_->group[n]; }
const PfcHonor& PortView::honor() const { return port_->honor; }
const PfcGenerator& PortView::generator() const { return port_->generator; }
const PortWatchdog& PortView::watchdog() const { return port_->watchdog; }
std::uint8_t PortView::backlog() const { return port_->backlog; }
std::uint8_t PortView::groups_in_use() const { return port_->groups_in_use; }
const PortTrace* PortView::trace() const { return port_->trace.get(); }
const PortRecorder* PortView::recorder() const { return port_->recorder.get(); }
const WireDirection* PortView::wire() const { return port_->wire.get(); }
ControlPath* PortView::control() const { return port_->control.get(); }

unsigned PortView::receive_queues() const {
    return 1 + static_cast<unsigned>(port_->more_receive_queues.size());
}

const ReceiveCounters& PortView::received_by(unsigned queue) const {
    return queue == 0 ? port_->counters : more_receive_queue(queue).counters;
}

const ReceiveQueue& PortView::more_receive_queue(unsigned queue) const {
    return *port_->more_receive_queues[queue - 1];
}

MacAddress PortView::foreign_mac() const {
    for (unsigned queue = 0; queue < receive_queues(); ++queue)
        if (const SharedMac& mac = received_by(queue).foreign_mac; mac.is_set()) return mac.get();
    return {};
}

}  // namespace sluice
