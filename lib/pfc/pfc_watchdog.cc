#include "lib/pfc/pfc_watchdog.hh"

namespace sluice {
namespace {

constexpr std::int64_t hundred = 100;

bool is_paused(const QueueSample& sample, Time now) {
    return sample.paused_until && now < *sample.paused_until;
}

// Time from `from` to `to` in which a queue that is paused until `until` is not.
Duration unpaused_time(std::optional<Time> until, Time from, Time to) {
    const Time open = until ? max(from, *until) : from;
    return open < to ? to - open : Duration{};
}

// Unpaused for more than 1 % of the window, and for less than that: at exactly 1 % it is neither.
bool too_long_unpaused(Duration unpaused, Duration window) { return unpaused.ps > window.ps / hundred; }
bool paused_enough(Duration unpaused, Duration window) {
    return unpaused.ps < (window.ps + hundred - 1) / hundred;
}

}  // namespace

WatchdogChange PfcWatchdog::step(ClassId number, WatchdogEvent event, Time now) {
    using State = WatchdogState;
    using Event = WatchdogEvent;
    Queue& queue = queues_[number];
    const bool acts = queue.state == State::stormed || queue.state == State::cut;
    State to = queue.state;
    switch (event) {
        case Event::start:
            if (queue.state == State::off) to = State::operational;
            break;
        case Event::stop:
            if (queue.state != State::cut) to = State::off;
            break;
        case Event::pause:
            if (queue.state != State::operational) return WatchdogChange::none;
            to = State::suspected;
            open_window(queue, now);
            break;
        case Event::progress:
            if (queue.state == State::suspected) to = State::operational;
            break;
        case Event::detection:
            if (queue.state == State::suspected) return begin(queue, State::stormed, now);
            break;
        case Event::xoff:
            if (queue.state == State::stormed) queue.quiet_since = now;
            return WatchdogChange::none;
        case Event::restoration:
            if (queue.state == State::stormed) to = State::operational;
            break;
        case Event::link_down:
            if (queue.state == State::suspected || queue.state == State::stormed) to = State::operational;
            break;
        case Event::cut:
            if (queue.state == State::cut) return WatchdogChange::none;
            awake_ = static_cast<std::uint8_t>(awake_ | 1U << number);
            return begin(queue, State::cut, now);
        case Event::release:
            if (queue.state == State::cut) to = State::operational;
            break;
    }
    queue.state = to;
    const bool is_awake = to == State::suspected || to == State::stormed || to == State::cut;
    const unsigned bit = 1U << number;
    awake_ = static_cast<std::uint8_t>(is_awake ? awake_ | bit : awake_ & ~bit);
    SLUICE_INVARIANT(is_awake_right(number));
    return acts && !is_awake ? WatchdogChange::ends : WatchdogChange::none;
}

bool PfcWatchdog::is_awake_right(ClassId queue) const {
    const WatchdogState state = queues_[queue].state;
    return ((awake_ >> queue & 1U) != 0) == (state == WatchdogState::suspected ||
                                             state == WatchdogState::stormed || state == WatchdogState::cut);
}

WatchdogChange PfcWatchdog::begin(Queue& queue, WatchdogState state, Time now) const {
    queue.state = state;
    queue.action = settings_.action;
    queue.restoration = settings_.restoration;
    queue.quiet_since = now;
    queue.next_poll = now + settings_.poll;
    return WatchdogChange::begins;
}

void PfcWatchdog::open_window(Queue& queue, Time now) const {
    queue.start = queue.counted_to = now;
    queue.unpaused = {};
    queue.next_poll = now + settings_.poll;
}

WatchdogChange PfcWatchdog::check_queue(ClassId number, const QueueSample& sample, Time now) {
    SLUICE_INVARIANT(is_awake_right(number));
    Queue& queue = queues_[number];
    WatchdogChange change = WatchdogChange::none;
    if (queue.state == WatchdogState::suspected)
        change = watch_window(number, sample, now);
    else if (queue.state == WatchdogState::stormed)
        change = watch_storm(number, sample, now);
    if (queue.state == WatchdogState::operational && sample.holds_packets && is_paused(sample, now))
        step(number, WatchdogEvent::pause, now);
    queue.paused_until = sample.paused_until;
    queue.sent = sample.sent;
    queue.xoffs = sample.xoffs;
    return change;
}

WatchdogChange PfcWatchdog::watch_window(ClassId number, const QueueSample& sample, Time now) {
    Queue& queue = queues_[number];
    const bool was_paused = queue.paused_until && queue.counted_to < *queue.paused_until;
    if (settings_.poll == Duration{} || !was_paused)
        queue.unpaused = queue.unpaused + unpaused_time(queue.paused_until, queue.counted_to, now);
    queue.counted_to = now;
    if (sample.sent != queue.sent || !sample.holds_packets ||
        too_long_unpaused(queue.unpaused, now - queue.start))
        return step(number, WatchdogEvent::progress, now);
    if (!poll(queue, now) || !full(queue, now)) return WatchdogChange::none;
    return step(number, WatchdogEvent::detection, now);
}

bool PfcWatchdog::full(const Queue& queue, Time now) const {
    const Duration window = now - queue.start;
    return window >= settings_.detection && paused_enough(queue.unpaused, window);
}

WatchdogChange PfcWatchdog::watch_storm(ClassId number, const QueueSample& sample, Time now) {
    Queue& queue = queues_[number];
    if (sample.xoffs != queue.xoffs) step(number, WatchdogEvent::xoff, now);
    if (!poll(queue, now) || now - queue.quiet_since < queue.restoration) return WatchdogChange::none;
    return step(number, WatchdogEvent::restoration, now);
}

// True when it is time to judge the queue.
bool PfcWatchdog::poll(Queue& queue, Time now) const {
    if (settings_.poll == Duration{}) return true;
    if (now < queue.next_poll) return false;
    queue.next_poll = queue.next_poll + settings_.poll;
    if (queue.next_poll <= now) queue.next_poll = now + settings_.poll;  // the turn came late
    return true;
}

Time PfcWatchdog::at_poll(const Queue& queue, Time time) const {
    if (settings_.poll == Duration{}) return time;
    const Time first = queue.next_poll;
    if (time <= first) return first;
    const std::int64_t polls = ((time - first).ps + settings_.poll.ps - 1) / settings_.poll.ps;
    return first + settings_.poll * polls;
}

std::optional<Time> PfcWatchdog::next_event() const {
    std::optional<Time> best;
    for_each_class(awake_, [&](ClassId number) {
        const auto at = next_event(queues_[number]);
        if (at && (!best || *at < *best)) best = at;
    });
    return best;
}

std::optional<Time> PfcWatchdog::next_event(const Queue& queue) const {
    if (queue.state == WatchdogState::stormed) return at_poll(queue, queue.quiet_since + queue.restoration);
    if (queue.state != WatchdogState::suspected) return std::nullopt;
    const Time reached = queue.start + settings_.detection;
    const Time open = queue.paused_until ? max(queue.counted_to, *queue.paused_until) : queue.counted_to;
    // While the pause lasts: from here on the unpaused part is less than 1 %.
    const Time paused_at =
        max(max(reached, queue.start + queue.unpaused * hundred + Duration{1}), queue.counted_to);
    if (paused_at <= open && queue.counted_to < open) return at_poll(queue, paused_at);
    // The pause ends before; the rest of the window may be unpaused.
    if (reached <= open) return std::nullopt;
    const Duration unpaused = queue.unpaused + (reached - open);
    return paused_enough(unpaused, settings_.detection) ? std::optional(at_poll(queue, reached))
                                                        : std::nullopt;
}

}  // namespace sluice
