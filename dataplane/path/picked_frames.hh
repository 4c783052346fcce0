// The frames that a port's scheduler has picked in one go. Private to the egress stages.
#pragma once

#include <array>
#include <cstdint>

#include "lib/clock/link.hh"
#include "lib/queue/packet_queue.hh"
#include "lib/values/ids.hh"

namespace sluice {

// A frame taken from its queue, with the state of the wire and of the queue at that time.
struct Picked {
    QueueEntry entry;
    Time departure;
    std::uint32_t behind_cells;  // that stayed in the queue
    ClassId queue;
};

// Left uninitialized: only the frames that are picked mean something.
struct PickedFrames {
    PickedFrames() {}  // NOLINT(modernize-use-equals-default): the union has no default
    union {
        std::array<Picked, burst_size> frame;
    };
};

// Where the next frame goes, and when.
struct Picking {
    Picked* next;
    Picked* end;
    LinkTransmitter link;

    bool has_room(Time now) const { return next != end && link.can_start(now); }
};

}  // namespace sluice
