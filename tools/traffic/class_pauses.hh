// PFC of all classes as a host obeys it: a PauseClock for each (peer_flows.hh), which hears of a frame
// `reaction_ns` after it came. Times are nanoseconds of one monotonic clock that never goes back.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "lib/values/ids.hh"
#include "tools/traffic/peer_flows.hh"

namespace sluice::traffic {

class ClassPauses {
  public:
    ClassPauses(std::uint64_t bits_per_second, std::uint64_t reaction_ns) : reaction_ns_(reaction_ns) {
        for (unsigned n = 0; n < classes; ++n) clocks_.emplace_back(n, bits_per_second);
    }

    // True if the frame is PFC.
    bool receive(std::span<const std::uint8_t> frame, std::uint64_t now_ns) {
        if (!PauseClock::is_pfc(frame)) return false;
        auto& heard = heard_.emplace_back();
        heard.at_ns = now_ns + reaction_ns_;
        std::copy_n(frame.begin(), heard.frame.size(), heard.frame.begin());
        return true;
    }

    // Mask of the classes that may not start a frame.
    unsigned paused(std::uint64_t now_ns) {
        for (; !heard_.empty() && heard_.front().at_ns <= now_ns; heard_.pop_front())
            for (PauseClock& clock : clocks_) clock.receive(heard_.front().frame, heard_.front().at_ns);
        unsigned mask = 0;
        for (unsigned n = 0; n < classes; ++n) mask |= unsigned{clocks_[n].paused(now_ns)} << n;
        return mask;
    }
    // The end of a pause that runs.
    std::uint64_t until_ns(ClassId paused_class) const { return clocks_[paused_class].until_ns(); }
    std::optional<std::uint64_t> next_heard_ns() const {
        return heard_.empty() ? std::nullopt : std::optional(heard_.front().at_ns);
    }

    PauseClock::Counters total() const {
        PauseClock::Counters sum;
        for (const PauseClock& clock : clocks_) {
            sum.xoff += clock.counters().xoff;
            sum.xon += clock.counters().xon;
            sum.expired += clock.counters().expired;
            sum.paused_ns += clock.counters().paused_ns;
        }
        return sum;
    }

  private:
    struct Heard {
        std::uint64_t at_ns;
        std::array<std::uint8_t, PauseClock::pfc_bytes> frame;
    };

    std::uint64_t reaction_ns_;
    std::vector<PauseClock> clocks_;
    std::deque<Heard> heard_;
};

}  // namespace sluice::traffic
