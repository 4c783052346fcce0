// The groups of traced ports under the virtual clock. A group's limit follows its pool while nobody judges
// the group; its trace has all of it, as if it were judged in each round of an instant.
//
// A group is recorded when it is judged, and once in each slot of its trace; in between only the free cells
// of pools are kept (lib/buffer/pool_peaks.hh), of which the limits in the slot follow.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "dataplane/path/worker_context.hh"
#include "lib/buffer/pool_peaks.hh"
#include "lib/values/port_set.hh"

namespace sluice {

struct OwnedPort {
    WorkerContext* owner;
    PortContext* port;
};

class TracedGroups {
  public:
    // By port; it outlives this.
    explicit TracedGroups(const std::vector<OwnedPort>& ports);
    bool any() const { return any_; }
    bool contains(PortId id) const { return traced_.contains(id); }

    // Takes note of a traced port whose groups get cells, or give some back, or are judged next.
    void about_to_change(PortId id);
    // The same for groups that have been judged, and so recorded.
    void recorded(PortId id);
    // A round of the instant begins.
    void begin_round(Time now) {
        if (static_cast<std::int64_t>(now.ps) >= first_end_ps_) end_slots(static_cast<std::int64_t>(now.ps));
    }
    // The ports from `first` up to `last` would be judged now.
    void see(PortId first, PortId last, Time now);
    // Before a new policy changes the groups, and before somebody reads the traces.
    void settle();

  private:
    static constexpr std::int64_t never_ps = std::numeric_limits<std::int64_t>::max();

    void end_slots(std::int64_t now_ps);

    const std::vector<OwnedPort>& ports_;
    PortSet traced_;
    bool any_ = false;
    std::vector<std::array<GroupLimits, classes>> limits_;  // by port, when its groups were recorded
    PoolPeaks peaks_;                                       // since then
    PortSet ended_;                         // their slots have: they are recorded in this round
    std::vector<std::int64_t> end_ps_;      // by port: when the first slot of its groups ends
    std::int64_t first_end_ps_ = never_ps;  // not after any of them
};

}  // namespace sluice
