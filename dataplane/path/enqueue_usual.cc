
#include "dataplane/path/egress_pass.hh"
#include "lib/values/invariant.hh"

namespace sluice {

// The loop calls nothing, so that nothing is spilled in it.
std::size_t enqueue_usual(WorkerContext& worker, std::span<Packet* const> packets, Time now) {
    // Packets for one port often follow each other: its context is looked up once.
    unsigned number_of_port = max_ports;  // none yet
    PortContext* port = nullptr;
    const PortPolicy* own = nullptr;
    EgressQueue* queues = nullptr;
    unsigned open_queues = 0;  // of the port: link and watchdog let packets in, and nothing is traced
    bool passes = false;       // the port's packets may stay aside
    for (std::size_t i = 0; i < packets.size(); ++i) {
        Packet* packet = packets[i];
        PacketMeta& info = meta(packet);
        if (info.egress_port != number_of_port) {
            number_of_port = info.egress_port;
            port = worker.shared.ports[number_of_port].get();
            own = &worker.policy->ports[number_of_port];
            queues = port->queue.data();
            open_queues = port->link_up && port->trace == nullptr ? ~unsigned{port->watchdog.discards} : 0;
            passes = may_pass(*worker.policy, *port);
        }
        const ClassId number = info.queue;
        EgressQueue& queue = queues[number];
        // Open: only the queue's own limit counts.
        const auto no_wred = own->no_wred_at_enqueue[info.treatment.ecn.bits];
        const bool open = ((open_queues & no_wred) >> number & 1U) != 0;
        if (!open || (info.observed & observed_record) != 0 ||
            (passes ? port->aside.full() : !queue.packets.has_room()) ||
            queue.microburst.is_above(queue.use.used_cells() + info.cells) ||
            !queue.use.admit_reserved(own->queue[number], info.cells)) [[unlikely]]
            return i;
        port->backlog = static_cast<std::uint8_t>(port->backlog | 1U << number);
        if (passes) {
            port->aside.set_aside(packet, info);
            continue;
        }
        queue.packets.push(entry_of(packet));
        info.enqueued = now;
        SLUICE_INVARIANT(queue.holds_its_packets());
    }
    return packets.size();
}

}  // namespace sluice
