#include "dataplane/run/virtual_switch.hh"

#include <algorithm>
#include <utility>

#include "dataplane/path/egress.hh"
#include "dataplane/path/ingress.hh"
#include "dataplane/path/load_balance.hh"
#include "dataplane/path/punt.hh"
#include "dataplane/path/watchdog.hh"
#include "dataplane/run/hand_off_order.hh"
#include "dataplane/run/port_sleep.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/worker.hh"
#include "lib/values/invariant.hh"

namespace sluice {
namespace {

bool has_arrived(const PortContext& port, Time now) {
    const Time* arrival = port.io->next_arrival();
    return arrival != nullptr && *arrival <= now;
}

// An instant stands for the turn before it, in which a port's wire was as far as its arrivals. A ring filled
// further would let a pause for the next arrival wait behind later frames.
void pace_ring(PortContext& port, Duration turn, Time now) {
    const Time* arrival = port.io->next_arrival();
    port.link.fill_up_to(arrival != nullptr && *arrival <= now ? turn - (now - *arrival) : turn);
}

bool wants_pfc(const PortContext& port) { return (port.want_xoff | port.want_xon) != 0; }

// The longest sleep of a port, and how often all are awake: moments more than 106 days apart cannot be
// compared (Time wraps), and a sleeping port's wire is not settled. An alarm that is at least the difference
// ahead stands for any later arrival, and for none.
constexpr Duration max_sleep{std::int64_t{1} << 61};        // 26 days
constexpr Duration all_awake_every{std::int64_t{1} << 56};  // 20 hours

std::vector<OwnedPort> owned_ports(Switch& device) {
    std::vector<OwnedPort> ports;
    for (const auto& port : device.shared().ports) ports.push_back({&device.owner(*port), port.get()});
    return ports;
}

}  // namespace

VirtualSwitch::VirtualSwitch(Switch& of, Duration turn, Time now)
    : device_(of),
      only_worker_(of.worker_count() == 1 ? &of.worker(0) : nullptr),
      turn_(turn),
      awake_(of.awake()),
      changes_(of.changes()),
      ports_(owned_ports(of)),
      traced_(ports_),
      alarms_(of.port_count(), now),
      expiries_(of.port_count(), now + max_sleep),
      bounds_(of.port_count()),
      in_xoff_(of.port_count()),
      all_awake_(now),
      awake_under_(0) {
    for (const auto& port : of.shared().ports) {
        everyone_.add(port->id);
        if (port->wire) wires_.add(port->id);
    }
}

// A change at a port comes with a policy, or the port reports it.
[[gnu::always_inline]] inline void VirtualSwitch::wake_if_changed(Time now) {
    const std::uint64_t policy = device_.shared().policy.generation();
    if (policy != awake_under_ || now - all_awake_ >= all_awake_every) [[unlikely]]
        wake_all(policy, now);
}

void VirtualSwitch::wake_all(std::uint64_t policy, Time now) {
    settle_traces();  // of the limits before
    to_judge_ = awake_.ports = changes_.pauses = everyone_;
    awake_under_ = policy;
    all_awake_ = now;
}

// The port sleeps until its pause ends, or nothing pauses it.
void VirtualSwitch::set_expiry(PortId id, std::optional<Time> at, Time now) {
    expiries_.set(id, at.value_or(now + max_sleep));
    if (!at) return expiring_.remove(id);
    first_expiry_ = expiring_.empty() ? *at : min(first_expiry_, *at);
    expiring_.add(id);
}

void VirtualSwitch::wake_expired(Time now) {
    PortSet due;
    expiries_.add_due(due, now);
    due &= expiring_;
    awake_.ports |= due;
    due.for_each([&](PortId id) { set_expiry(id, std::nullopt, now); });
    first_expiry_ = now + expiries_.until_earliest(now, max_sleep);
}

std::optional<Time> VirtualSwitch::next(Time now) {
    // A new policy is taken up now, as it may cause XOFF or XON. That wakes all ports.
    if (device_.shared().policy.generation() != awake_under_) return now;
    wake_if_changed(now);
    const Policy& policy = device_.shared().policy.latest();
    Duration wait = max_sleep;  // of those that are awake
    awake_.ports.for_each([&](PortId id) __attribute__((always_inline)) {
        const PortContext& port = *ports_[id].port;
        Duration own = max_sleep;
        if (const Time* arrival = port.io->next_arrival()) own = std::min(own, *arrival - now);
        if (port.link_up && !(is_silent(port) && !port.pause_peer))
            own = std::min(own, until_sending(port, policy, now));
        if (const auto event = next_watchdog(port)) [[unlikely]]
            own = std::min(own, *event - now);
        if (can_sleep(port, policy, turn_, now)) [[likely]] {
            if (port.honor.unexpired() != 0 || expiring_.contains(id)) [[unlikely]]
                set_expiry(id, port.honor.next_expiry(), now);
            awake_.ports.remove(id);
            alarms_.set(id, now + own);
            return;
        }
        if (const auto due = next_on_wire(port)) own = std::min(own, *due - now);
        alarms_.set(id, now + max_sleep);
        wait = std::min(wait, own);
    });
    wait = alarms_.until_earliest(now, wait);
    if (constexpr Duration exact = max_sleep - all_awake_every; wait < exact) return now + wait;
    std::optional<Time> best;
    for (const OwnedPort& each : ports_) take_earlier(best, each.port->io->next_arrival());
    return best;
}

bool VirtualSwitch::can_progress(Time now) const {
    const Policy& policy = device_.policy();
    for (const OwnedPort& owned : ports_)
        if (owned.port->io->expects_frames() || next_watchdog(*owned.port) || next_on_wire(*owned.port) ||
            has_ready_queue(*owned.port, policy, now))
            return true;
    return false;
}

// Nobody has been left out who has something to say; only where invariants are checked.
bool VirtualSwitch::all_are_judged() const {
    return std::ranges::all_of(ports_, [&](const OwnedPort& owned) {
        const PortContext& port = *owned.port;
        const Policy& policy = *owned.owner->policy;
        for (unsigned n = 0; n < classes && !port.pause_peer; ++n) {
            const GroupLimits& limits = policy.ports[port.id].group[n];
            const PoolView pool(device_.shared().ingress_use[limits.pool], policy.ingress_pools[limits.pool]);
            const FreeBounds bounds = port.group[n].free_bounds(limits);
            if (pool.free_cells < bounds.low || pool.free_cells >= bounds.high) return false;
        }
        return true;
    });
}

// Packets received and not yet queued, in order.
std::span<Packet* const> VirtualSwitch::handed_off() {
    if (only_worker_ != nullptr)
        return std::span(only_worker_->local.packets).first(only_worker_->local.count);
    take_handed_off(device_, handed_off_);
    return handed_off_;
}

// (c) for all workers.
[[gnu::always_inline]] inline void VirtualSwitch::merge(Time now) {
    if (only_worker_ != nullptr && only_worker_->local.count == 0) return;
    const std::span<Packet* const> packets = handed_off();
    for (Packet* packet : packets) {
        awake_.ports.add(meta(packet).egress_port);
        served_.add(meta(packet).egress_port);
    }
    if (only_worker_ != nullptr) {
        enqueue(*only_worker_, packets, now);
        only_worker_->local.count = 0;
        return;
    }
    for (Packet* packet : packets)
        enqueue(device_.worker(device_.owner_of(meta(packet).egress_port)), {&packet, 1}, now);
    handed_off_.clear();
}

// (d) of one port.
[[gnu::always_inline]] inline VirtualSwitch::Sent VirtualSwitch::send(PortId id, Time now) {
    NoLaps unmetered;  // cycles are never the same twice
    PortContext& port = *ports_[id].port;
    if (turn_.ps != 0) pace_ring(port, turn_, now);
    const std::uint64_t made = port.counters.generated.get();
    const unsigned sent = egress(*ports_[id].owner, port, now, unmetered);
    if (sent == 0) return {0, false};
    const std::uint64_t ours = port.counters.generated.get() - made;
    progress.idle_frames += ours;
    return {sent, sent > ours};
}

// Behind a port that took a full burst: (c) and (d) for it at once, if it may leave. Returns how many frames
// left.
[[gnu::noinline, gnu::cold]] unsigned VirtualSwitch::send_full_burst(PortId from, Time now) {
    const std::span<Packet* const> packets = handed_off();
    std::size_t before = packets.size();
    while (before != 0 && meta(packets[before - 1]).ingress_port == from) --before;
    const PortContext* const out = idle_way_out(device_.shared(), packets.subspan(before));
    if (out == nullptr) return 0;
    merge(now);
    return send(out->id, now).frames;
}

// The port's pauses may change now.
[[gnu::always_inline]] inline void VirtualSwitch::note_pauses(const PortContext& port) {
    if (port.honor.unexpired() != 0) [[unlikely]]
        changes_.pauses.add(port.id);
}

// A group of the port may hold more or fewer cells.
[[gnu::always_inline]] inline void VirtualSwitch::bound(WorkerContext& worker, const PortContext& port) {
    const std::uint8_t in_xoff = bound_groups(worker, port, bounds_);
    if (std::exchange(in_xoff_[port.id], in_xoff) != in_xoff) [[unlikely]]
        changes_.pauses.add(port.id);
    if (port.pause_peer == behind_.contains(port.id)) [[likely]]
        return;
    port.pause_peer ? behind_.add(port.id) : behind_.remove(port.id);
}

// A group of the port may get cells, or give some back. If it is traced it is judged, and so recorded, next.
[[gnu::always_inline]] inline void VirtualSwitch::about_to_change(PortId id) {
    if (!traced_.any() || !traced_.contains(id)) [[likely]]
        return;
    traced_.about_to_change(id);
    to_judge_.add(id);
}

// All releases first: a group is judged by the pool that all ports have given back to. One that has given
// back is only judged if that, or the pools, have brought it out of its bounds.
[[gnu::always_inline]] inline void VirtualSwitch::take_releases(Time now) {
    PortSet ports = device_.shared().releases.take_touched();
    const bool any = !ports.empty();
    if (!any && behind_.empty()) return;
    ports |= behind_;  // one may let go of its peer
    to_judge_ |= behind_;
    ports.for_each([&](PortId id) {
        about_to_change(id);
        sluice::take_releases(*ports_[id].owner, *ports_[id].port, now);
        bound(*ports_[id].owner, *ports_[id].port);
    });
    if (!any) return;
    changes_.cells |= ports;
    compare_pools();
}

// The pools have moved.
[[gnu::always_inline]] inline void VirtualSwitch::compare_pools() {
    const Shared& shared = device_.shared();
    const Policy& policy = *ports_.front().owner->policy;
    bounds_.add_outside(to_judge_, [&](unsigned pool) {
        return PoolView(shared.ingress_use[pool], policy.ingress_pools[pool]).free_cells;
    });
}

// Those that are to be judged, from `first` up to `last`.
[[gnu::always_inline]] inline void VirtualSwitch::judge(PortId first, PortId last, Time now) {
    const bool traced = traced_.any();
    if (!traced && to_judge_.empty()) return;
    to_judge_.take_between(first, last).for_each([&](PortId id) {
        PortContext& port = *ports_[id].port;
        WorkerContext& worker = *ports_[id].owner;
        const bool is_traced = traced && traced_.contains(id);
        if (is_traced) [[unlikely]]
            traced_.about_to_change(id);
        judge_groups(worker, port, now);
        if (is_traced) [[unlikely]]
            traced_.recorded(id);
        bound(worker, port);
        if (!wants_pfc(port)) return;
        awake_.ports.add(id);
        served_.add(id);
    });
    if (traced) [[unlikely]]
        traced_.see(first, last, now);
}

[[gnu::always_inline]] inline bool VirtualSwitch::has_injections() const {
    if (only_worker_ != nullptr) [[likely]]
        return has_injection(*only_worker_);
    for (WorkerId w = 0; w < device_.worker_count(); ++w)
        if (has_injection(device_.worker(w))) return true;
    return false;
}

// Injects control's frames, in the order of ports.
unsigned VirtualSwitch::inject(Time now) {
    unsigned taken = 0;
    for (PortId id = 0; id < device_.port_count(); ++id) {
        WorkerContext& worker = *ports_[id].owner;
        while (has_injection(worker) && worker.injections->front() == id) {
            about_to_change(id);
            if (!inject_next(worker, now)) break;
            awake_.ports.add(id);
            served_.add(id);
            to_judge_.add(id);
            changes_.cells.add(id);
            ++taken;
        }
    }
    if (taken != 0) compare_pools();
    return taken;
}

// Takes the published policy and link changes: nothing in an instant changes either.
[[gnu::always_inline]] inline void VirtualSwitch::begin(Time now) {
    const auto begin_of = [now](WorkerContext& worker) {
        begin_turn(worker);
        worker.now = now;
    };
    wake_if_changed(now);
    if (only_worker_ != nullptr)
        begin_of(*only_worker_);
    else
        for (WorkerId w = 0; w < device_.worker_count(); ++w) begin_of(device_.worker(w));
    alarms_.add_due(awake_.ports, now);
    if (!expiring_.empty() && first_expiry_ <= now) [[unlikely]]
        wake_expired(now);
    awake_.ports.for_each([&](PortId id) {
        WorkerContext& worker = *ports_[id].owner;
        PortContext& port = *ports_[id].port;
        const bool was_up = port.link_up;
        link_events(worker, port, now);
        if (port.link_up != was_up) {
            to_judge_.add(id);  // a group that kept its cells is over its limit still
            changes_.pauses.add(id);
        }
        take_up_watchdog(worker, port, now);
        port.link.settle(now);
    });
}

// What one port brings in a round.
[[gnu::always_inline]] inline unsigned VirtualSwitch::take_from(WorkerContext& worker, PortContext& port,
                                                                Time now) {
    NoLaps unmetered;
    unsigned work = 0;
    about_to_change(port.id);
    note_pauses(port);
    if (port.wire) [[unlikely]]
        work = release_from_wire(worker, port, now, false);
    if (!port.link_up) {
        port.counters.lost_on_wire.add(port.io->lose_until(now));
    } else if (has_arrived(port, now)) {
        const unsigned received = ingress(worker, port, now, unmetered);
        work += received;
        if (received == burst_size) work += send_full_burst(port.id, now);
        if (has_arrived(port, now)) moved_.add(port.id);
    }
    bound(worker, port);
    changes_.cells.add(port.id);
    compare_pools();
    return work;
}

// Port by port: its groups are judged by what the pools hold now, then it takes what has arrived. What that
// does to ports before it counts in the next round.
[[gnu::always_inline]] inline unsigned VirtualSwitch::take_in(Time now) {
    unsigned work = 0;
    PortId judged = 0;  // those before
    if (traced_.any()) [[unlikely]]
        traced_.begin_round(now);
    served_.for_each([&](PortId id) __attribute__((always_inline)) {
        PortContext& port = *ports_[id].port;
        if (port.link_up && !port.wire && !has_arrived(port, now)) return;
        judge(judged, id, now);
        judged = static_cast<PortId>(id + 1);
        work += take_from(*ports_[id].owner, port, now);
    });
    if (judged < ports_.size()) judge(judged, static_cast<PortId>(ports_.size() - 1), now);
    return work;
}

// A storm that begins or ends frees frames: progress, too.
[[gnu::always_inline]] inline unsigned VirtualSwitch::watch_all(Time now) {
    unsigned work = 0;
    served_.for_each([&](PortId id) {
        PortContext& port = *ports_[id].port;
        if (!is_watched(port)) [[likely]]
            return;
        note_pauses(port);  // and those that what it received has begun
        const unsigned changes = watch_queues(*ports_[id].owner, port, now);
        if (changes == 0) return;
        work += changes;
        moved_.add(id);
        changes_.pauses.add(id);
    });
    return work;
}

// A port that may send more, or has to be watched for what it sent, is served again.
[[gnu::always_inline]] inline VirtualSwitch::Sent VirtualSwitch::send_all(bool balances, Time now) {
    Sent sum{0, false};
    served_.for_each([&](PortId id) {
        const PortContext& port = *ports_[id].port;
        const Sent sent = send(id, now);
        if (balances) [[unlikely]]
            publish_load(*ports_[id].owner, port, now);
        if (sent.frames == 0) return;
        sum.frames += sent.frames;
        sum.data |= sent.data;
        if (is_watched(port) || !port.out.empty() || (port.backlog != 0 && port.link.can_start(now)) ||
            has_arrived(port, now))
            moved_.add(id);
    });
    return sum;
}

void VirtualSwitch::run(Time now) {
    if (changes_.at != now) {
        changes_.at = now;
        changes_.pauses = changes_.cells = {};
    }
    begin(now);
    const bool balances = ports_.front().owner->policy->balance.active;
    served_ = awake_.ports;
    for (bool first = true;; first = false) {
        take_releases(now);
        unsigned work = take_in(now);
        if (has_injections()) [[unlikely]]
            work += inject(now);
        if (!first && work == 0 && served_.empty()) break;
        merge(now);
        work += watch_all(now);
        const Sent sent = send_all(balances, now);
        if (work != 0 || sent.data) progress = {now, 0};
        if (work + sent.frames == 0) break;
        served_ = std::exchange(moved_, {});
        served_ |= balances ? awake_.ports : wires_;
    }
    moved_ = {};
    SLUICE_INVARIANT(all_are_judged());
}

}  // namespace sluice
