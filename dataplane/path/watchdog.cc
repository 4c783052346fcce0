#include "dataplane/path/watchdog.hh"

#include <utility>

#include "dataplane/path/drop.hh"
#include "dataplane/path/egress.hh"
#include "dataplane/path/note_spells.hh"

namespace sluice {
namespace {

// The input of a queue's watchdog. Several priorities may pause one queue: the last of them to end counts.
QueueSample sample_of(const PortContext& port, const PortPolicy& policy, ClassId queue) {
    QueueSample sample;
    sample.holds_packets = (port.backlog >> queue & 1U) != 0;
    sample.sent = port.counters.queue[queue].tx.packets.get();
    for_each_class(policy.watchdog.priorities[queue], [&](ClassId n) {
        sample.xoffs += port.honor.counters(n).rx_xoff.get();
        if (port.honor.state(n) != PauseState::paused) return;
        const Time until = port.honor.deadline(n);
        sample.paused_until = sample.paused_until ? max(*sample.paused_until, until) : until;
    });
    return sample;
}

void forget_asserted(PortContext& port, std::uint8_t priorities, Time now) {
    port.generator.reset(now, priorities);
    port.want_xoff = static_cast<std::uint8_t>(port.want_xoff & ~priorities);
    port.want_xon = static_cast<std::uint8_t>(port.want_xon & ~priorities);
    if (port.trace) port.trace->pauses_changed(now, port.generator.asserted());
}

void end(PortContext& port, ClassId queue, Time now) {
    PortWatchdog& watchdog = port.watchdog;
    unsigned others = 0;  // a map that changed meanwhile may have given one of ours to another queue
    for (unsigned n = 0; n < classes; ++n) others |= n == queue ? 0U : watchdog.taken[n];
    const auto priorities =
        static_cast<std::uint8_t>(std::exchange(watchdog.taken[queue], std::uint8_t{0}) & ~others);
    const unsigned muted = watchdog.mutes & priorities;
    watchdog.discards = static_cast<std::uint8_t>(watchdog.discards & ~(1U << queue));
    watchdog.mutes = static_cast<std::uint8_t>(watchdog.mutes & ~priorities);
    port.honor.obey(now, priorities);
    note_obeyed(port, now);
    // Send the XOFFs that were muted meanwhile.
    for_each_class(muted, [&](ClassId n) {
        if (port.group[n].in_xoff()) port.want_xoff = static_cast<std::uint8_t>(port.want_xoff | 1U << n);
    });
}

// Frames that the driver has refused so far; their charges went back when they left their queue.
unsigned discard_from_out(WorkerContext& worker, PortContext& port, ClassId queue) {
    return port.out.discard(
        [&](Packet* packet) {
            port.counters.queue[queue].dropped.add(1);
            drop(worker, packet, DropReason::watchdog_drop, true);
        },
        queue);
}

void begin(WorkerContext& worker, PortContext& port, ClassId queue, Time now) {
    PortWatchdog& watchdog = port.watchdog;
    if (watchdog.taken[queue] != 0) end(port, queue, now);
    WatchdogCounters& counters = watchdog.counters[queue];
    const WatchdogAction action = watchdog.machine.action(queue);
    counters.action.set(static_cast<std::uint64_t>(action));
    watchdog.sent_before[queue] = port.counters.queue[queue].tx.packets.get();
    if (!cuts(action)) return;
    const std::uint8_t priorities = worker.policy->ports[port.id].watchdog.priorities[queue];
    watchdog.taken[queue] = priorities;
    port.honor.suspend(now, priorities);
    note_obeyed(port, now);
    if (action == WatchdogAction::forward) return;
    watchdog.discards = static_cast<std::uint8_t>(watchdog.discards | 1U << queue);
    watchdog.mutes = static_cast<std::uint8_t>(watchdog.mutes | priorities);
    forget_asserted(port, priorities, now);
    counters.drop(discard_queue(worker, port, queue, DropReason::watchdog_drop, now) +
                  discard_from_out(worker, port, queue));
}

// Counts the packets that have left while the action is in force.
void count_passed(PortContext& port, ClassId queue) {
    PortWatchdog& watchdog = port.watchdog;
    const std::uint64_t sent = port.counters.queue[queue].tx.packets.get();
    const std::uint64_t passed = sent - std::exchange(watchdog.sent_before[queue], sent);
    if (passed == 0) return;
    WatchdogCounters& counters = watchdog.counters[queue];
    counters.storm_passed.add(passed);
    counters.total_passed.add(passed);
    if (watchdog.taken[queue] != 0) counters.against_pause.add(passed);
}

bool acts(WatchdogState state) { return state == WatchdogState::stormed || state == WatchdogState::cut; }

// Takes one step of the state machine with `step`, and carries out its result; returns the number of actions
// that began or ended.
template <class Take>
unsigned take(WorkerContext& worker, PortContext& port, ClassId queue, Time now, Take step) {
    PfcWatchdog& machine = port.watchdog.machine;
    WatchdogCounters& counters = port.watchdog.counters[queue];
    const WatchdogState before = machine.state(queue);
    if (acts(before)) count_passed(port, queue);
    const WatchdogChange change = step(machine);
    const WatchdogState after = machine.state(queue);
    if (before == after) return 0;
    counters.state.set(static_cast<std::uint64_t>(after));
    if (change == WatchdogChange::none) return 0;
    if (before == WatchdogState::stormed) counters.restored.add(1);
    if (after == WatchdogState::stormed) counters.detected.add(1);
    if (change == WatchdogChange::ends) {
        end(port, queue, now);
    } else {
        // A storm that becomes a cut keeps its counts.
        if (before != WatchdogState::stormed) counters.begin();
        begin(worker, port, queue, now);
    }
    if (before == WatchdogState::stormed || after == WatchdogState::stormed)
        note_storm(port, queue, after == WatchdogState::stormed, now);
    worker.watchdog_changes.add(1);
    return 1;
}

unsigned take(WorkerContext& worker, PortContext& port, ClassId queue, Time now, WatchdogEvent event) {
    return take(worker, port, queue, now,
                [&](PfcWatchdog& machine) { return machine.step(queue, event, now); });
}

}  // namespace

void take_up_settings(WorkerContext& worker, PortContext& port, Time now) {
    const WatchdogPolicy& policy = worker.policy->ports[port.id].watchdog;
    port.watchdog.settings_changed = false;
    port.watchdog.machine.configure(policy.settings);
    for (ClassId n = 0; n < classes; ++n) {
        const auto is_in = [n](unsigned mask) { return (mask >> n & 1U) != 0; };
        take(worker, port, n, now, is_in(policy.cut) ? WatchdogEvent::cut : WatchdogEvent::release);
        take(worker, port, n, now, is_in(policy.watched) ? WatchdogEvent::start : WatchdogEvent::stop);
    }
}

unsigned watch_queues(WorkerContext& worker, PortContext& port, Time now) {
    if (!port.link_up) return 0;
    unsigned changes = 0;
    const PortPolicy& policy = worker.policy->ports[port.id];
    const std::uint8_t awake = port.watchdog.machine.awake();
    if (awake != 0) port.honor.expire_ignored(now);
    const std::uint8_t paused = map_classes(policy.map.pfc_priority_to_queue, port.honor.paused(now));
    for_each_class((paused & port.backlog) | awake, [&](ClassId queue) {
        const QueueSample sample = sample_of(port, policy, queue);
        changes += take(worker, port, queue, now,
                        [&](PfcWatchdog& machine) { return machine.check_queue(queue, sample, now); });
    });
    return changes;
}

void watch_link_down(WorkerContext& worker, PortContext& port, Time now) {
    for_each_class(port.watchdog.machine.awake(),
                   [&](ClassId queue) { take(worker, port, queue, now, WatchdogEvent::link_down); });
}

}  // namespace sluice
