#include "dataplane/virtual_runner.hh"

#include "dataplane/egress.hh"
#include "dataplane/ingress.hh"
#include "dataplane/punt.hh"
#include "dataplane/watchdog.hh"
#include "dataplane/worker.hh"

namespace sluice {
namespace {

// `candidate`: std::optional<Time> or const Time*.
void earlier(std::optional<Time>& best, const auto& candidate) {
    if (candidate && (!best || *candidate < *best)) best = *candidate;
}

bool has_arrived(const PortContext& port, Time now) {
    const Time* arrival = port.io->next_arrival();
    return arrival != nullptr && *arrival <= now;
}

// The packet at the head of what `from` has for `to`; null when there is none.
Packet* head(Switch& device, WorkerId from, WorkerId to) {
    if (from == to) {
        const LocalInbox& local = device.worker(from).local;
        return local.taken < local.count ? local.packets[local.taken] : nullptr;
    }
    auto& mailbox = device.shared().mailbox(from, to);
    return mailbox.empty() ? nullptr : mailbox.front();
}

void take(Switch& device, WorkerId from, WorkerId to) {
    if (from == to)
        ++device.worker(from).local.taken;
    else
        device.shared().mailbox(from, to).pop();
}

// An instant stands for the turn before it: in that, a port's wire was as far as its arrivals. A ring filled
// further at once would let the pause that the next arrival calls for wait behind frames of its future.
void pace_ring(PortContext& port, Duration turn, Time now) {
    const Time* arrival = port.io->next_arrival();
    port.link.fill_up_to(arrival != nullptr && *arrival <= now ? turn - (now - *arrival) : turn);
}

bool before(const PacketMeta& a, const PacketMeta& b) {
    return a.ingress_port != b.ingress_port ? a.ingress_port < b.ingress_port : a.sequence < b.sequence;
}

// Whether a step of this instant could do anything at the port, as long as nothing is put into its queues.
bool is_awake(const PortContext& port, Time now) {
    if (!port.link_up || port.hold_peer || port.groups_in_use != 0 || !is_silent(port) || port.trace ||
        is_watched(port))
        return true;
    return has_arrived(port, now);
}

}  // namespace

VirtualRunner::VirtualRunner(const std::vector<Switch*>& switches, Duration turn) : turn_(turn) {
    for (Switch* device : switches) {
        devices_.push_back({device, {}, {}});
        for (const auto& port : device->shared().ports)
            devices_.back().ports.push_back({&device->owner(*port), port.get()});
    }
}

std::optional<Time> VirtualRunner::next() const {
    std::optional<Time> best;
    for (const Device& device : devices_) {
        const Policy& policy = device.device->policy();
        for (const OwnedPort& owned : device.ports) {
            const PortContext& port = *owned.port;
            earlier(best, port.io->next_arrival());
            earlier(best, next_egress(port, policy, now_));
            earlier(best, next_watchdog(port));
        }
    }
    if (!best) return best;
    return on_grid(max(*best, now_));
}

bool VirtualRunner::can_progress() const {
    for (const Device& device : devices_)
        for (const OwnedPort& owned : device.ports)
            if (owned.port->io->expects_frames() || next_watchdog(*owned.port) ||
                has_ready_queue(*owned.port, device.device->policy(), now_))
                return true;
    return false;
}

Time VirtualRunner::on_grid(Time time) const {
    if (turn_.ps == 0) return time;
    const auto turn = static_cast<std::uint64_t>(turn_.ps);
    return {(time.ps + turn - 1) / turn * turn};
}

void VirtualRunner::run() {
    for (Device& device : devices_) run(device);
}

// (c) for all workers: each mailbox is in order, so the least of their heads comes next.
void VirtualRunner::merge(Device& all, Time now) {
    Switch& device = *all.device;
    const auto workers = static_cast<WorkerId>(device.worker_count());
    if (workers == 1) {  // its inbox is in order
        LocalInbox& local = device.worker(0).local;
        const auto packets = std::span(local.packets).first(local.count);
        for (Packet* packet : packets) all.awake.add(meta(packet).egress_port);
        if (!packets.empty()) enqueue(device.worker(0), packets, now);
        local.count = 0;
        return;
    }
    while (true) {
        Packet* least = nullptr;
        WorkerId least_from = 0;
        WorkerId least_to = 0;
        for (WorkerId from = 0; from < workers; ++from) {
            for (WorkerId to = 0; to < workers; ++to) {
                Packet* packet = head(device, from, to);
                if (packet == nullptr || (least != nullptr && !before(meta(packet), meta(least)))) continue;
                least = packet;
                least_from = from;
                least_to = to;
            }
        }
        if (least == nullptr) break;
        take(device, least_from, least_to);
        all.awake.add(meta(least).egress_port);
        enqueue(device.worker(least_to), {&least, 1}, now);
    }
    for (WorkerId w = 0; w < workers; ++w) device.worker(w).local.count = device.worker(w).local.taken = 0;
}

// Control's frames, in the order of ports whatever worker has them.
unsigned VirtualRunner::inject(Device& all, Time now) {
    Switch& device = *all.device;
    unsigned taken = 0;
    bool any = false;
    for (WorkerId w = 0; w < device.worker_count(); ++w) any |= has_injection(device.worker(w));
    for (PortId id = 0; any && id < device.port_count(); ++id) {
        WorkerContext& worker = device.owner(device.port(id));
        while (has_injection(worker) && worker.injections->front() == id && inject_next(worker, now)) {
            all.awake.add(id);
            ++taken;
        }
    }
    return taken;
}

void VirtualRunner::run(Device& all) {
    NoLaps unmetered;  // cycles are never the same twice
    Switch& device = *all.device;
    const Time now = now_;
    // What control has published and what became of links: nothing in an instant changes either.
    for (WorkerId w = 0; w < device.worker_count(); ++w) {
        begin_turn(device.worker(w));
        device.worker(w).now = now;
    }
    for (const OwnedPort& each : all.ports) link_events(*each.owner, *each.port, now);
    all.awake = {};
    for (const OwnedPort& each : all.ports) {
        each.port->link.settle(now);  // also of a port that sleeps for days
        if (is_awake(*each.port, now)) all.awake.add(each.port->id);
    }
    const auto for_each_awake = [&](auto step) {
        all.awake.for_each([&](PortId id) { step(*all.ports[id].owner, *all.ports[id].port); });
    };
    unsigned work = 1;
    while (work != 0) {
        work = 0;
        // All releases first: a group is judged by the pool that all ports have given back to.
        for_each_awake([&](WorkerContext& worker, PortContext& port) { take_releases(worker, port, now); });
        for_each_awake([&](WorkerContext& worker, PortContext& port) {
            judge_groups(worker, port, now);
            if (!port.link_up)
                port.counters.lost_on_wire.add(port.io->lose_until(now));
            else if (has_arrived(port, now))
                work += ingress(worker, port, now, unmetered);
        });
        work += inject(all, now);
        merge(all, now);
        // A storm that begins or ends sets frames free: that is progress, too.
        for_each_awake([&](WorkerContext& worker, PortContext& port) { work += watch(worker, port, now); });
        bool moved = work != 0;  // data
        for_each_awake([&](WorkerContext& worker, PortContext& port) {
            if (turn_.ps != 0) pace_ring(port, turn_, now);
            const std::uint64_t made = port.counters.generated.get();
            const unsigned sent = egress(worker, port, now, unmetered);
            if (sent == 0) return;
            moved |= sent > port.counters.generated.get() - made;
            work += sent;
        });
        if (moved) last_progress_ = now;
    }
}

}  // namespace sluice
