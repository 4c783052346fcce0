#include "dataplane/run/virtual_runner.hh"

#include <algorithm>
#include <utility>

#include "dataplane/path/egress.hh"
#include "dataplane/path/ingress.hh"
#include "dataplane/path/load_balance.hh"
#include "dataplane/path/punt.hh"
#include "dataplane/path/watchdog.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/worker.hh"

namespace sluice {
namespace {

bool has_arrived(const PortContext& port, Time now) {
    const Time* arrival = port.io->next_arrival();
    return arrival != nullptr && *arrival <= now;
}

bool has_injections(Switch& device) {
    for (WorkerId w = 0; w < device.worker_count(); ++w)
        if (has_injection(device.worker(w))) return true;
    return false;
}

// The first packet that `from` has for `to`; null when there is none.
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

// An instant stands for the turn before it, in which a port's wire was as far as its arrivals. A ring filled
// further would let a pause for the next arrival wait behind later frames.
void pace_ring(PortContext& port, Duration turn, Time now) {
    const Time* arrival = port.io->next_arrival();
    port.link.fill_up_to(arrival != nullptr && *arrival <= now ? turn - (now - *arrival) : turn);
}

bool before(const PacketMeta& a, const PacketMeta& b) {
    return a.ingress_port != b.ingress_port ? a.ingress_port < b.ingress_port : a.sequence < b.sequence;
}

bool wants_pfc(const PortContext& port) { return (port.want_xoff | port.want_xon) != 0; }

// When a wire lets go of a frame that it holds.
std::optional<Time> next_on_wire(const PortContext& port) {
    return port.wire ? port.wire->next_due() : std::nullopt;
}

// True when nothing can happen at the port before its next frame arrives or leaves, unless a packet enters
// its queues, a limit of its groups moves, or control changes something.
bool can_sleep(const PortContext& port, Duration turn) {
    if (!port.link_up || port.pause_peer || port.trace || is_watched(port) || next_on_wire(port))
        return false;
    // On a grid of turns its ring is filled at each.
    return turn.ps == 0 || (port.groups_in_use == 0 && is_silent(port));
}

// The longest sleep of a port, and how often all are awake: moments more than 106 days apart cannot be
// compared (Time wraps), and a sleeping port's wire is not settled. An alarm that is at least the difference
// ahead stands for any later arrival, and for none.
constexpr Duration max_sleep{std::int64_t{1} << 61};        // 26 days
constexpr Duration all_awake_every{std::int64_t{1} << 56};  // 20 hours

}  // namespace

VirtualRunner::Device::Device(Switch* of, Time now)
    : device(of), awake(of->awake()), alarms(of->port_count(), now), all_awake(now) {}

VirtualRunner::VirtualRunner(const std::vector<Switch*>& switches, Duration turn)
    : calendar_(switches.size()), turn_(turn) {
    woken_.reserve(switches.size());
    ran_.reserve(switches.size());
    for (Switch* device : switches) {
        Device& all = devices_.emplace_back(device, now_);
        for (const auto& port : device->shared().ports) {
            all.ports.push_back({&device->owner(*port), port.get()});
            all.everyone.add(port->id);
        }
        all.judged_at.resize(all.ports.size());
        all.awake.report_to(&woken_, static_cast<std::uint32_t>(devices_.size() - 1));
        all.awake.wake();
    }
}

VirtualRunner::~VirtualRunner() {
    for (const Device& all : devices_) all.awake.report_to(nullptr, 0);
}

// A change at a port comes with a policy, or the port reports it.
void VirtualRunner::wake_if_changed(Device& all) const {
    const std::uint64_t policy = all.device->shared().policy.generation();
    if (policy == all.awake_under && now_ - all.all_awake < all_awake_every) [[likely]]
        return;
    ++all.moves;
    all.awake.ports = all.everyone;
    all.awake_under = policy;
    all.all_awake = now_;
}

// Ports that can sleep go to sleep.
std::optional<Time> VirtualRunner::next(Device& all) const {
    // A new policy is taken up now, as it may cause XOFF or XON. That wakes all ports.
    if (all.device->generation() != all.awake_under) return now_;
    std::optional<Time> best;
    wake_if_changed(all);
    const Policy& policy = all.device->policy();
    all.awake.ports.for_each([&](PortId id) {
        const PortContext& port = *all.ports[id].port;
        const Time* arrival = port.io->next_arrival();
        Time alarm = now_ + max_sleep;
        const std::optional<Time> leaves = next_egress(port, policy, now_);
        all.judged.remove(id);
        if (can_sleep(port, turn_)) {
            if (arrival != nullptr) alarm = min(alarm, *arrival);
            if (leaves) alarm = min(alarm, *leaves);
            all.awake.ports.remove(id);
            if (port.groups_in_use != 0) all.judged.add(id);
        } else {
            take_earlier(best, arrival);
            take_earlier(best, leaves);
            take_earlier(best, next_watchdog(port));
            take_earlier(best, next_on_wire(port));
        }
        all.alarms.set(id, alarm);
    });
    const Duration sleep = all.alarms.until_earliest(now_, max_sleep);
    if (constexpr Duration exact = max_sleep - all_awake_every; sleep < exact)
        take_earlier(best, now_ + sleep);
    else if (!best || *best - now_ >= exact)
        for (const OwnedPort& each : all.ports) take_earlier(best, each.port->io->next_arrival());
    return best;
}

void VirtualRunner::look_at(std::uint32_t number) {
    Device& device = devices_[number];
    device.awake.forget();
    calendar_.set(number, next(device));
}

std::optional<Time> VirtualRunner::next() {
    for (const std::uint32_t number : woken_) look_at(number);
    woken_.clear();
    return calendar_.earliest();
}

void VirtualRunner::rouse() {
    for (const std::uint32_t number : woken_) {
        devices_[number].awake.forget();
        calendar_.set(number, now_);
    }
    woken_.clear();
}

bool VirtualRunner::can_progress() const {
    for (const Device& device : devices_)
        for (const OwnedPort& owned : device.ports)
            if (owned.port->io->expects_frames() || next_watchdog(*owned.port) || next_on_wire(*owned.port) ||
                has_ready_queue(*owned.port, device.device->policy(), now_))
                return true;
    return false;
}

Time VirtualRunner::on_grid(Time time) const {
    if (turn_.ps == 0) return time;
    const auto turn = static_cast<std::uint64_t>(turn_.ps);
    return {(time.ps + turn - 1) / turn * turn};
}

void VirtualRunner::enter(Time begin, Time until) {
    ran_.clear();
    for (auto at = calendar_.earliest(); at && (*at <= begin || *at < until); at = calendar_.earliest())
        ran_.push_back({*calendar_.take_due(*at), max(*at, begin)});
    std::sort(ran_.begin(), ran_.end(), [](const Due& a, const Due& b) { return a.number < b.number; });
    last_ = begin;
}

void VirtualRunner::attend(const Due& due) {
    now_ = due.at;
    devices_[due.number].awake.attend();
    devices_[due.number].progress = {};
}

// To the switch's next instant, if it is in the window.
bool VirtualRunner::goes_on(std::uint32_t number, Time until) {
    Device& device = devices_[number];
    const std::optional<Time> at = next(device);
    if (at && max(*at, now_) < until) {
        now_ = max(*at, now_);
        return true;
    }
    device.awake.forget();
    calendar_.set(number, at);
    last_ = max(last_, now_);
    const Progress& own = device.progress;
    if (own.moved) progress_.moved = max(progress_.moved.value_or(*own.moved), *own.moved);
    progress_.idle_frames += own.idle_frames;
    return false;
}

VirtualRunner::Progress VirtualRunner::take_progress() { return std::exchange(progress_, {}); }

// Packets received and not yet queued, in order. Each mailbox is in order, so the least of their heads comes
// next.
std::span<Packet* const> VirtualRunner::handed_off(Device& all) {
    Switch& device = *all.device;
    const auto workers = static_cast<WorkerId>(device.worker_count());
    if (workers == 1) {
        LocalInbox& local = device.worker(0).local;
        return std::span(local.packets).first(local.count);
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
        all.handed_off.push_back(least);
    }
    for (WorkerId w = 0; w < workers; ++w) device.worker(w).local.count = device.worker(w).local.taken = 0;
    return all.handed_off;
}

// (c) for all workers.
void VirtualRunner::merge(Device& all, Time now) {
    Switch& device = *all.device;
    const std::span<Packet* const> packets = handed_off(all);
    for (Packet* packet : packets) all.awake.ports.add(meta(packet).egress_port);
    if (device.worker_count() == 1) {
        if (!packets.empty()) enqueue(device.worker(0), packets, now);
        device.worker(0).local.count = 0;
        return;
    }
    for (Packet* packet : packets)
        enqueue(device.worker(device.owner_of(meta(packet).egress_port)), {&packet, 1}, now);
    all.handed_off.clear();
}

// (d) of one port.
[[gnu::always_inline]] inline VirtualRunner::Sent VirtualRunner::send(Device& all, PortId id,
                                                                      Time now) const {
    NoLaps unmetered;  // cycles are never the same twice
    PortContext& port = *all.ports[id].port;
    if (turn_.ps != 0) pace_ring(port, turn_, now);
    const std::uint64_t made = port.counters.generated.get();
    const unsigned sent = egress(*all.ports[id].owner, port, now, unmetered);
    if (sent == 0) return {0, false};
    const std::uint64_t ours = port.counters.generated.get() - made;
    all.progress.idle_frames += ours;
    return {sent, sent > ours};
}

// Behind a port that took a full burst: (c) and (d) for it at once, if it may leave. Returns how many frames
// left.
[[gnu::noinline, gnu::cold]] unsigned VirtualRunner::send_full_burst(Device& all, PortId from,
                                                                     Time now) const {
    const std::span<Packet* const> packets = handed_off(all);
    std::size_t before = packets.size();
    while (before != 0 && meta(packets[before - 1]).ingress_port == from) --before;
    const PortContext* const out = idle_way_out(all.device->shared(), packets.subspan(before));
    if (out == nullptr) return 0;
    merge(all, now);
    return send(all, out->id, now).frames;
}

void VirtualRunner::take_all_releases(Device& all, const PortMask& ports, Time now) {
    const std::uint64_t batches = all.device->shared().releases.batches();
    const bool any = batches != all.collected;
    if (any) {
        all.collected = batches;
        ++all.moves;
    }
    ports.for_each([&](PortId id) {
        PortContext& port = *all.ports[id].port;
        if (port.pause_peer) all.judged_at[id] = 0;  // it may let go of its peer
        if (any || port.pause_peer) take_releases(*all.ports[id].owner, port, now);
    });
}

// A port that is traced is judged at every instant, for its trace.
void VirtualRunner::judge_port(Device& all, PortId id, Time now) {
    PortContext& port = *all.ports[id].port;
    if (all.judged_at[id] == all.moves && !port.trace) return;
    all.judged_at[id] = all.moves;
    judge_groups(*all.ports[id].owner, port, now);
    if (wants_pfc(port)) all.awake.ports.add(id);
}

// True when another round of the instant may move something although no group sends XOFF or XON.
bool VirtualRunner::may_go_on(Device& all, Time now) {
    bool any = has_injections(*all.device) || all.device->policy().balance.active;
    all.awake.ports.for_each([&](PortId id) {
        const PortContext& port = *all.ports[id].port;
        any |= has_arrived(port, now) || !is_silent(port) || is_watched(port) || port.pause_peer ||
               port.wire || port.trace;
    });
    return any;
}

// True when a port wants to send PFC.
bool VirtualRunner::judge_all(Device& all, const PortMask& ports, Time now) {
    bool any = false;
    ports.for_each([&](PortId id) {
        judge_port(all, id, now);
        any |= wants_pfc(*all.ports[id].port);
    });
    return any;
}

// Injects control's frames, in the order of ports.
unsigned VirtualRunner::inject(Device& all, Time now) {
    Switch& device = *all.device;
    if (!has_injections(device)) [[likely]]
        return 0;
    unsigned taken = 0;
    for (PortId id = 0; id < device.port_count(); ++id) {
        WorkerContext& worker = device.owner(device.port(id));
        while (has_injection(worker) && worker.injections->front() == id && inject_next(worker, now)) {
            all.awake.ports.add(id);
            ++taken;
        }
    }
    return taken;
}

void VirtualRunner::run(Device& all) {
    NoLaps unmetered;
    Switch& device = *all.device;
    const Time now = now_;
    // Take the published policy and link changes first: nothing in an instant changes either.
    for (WorkerId w = 0; w < device.worker_count(); ++w) {
        begin_turn(device.worker(w));
        device.worker(w).now = now;
    }
    wake_if_changed(all);
    all.awake.ports |= all.alarms.due(now);
    const auto for_each_awake = [&](auto step) {
        all.awake.ports.for_each([&](PortId id) { step(*all.ports[id].owner, *all.ports[id].port); });
    };
    for_each_awake([&](WorkerContext& worker, PortContext& port) {
        const bool was_up = port.link_up;
        link_events(worker, port, now);
        if (port.link_up != was_up) ++all.moves;  // a group that kept its cells is over its limit still
        take_up_watchdog(worker, port, now);
        port.link.settle(now);
    });
    for (bool first = true;; first = false) {
        // All releases first: a group is judged by the pool that all ports have given back to.
        PortMask judged = all.judged;
        judged |= all.awake.ports;
        take_all_releases(all, judged, now);
        if (!first && !may_go_on(all, now) && !judge_all(all, judged, now)) break;
        unsigned work = 0;
        judged.for_each([&](PortId id) {
            judge_port(all, id, now);
            if (!all.awake.ports.contains(id)) return;
            PortContext& port = *all.ports[id].port;
            if (port.wire) [[unlikely]] {
                const unsigned released = release_from_wire(*all.ports[id].owner, port, now, false);
                if (released != 0) ++all.moves;
                work += released;
            }
            if (!port.link_up) {
                port.counters.lost_on_wire.add(port.io->lose_until(now));
            } else if (has_arrived(port, now)) {
                const unsigned received = ingress(*all.ports[id].owner, port, now, unmetered);
                ++all.moves;
                work += received;
                if (received == burst_size) work += send_full_burst(all, id, now);
            }
        });
        if (const unsigned injected = inject(all, now); injected != 0) {
            ++all.moves;
            work += injected;
        }
        merge(all, now);
        // A storm that begins or ends frees frames: progress, too.
        for_each_awake([&](WorkerContext& worker, PortContext& port) { work += watch(worker, port, now); });
        bool moved = work != 0;  // data
        all.awake.ports.for_each([&](PortId id) {
            const Sent sent = send(all, id, now);
            WorkerContext& worker = *all.ports[id].owner;
            if (worker.policy->balance.active) [[unlikely]]
                publish_load(worker, *all.ports[id].port, now);
            moved |= sent.data;
            work += sent.frames;
        });
        if (moved) all.progress = {now, 0};
        if (work == 0) break;
    }
}

}  // namespace sluice
