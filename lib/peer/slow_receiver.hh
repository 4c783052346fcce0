// A peer that takes our frames more slowly than the link: a small buffer, XOFF when it fills, XON when it has
// drained to a lower level, XOFF repeated at half its time meanwhile.
//
// The buffer drains at `drain`; its depth is the time until it is empty. `receive` takes each frame's last
// bit, in order; pauses come out in order of time, each final once `receive` has had every frame that ended
// before. The caller adds the cable's delay.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "lib/values/units.hh"

namespace sluice {

class SlowReceiver {
  public:
    struct Pause {
        Time at;
        bool off;  // XOFF, else XON
    };

    // Bytes of the buffer: XOFF goes above `xoff`, XON at `xon`, which is not above it.
    struct Levels {
        std::uint64_t xoff;
        std::uint64_t xon;
    };
    // No `drain`: as fast as the link. A running XOFF ends. `refresh`: half the pause time.
    void configure(std::optional<Rate> drain, Levels levels, Duration refresh, Time now) {
        advance(now);
        byte_time_ = drain ? drain->byte_time() : Duration{};
        full_ = byte_time_ * static_cast<std::int64_t>(levels.xoff);
        resumes_ = byte_time_ * static_cast<std::int64_t>(levels.xon);
        refresh_ = refresh;
        empty_at_ = now;
        if (off_) say(now, false);
    }

    void receive(Time end, std::uint32_t bytes) {
        if (byte_time_.ps == 0) return;
        advance(end);
        empty_at_ = max(empty_at_, end) + byte_time_ * bytes;
        if (!off_ && empty_at_ - end > full_) say(end, true);
    }

    // The next pause it sends, if nothing more arrives.
    std::optional<Time> next() const {
        if (!said_.empty()) return said_.front().at;
        return off_ ? std::optional(next_by_itself()) : std::nullopt;
    }
    // The next one at or before `now`.
    std::optional<Pause> take_due(Time now) {
        if (said_.empty() && off_ && next_by_itself() <= now) advance(now);
        if (said_.empty() || said_.front().at > now) return std::nullopt;
        const Pause pause = said_.front();
        said_.pop_front();
        return pause;
    }

  private:
    Time xon_at() const { return max(empty_at_ - resumes_, said_at_); }
    Time next_by_itself() const { return min(xon_at(), said_at_ + refresh_); }
    void say(Time at, bool off) {
        said_.push_back({at, off});
        said_at_ = at;
        off_ = off;
    }
    void advance(Time now) {
        while (off_ && next_by_itself() <= now) say(next_by_itself(), xon_at() > next_by_itself());
    }

    Duration byte_time_{};  // at `drain`; 0: it keeps up
    Duration full_{};       // depth above which it pauses us
    Duration resumes_{};    // and at which it resumes
    Duration refresh_{};
    Time empty_at_{};
    Time said_at_{};  // the last pause
    bool off_ = false;
    std::deque<Pause> said_;  // at most those of one turn
};

}  // namespace sluice
