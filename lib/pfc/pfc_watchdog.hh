// The PFC watchdog of a port: finds queues that a peer pauses for ever, and the end of the storm.
//
// A window starts when a queue last transmitted, became non-empty, or was last unpaused for more than 1 % of
// the window. When it reaches `detection` and the queue was paused for more than 99 % of it, that is a storm;
// frames are not counted, so a flapping peer or an idle queue is none. The storm ends when no XOFF has come
// for the restoration time that was set when it began, at the earliest that time after it began. The caller
// carries out the `action` in between. An operator's `cut` puts a queue into the action at once, until it is
// released. The owner of the port calls `check_queue` for every queue that is awake, or paused with packets,
// each turn and after each change. With `poll` 0 the outcome is exact if it also does so at `next_event`: a
// late check uses the end of the pause. Otherwise windows are judged every `poll`, and the result holds until
// the next: under the real clock a turn may be longer than a pause, with the next XOFF waiting to be
// received.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class WatchdogAction : std::uint8_t { drop, forward, alert, off };
constexpr std::string_view to_string(WatchdogAction action) {
    constexpr std::array<std::string_view, 4> words{"drop", "forward", "alert", "off"};
    return words[static_cast<std::size_t>(action)];
}
// True when it discards the queue's packets or ignores its pauses.
constexpr bool cuts(WatchdogAction action) {
    return action == WatchdogAction::drop || action == WatchdogAction::forward;
}
enum class WatchdogState : std::uint8_t {
    off,          // not watched
    operational,  // no window
    suspected,    // a window runs
    stormed,      // the action is in force
    cut,          // likewise, by the operator
};
enum class WatchdogEvent : std::uint8_t {
    start,
    stop,
    pause,        // seen paused with packets
    progress,     // transmitted, emptied, or unpaused for more than 1 % of the window
    detection,    // the window is full
    xoff,         // received for the queue
    restoration,  // the restoration time has passed without one
    link_down,
    cut,
    release,  // of the cut
};
// Starts or ends the action. `begins` during a storm's action replaces it.
enum class WatchdogChange : std::uint8_t { none, begins, ends };

struct WatchdogSettings {
    Duration detection = milliseconds(200);    // in [100 ms, 5 s]
    Duration restoration = milliseconds(400);  // in [100 ms, 60 s]
    Duration poll{};                           // 0: exact
    WatchdogAction action = WatchdogAction::drop;
    bool operator==(const WatchdogSettings&) const = default;
};

// The state of a queue as its owner sees it.
struct QueueSample {
    bool holds_packets = false;
    std::optional<Time> paused_until;  // not after now: not paused
    std::uint64_t sent = 0;            // packets so far
    std::uint64_t xoffs = 0;           // received for it so far
};

class PfcWatchdog {
  public:
    // Windows that run are judged by the new settings, storms keep those they began with.
    void configure(const WatchdogSettings& settings) { settings_ = settings; }

    WatchdogChange check_queue(ClassId queue, const QueueSample& sample, Time now);

    // The state machine of one queue.
    WatchdogChange step(ClassId queue, WatchdogEvent event, Time now);

    // When the next storm begins or ends, if nothing else happens before.
    std::optional<Time> next_event() const;

    // True when until `next_event` only a packet or a change of the pauses can change anything. `paused`: the
    // queues that are, now.
    bool rests(std::uint8_t paused) const {
        if (settings_.poll != Duration{}) return awake_ == 0;
        for (unsigned left = awake_ & ~unsigned{paused}; left != 0; left &= left - 1)
            if (queues_[static_cast<unsigned>(std::countr_zero(left))].state == WatchdogState::suspected)
                return false;
        return true;
    }

    WatchdogState state(ClassId queue) const { return queues_[queue].state; }
    WatchdogAction action(ClassId queue) const { return queues_[queue].action; }  // of its storm or cut
    std::uint8_t awake() const { return awake_; }                                 // suspected, stormed or cut

  private:
    struct Queue {
        WatchdogState state = WatchdogState::off;
        WatchdogAction action = WatchdogAction::drop;
        Time next_poll{};
        // suspected
        Time start{};       // of the window
        Time counted_to{};  // unpaused has the time before
        Duration unpaused{};
        std::optional<Time> paused_until;  // as it was at counted_to
        // stormed
        Time quiet_since{};
        Duration restoration{};
        // as of the last look
        std::uint64_t sent = 0;
        std::uint64_t xoffs = 0;
    };

    WatchdogChange watch_window(ClassId queue, const QueueSample& sample, Time now);
    WatchdogChange watch_storm(ClassId queue, const QueueSample& sample, Time now);
    WatchdogChange begin(Queue& queue, WatchdogState state, Time now) const;
    void open_window(Queue& queue, Time now) const;
    bool full(const Queue& queue, Time now) const;
    bool poll(Queue& queue, Time now) const;
    Time at_poll(const Queue& queue, Time time) const;
    std::optional<Time> next_event(const Queue& queue) const;

    bool is_awake_right(ClassId queue) const;

    std::uint8_t awake_ = 0;
    WatchdogSettings settings_;
    std::array<Queue, classes> queues_{};
};

}  // namespace sluice
