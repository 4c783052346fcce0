// A port over time, for pictures: the depth of its queues and groups, the pauses that it sent and obeyed.
// Bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/record/depth_trace.hh"
#include "lib/record/share_trace.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

struct PortTrace {
    struct Pause {
        Time at;
        std::uint8_t priorities;  // mask, from then on
    };
    PortTrace(unsigned slots, Duration width) {
        constexpr unsigned share_slots = 1024;
        for (auto* list : {&queue, &group, &limit, &headroom})
            for (unsigned n = 0; n < classes; ++n) list->emplace_back(slots, width);
        for (Pauses* pauses : {&sent, &obeyed}) {
            pauses->changes.reserve(slots);
            for (unsigned n = 0; n < classes; ++n) pauses->share.emplace_back(share_slots, width);
        }
    }
    // The first changes, and the share of time by priority, over all of them.
    struct Pauses {
        std::vector<Pause> changes;
        std::vector<ShareTrace> share;
        bool cut = false;  // there were more changes
    };
    void pauses_changed(Time now, std::uint8_t asserted) { changed(sent, now, asserted); }
    void obeyed_changed(Time now, std::uint8_t held) { changed(obeyed, now, held); }

    std::vector<DepthTrace> queue, group, limit, headroom;  // cells, by class
    Pauses sent, obeyed;

  private:
    static void changed(Pauses& pauses, Time now, std::uint8_t priorities) {
        for (unsigned n = 0; n < classes; ++n) pauses.share[n].change(now, (priorities >> n & 1U) != 0);
        auto& changes = pauses.changes;
        if ((changes.empty() ? std::uint8_t{0} : changes.back().priorities) == priorities) return;
        if (changes.size() == changes.capacity())
            pauses.cut = true;
        else
            changes.push_back({now, priorities});
    }
};

}  // namespace sluice
