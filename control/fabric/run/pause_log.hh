// What one switch shows of pauses: when a group went into XOFF and out of it, which egress queue held most of
// its cells meanwhile, and when peers held queues. Reads its own switch alone, between two instants, and
// changes nothing.
//
// An instant costs the ports that are awake in it, and the pauses that are open. Packets are counted when a
// pause begins, and again when so many cells have come and gone that another queue may be the fullest.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/run/switch.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

// The egress queue that holds most cells of a group. A queue stays the fullest until another holds more by an
// eighth of the group.
struct FullestQueue {
    PortId port = 0;
    ClassId queue = 0;
    std::uint32_t cells = 0;        // of the group, in that queue
    std::uint32_t group_cells = 0;  // in all queues
};

struct PauseChange {
    enum class Kind : std::uint8_t {
        held,   // `mask`: the queues of `port` that its peer holds from now on
        began,  // group `priority` of `port` is in XOFF
        moved,  // another queue is its fullest
        ended,
    };
    Time at;
    Kind kind;
    PortId port;
    ClassId priority = 0;
    std::uint8_t mask = 0;
    FullestQueue fullest{};  // with `began` and `moved`
};

class PauseLog {
  public:
    PauseLog(Switch& device, std::uint32_t cell_bytes);

    // After an instant in which the switch ran.
    void log_changes(Time now);
    // What has changed since `clear`, in order of time; of one instant holds come first.
    const std::vector<PauseChange>& changes() const { return changes_; }
    void clear() { changes_.clear(); }

  private:
    struct PortState {
        std::uint8_t paused = 0;  // groups in XOFF, as of the last look
        std::uint8_t held = 0;    // queues that its peer holds, likewise
    };
    struct Open {
        PortId port;
        ClassId priority;
        bool is_new = true;
        FullestQueue fullest{};
        // As of the last count: cells of the group, cells that had ever come to it, and by how many the
        // fullest queue is safe from the next one.
        std::uint32_t used_cells = 0;
        std::uint64_t came_cells = 0;
        std::uint32_t margin_cells = 0;
        // While counting.
        std::uint32_t here = 0, own = 0, all = 0;
        FullestQueue best{}, second{};
    };

    std::uint8_t held_queues(PortId port, Time now) const;
    void look_at(PortId port, Time now);
    std::uint64_t came_cells(PortId port, ClassId priority) const;
    bool may_have_moved(const Open& open) const;
    void count(Time now);

    Switch& device_;
    std::uint32_t cell_bytes_;
    std::vector<PortState> ports_;
    std::vector<Open> open_;
    std::vector<std::uint32_t> open_at_;  // by port and group; place in open_
    std::vector<PauseChange> changes_;
};

}  // namespace sluice::fabric
