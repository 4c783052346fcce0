// The sending side of PFC at a port (IEEE 802.1Q clause 36): the asserted pauses, and the frame, if any, that
// a turn must send.
//
// Each turn the buffer names the priorities that want XOFF and XON; others stay as they are. A frame carries
// every priority that changed and every refresh that is due: XOFF with `quanta`, again after half that time
// on this link while the priority stays off, XON once with 0. The frame goes ahead of all data, at once:
// `now` starts the refresh timer. A pause never names a priority outside `lossless`. A paused priority that
// may no longer be sent for (mode or profile changed) gets its XON with the next `decide`. The owner of the
// port calls it.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>

#include "lib/pfc/pfc_frame.hh"
#include "lib/threads/counters.hh"
#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class AssertState : std::uint8_t { on, off };
enum class AssertEvent : std::uint8_t { want_xoff, want_xon, refresh_due, link_down };
enum class AssertAction : std::uint8_t { none, send_xoff, send_refresh, send_xon };

struct PfcSendSettings {
    // Half of a pause must outlast the frame that refreshes it: with less, refreshes alone would fill the
    // wire.
    static constexpr std::uint16_t min_quanta = 2 * wire_bytes(pfc_frame_bytes) / quantum_bytes + 1;

    std::uint8_t lossless = 0;      // priorities that a pause may name
    std::uint8_t may_send = 0;      // part of lossless; see PfcMasks
    std::uint16_t quanta = 0xFFFF;  // at least min_quanta
    Rate rate = gigabits(100);      // of the link
    bool operator==(const PfcSendSettings&) const = default;
};

class PfcGenerator {
  public:
    struct Counters {
        Counter tx_xoff;  // refreshes included
        Counter tx_xon;
        Counter tx_refresh;
        Counter tx_late;      // refreshes after the end of the pause, when the peer was free
        Counter unheld_ps;    // total time that it was free
        Counter transitions;  // from on to off
        Counter asserted_ps;  // up to the last `settle`, or the end of the last pause
    };

    // Live: asserted pauses stay asserted, running refresh timers run on.
    void configure(const PfcSendSettings& settings);

    // The masks are disjoint, want_xoff within lossless. A pause that the mode forbids is not asserted. At a
    // shutdown, or when the port stops, want_xon is asserted().
    std::optional<PauseMap> decide(std::uint8_t want_xoff, std::uint8_t want_xon, Time now) {
        assert((want_xoff & ~settings_.lossless) == 0 && "a pause map never names a lossy class");
        SLUICE_INVARIANT(has_live_refreshes());
        const bool due = off_ != 0 && earliest_ <= now;
        const unsigned changed = (want_xoff & may_send() & ~off_) | (want_xon & off_) | (off_ & ~may_send());
        if (changed == 0 && !due) [[likely]]
            return std::nullopt;
        return decide_changed(want_xoff, want_xon, now);
    }
    // Link down, or the watchdog took `priorities` over: forgets them without XON.
    void reset(Time now, std::uint8_t priorities = 0xFF);

    std::optional<Time> next_refresh() const { return off_ != 0 ? std::optional(earliest_) : std::nullopt; }
    std::uint8_t asserted() const { return off_; }

    void settle(Time now);  // brings asserted_ps up to `now` for the pauses that run
    Duration asserted_time(ClassId priority, Time now) const;  // the owner's view, running pause included

    AssertState state(ClassId priority) const {
        return (off_ >> priority & 1U) != 0 ? AssertState::off : AssertState::on;
    }
    const Counters& counters(ClassId priority) const { return counters_[priority]; }

    // The state machine of one priority, counters included.
    AssertAction step(ClassId priority, AssertEvent event, Time now);

  private:
    std::uint8_t may_send() const { return settings_.may_send; }
    std::optional<PauseMap> decide_changed(std::uint8_t want_xoff, std::uint8_t want_xon, Time now);
    void find_earliest();
    // A priority in XOFF has a refresh that is not before `earliest_`.
    bool has_live_refreshes() const;

    std::uint8_t off_ = 0;
    Time earliest_{};                         // of the refreshes of off_
    std::array<Time, classes> refresh_{};     // only of off_
    std::array<Time, classes> counted_to_{};  // only of off_: asserted_ps has the time before
    Duration refresh_interval_{};
    PfcSendSettings settings_{};
    std::array<Counters, classes> counters_{};
};

}  // namespace sluice
