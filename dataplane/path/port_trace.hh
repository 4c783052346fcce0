// A port over time, for pictures: the depth of its queues and groups, the pauses that it sent and obeyed.
// Bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/record/depth_trace.hh"
#include "lib/record/share_trace.hh"
#include "lib/record/slot_list.hh"
#include "lib/record/slot_trace.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

struct PortTrace {
    struct Pause {
        Time at;
        std::uint8_t priorities;  // mask, from then on
    };
    PortTrace(unsigned slots, Duration width);
    PortTrace(const PortTrace&) = delete;
    PortTrace& operator=(const PortTrace&) = delete;
    ~PortTrace();
    // Takes all of its memory now, for a worker of the real clock: nothing is allocated on the packet path.
    // Under the virtual clock memory comes as slots fill.
    void reserve();

    // The first changes, and the share of time by priority, over all of them.
    struct Pauses {
        SlotList<Pause> changes;
        std::size_t max_changes = 0;
        std::vector<ShareTrace> share;
        std::uint8_t priorities = 0;  // now
        bool cut = false;             // there were more changes
    };
    void pauses_changed(Time now, std::uint8_t asserted) { changed(sent, now, asserted); }
    void obeyed_changed(Time now, std::uint8_t held) { changed(obeyed, now, held); }

    // The depths of a group, which are recorded together.
    enum GroupDepth : std::size_t { used, limit, in_headroom, group_depths };
    using Group = SlotTrace<group_depths>;

    std::vector<DepthTrace> queue;  // cells, by class, as are those of groups
    std::vector<Group> group;
    Pauses sent, obeyed;

  private:
    static void changed(Pauses& pauses, Time now, std::uint8_t priorities) {
        if (priorities == pauses.priorities) return;
        pauses.priorities = priorities;
        for (unsigned n = 0; n < classes; ++n) pauses.share[n].change(now, (priorities >> n & 1U) != 0);
        if (pauses.changes.size() == pauses.max_changes)
            pauses.cut = true;
        else
            pauses.changes.push_back({now, priorities});
    }
};

}  // namespace sluice
