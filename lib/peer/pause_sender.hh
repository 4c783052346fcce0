// A sender that obeys PFC, as headroom models it (headroom.hh): the wire of a simulated peer.
//
// A PFC frame of ours that ends at `e` reaches the sender after the cable, and from e + cable + reaction it
// starts no more frames of the class; a frame arrives a cable later. All times here are at the switch: a
// pause holds arrivals from e + 2 cable + reaction until e + 2 cable + quanta. The frame under way finishes.
// PfcHonor (pfc_honor.hh) has the deadlines; a pause that has ended before the sender reacts counts as XON.
// `reaction` holds the peer's quanta and both interface delays. The caller chooses frames; this class models
// the wire, step by step, and says when a class may start. A sender that overshoots (a fault) starts so many
// more wire bytes of a class after it should have stopped; the frame that passes them finishes. A renewed
// pause allows no more.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "lib/pfc/pfc_frame.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

struct PeerDelay {
    Duration cable;     // one way
    Duration reaction;  // from the PFC frame's last bit at the peer to the last start of a frame
};

class PauseSender {
  public:
    static constexpr ClassId no_class = 0xFF;  // of frames that no pause holds: MAC control

    PauseSender(PeerDelay delay, Rate rate) : delay_(delay), byte_time_(rate.byte_time()) {}

    // A PFC frame of ours has left; `end` is its last bit on the wire.
    void receive(const PauseMap& map, Time end) {
        const Time there_and_back = end + delay_.cable * 2;
        changes_.push_back({there_and_back + delay_.reaction, there_and_back, map});
    }

    // Applies the pauses that the sender knows by `now`. Times do not go back.
    void advance(Time now) {
        for (; !changes_.empty() && changes_.front().from <= now; changes_.pop_front())
            take_up(changes_.front());
        honor_.expire(now);
    }

    // The link went down.
    void forget() {
        changes_.clear();
        honor_.forget(now_);
    }

    // As of the last `advance`.
    bool is_paused(ClassId n) const { return (honor_.unexpired() >> n & 1U) != 0; }
    bool is_anything_paused() const { return honor_.unexpired() != 0; }
    // The class is not paused, or the sender overshoots.
    bool may_start(ClassId n) const { return !is_paused(n) || allowance_[n] != 0; }

    // When the wire is free for a frame, and for one of the class if nothing is heard until then.
    Time free_at() const { return max(wire_free_, now_); }
    Time earliest_start(ClassId n) const {
        return n == no_class || may_start(n) ? free_at() : max(honor_.deadline(n), free_at());
    }
    // The next step of a sender whose next frame would start at `start`: that, or an earlier pause.
    Time next_step(Time start) const { return changes_.empty() ? start : min(start, changes_.front().from); }
    enum class Step : std::uint8_t { none, heard, frame };
    // Takes one step if it is due by `now`, which never goes back. `heard`: find `start` anew. `frame`: the
    // caller's frame starts, at `start`; the caller calls `started`, unless it holds the frame back.
    Step step(Time now, std::optional<Time> start) {
        if (!changes_.empty()) {
            const Time heard = changes_.front().from;
            if (heard <= now && (!start || heard <= *start)) {
                advance(heard);
                now_ = max(now_, heard);
                return Step::heard;
            }
        }
        if (!start || *start > now) return Step::none;
        advance(*start);
        now_ = *start;
        return Step::frame;
    }

    void set_overshoot(std::uint64_t bytes) { overshoot_bytes_ = bytes; }
    // A frame of the class, which `may_start`, has started at the last step.
    void started(ClassId n, std::uint32_t wire_bytes) {
        wire_free_ = now_ + byte_time_ * wire_bytes;
        if (n == no_class || !is_paused(n)) return;
        allowance_[n] -= std::min<std::uint64_t>(allowance_[n], wire_bytes);
        overshot_bytes_ += wire_bytes;
    }
    std::uint64_t overshot_bytes() const { return overshot_bytes_; }
    // How long the class has been paused; `now` is not before the last step.
    Duration paused_time(ClassId n, Time now) const { return honor_.paused_time(n, now); }

    // The time at which the next pause takes effect; for a sender that has no frame.
    std::optional<Time> next_change() const {
        return changes_.empty() ? std::nullopt : std::optional(changes_.front().from);
    }

  private:
    struct Change {
        Time from;   // the sender reacts
        Time heard;  // the quanta begin
        PauseMap map;
    };
    void take_up(const Change& change) {
        honor_.expire(change.from);
        for_each_class(change.map.class_enable, [&](ClassId n) {
            const Time until =
                change.heard + byte_time_ * (std::int64_t{change.map.quanta[n]} * quantum_bytes);
            const bool holds = until > change.from;
            if (holds && !is_paused(n)) allowance_[n] = overshoot_bytes_;
            honor_.step(n, holds ? PauseEvent::xoff : PauseEvent::xon, change.from, until);
        });
    }

    PeerDelay delay_;
    Duration byte_time_;
    Time now_{};                  // its own clock: the last step
    Time wire_free_{};            // end of the frame before
    std::deque<Change> changes_;  // at most those that fit on the cable and in the reaction time
    PfcHonor honor_;              // as of now_
    std::uint64_t overshoot_bytes_ = 0;
    std::uint64_t overshot_bytes_ = 0;
    std::array<std::uint64_t, sluice::classes> allowance_{};  // only of paused classes
};

}  // namespace sluice
