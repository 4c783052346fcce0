// Frames that wait for a neighbor's MAC address (RFC 1122 2.3.2.2, RFC 4861 7.2.2). Bounded, for each next
// hop and in all; the newest is refused, so that they leave in the order they came in. The caller decides
// which neighbors are known, and what to do with a frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "lib/frame/ip_address.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

struct PendingFrame {
    // The neighbor it waits for: a next-hop group, or the host itself where that is on a link of ours.
    using Hop = std::pair<std::uint32_t, IpAddress>;
    Hop hop;
    IpAddress destination;
    PortId port = 0;  // it came in by
    std::vector<std::uint8_t> bytes;
    Time until{};  // then it is given up
};

class PendingFrames {
  public:
    struct Limits {
        std::size_t each = 64;  // frames for a next hop
        std::size_t all = 1024;
        Duration patience = seconds(3);  // as long as Linux asks: three times, a second each
    };
    PendingFrames() : PendingFrames(Limits{}) {}
    explicit PendingFrames(const Limits& limits) : limits_(limits) {}

    // False when there is no room, or no frame.
    bool keep(PendingFrame frame, Time now) {
        if (frame.bytes.empty() || frames_.size() >= limits_.all) return false;
        std::size_t& count = counts_[frame.hop];
        if (count >= limits_.each) return false;
        ++count;
        frame.until = now + limits_.patience;
        frames_.push_back(std::move(frame));
        return true;
    }

    enum class Fate : std::uint8_t { resolved, given_up };
    // Calls give(frame, fate), in the order in which they came, for frames whose neighbor is_known(frame) or
    // whose time is over. If it returns false, the frame and later ones of its port stay.
    template <class IsKnown, class Give>
    void settle(Time now, IsKnown is_known, Give give) {
        std::vector<PortId> full;
        std::size_t kept = 0;
        for (PendingFrame& frame : frames_) {
            const bool known = is_known(std::as_const(frame));
            const bool over = known || frame.until <= now;
            bool taken = false;
            if (over && std::find(full.begin(), full.end(), frame.port) == full.end()) {
                taken = give(std::as_const(frame), known ? Fate::resolved : Fate::given_up);
                if (!taken) full.push_back(frame.port);
            }
            if (!taken) {
                if (PendingFrame& to = frames_[kept++]; &to != &frame) to = std::move(frame);
            } else if (const auto count = counts_.find(frame.hop); --count->second == 0) {
                counts_.erase(count);
            }
        }
        frames_.resize(kept);
    }

    std::size_t size() const { return frames_.size(); }
    std::size_t of_port(PortId port) const {
        return static_cast<std::size_t>(
            std::count_if(frames_.begin(), frames_.end(),
                          [port](const PendingFrame& frame) { return frame.port == port; }));
    }

  private:
    Limits limits_;
    std::deque<PendingFrame> frames_;
    std::map<PendingFrame::Hop, std::size_t> counts_;  // of those that have any
};

}  // namespace sluice
