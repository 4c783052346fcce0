// The receiving side of PFC at a port: the end of each priority's pause (IEEE 802.3 Annex 31D, IEEE 802.1Q
// clause 36).
//
// A deadline is the end of the frame + quanta x 512 / R: it replaces the one before, 0 resumes now, a cleared
// bit leaves its priority alone. The port acts on a frame when it starts, so a pause that ends before that
// frame has ended still runs to its own deadline. A priority is paused while now < deadline; `expire` forgets
// ended pauses, so nothing stale is ever compared (Time wraps). The frame that is being serialized finishes.
// The owner of the port calls it: `receive` for each PFC frame in order of arrival, `expire` each turn. Any
// thread reads the counters; a frame that names the priority counts in one of rx_xoff, rx_xon and
// rx_unexpected.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "lib/pfc/pfc_frame.hh"
#include "lib/threads/counters.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class PauseState : std::uint8_t { running, paused };
enum class PauseEvent : std::uint8_t { xoff, xon, expiry, link_down };

class PfcHonor {
  public:
    struct Counters {
        Counter rx_xoff;
        Counter rx_xon;
        Counter rx_unexpected;  // PFC is not enabled for the priority: ignored
        Counter expired;        // resumed by itself
        Counter transitions;    // from running to paused
        Counter paused_ps;      // up to the last `settle`, or the end of the last pause
    };

    // A frame on the wire from `start` to `end`. `enabled`: priorities that this port honors. `obeyed`: when
    // the port acts on it, not before `end`.
    void receive(const PauseMap& map, Time start, Time end, Time obeyed, Rate rate, std::uint8_t enabled);
    void receive(const PauseMap& map, Time start, Time end, Rate rate, std::uint8_t enabled) {
        receive(map, start, end, end, rate, enabled);
    }

    // Mask of the priorities that may not start a frame at `now`.
    std::uint8_t paused(Time now) const {
        if (paused_ == 0 || now < earliest_) [[likely]]
            return paused_;
        return still_paused(now);
    }
    // True when `expire` has a pause to forget.
    bool expires(Time now) const { return paused_ != 0 && earliest_ <= now; }
    void expire(Time now) {
        if (expires(now)) expire_passed(now);
    }
    std::optional<Time> next_expiry() const { return paused_ != 0 ? std::optional(earliest_) : std::nullopt; }

    // The link went down: the pauses of `priorities` are forgotten.
    void forget(Time now, std::uint8_t priorities = 0xFF);

    // The watchdog takes `priorities` over: their pauses are counted, not obeyed. Afterwards `obey` obeys
    // those that still run.
    void suspend(Time now, std::uint8_t priorities);
    void obey(Time now, std::uint8_t priorities);
    // Forgets ignored pauses that have ended, before Time wraps.
    void expire_ignored(Time now);

    // Brings paused_ps up to `now` for the pauses that run.
    void settle(Time now);
    // The owner's view of paused_ps at `now`, running pause included.
    Duration paused_time(ClassId priority, Time now) const;

    PauseState state(ClassId priority) const {
        return (paused_ >> priority & 1U) != 0 ? PauseState::paused : PauseState::running;
    }
    std::uint8_t unexpired() const { return paused_; }  // and those that `expire` has not yet ended
    Time deadline(ClassId priority) const { return deadline_[priority]; }  // of a paused one
    const Counters& counters(ClassId priority) const { return counters_[priority]; }

    // The state machine of one priority; the deadline of an xoff is `until`.
    void step(ClassId priority, PauseEvent event, Time now, Time until = {});

  private:
    std::uint8_t still_paused(Time now) const;
    void expire_passed(Time now);
    void pause(ClassId priority, Time now);
    void resume(ClassId priority, Time now);
    void find_earliest();

    std::uint8_t paused_ = 0;
    std::uint8_t suspended_ = 0;              // none of paused_
    std::uint8_t ignored_ = 0;                // of suspended_: the peer pauses it
    Time earliest_{};                         // of the deadlines of paused_
    std::array<Time, classes> deadline_{};    // only of paused_ and ignored_
    std::array<Time, classes> counted_to_{};  // only of paused_: paused_ps has the time before
    std::array<Counters, classes> counters_{};
};

}  // namespace sluice
