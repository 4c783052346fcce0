// Measures how soon a worker obeys pauses and sends its own under the real clock. It takes the times at which
// turns begin, so that no packet pays for it: an event in a turn counts at that turn's end.
//
// A pause may have come to the device at any moment since the turn before: it is obeyed from there until the
// device has taken the last frame that was on its way to it; a burst that left in the turn in which the pause
// was found may have been that. An XOFF is due from the turn in which its group
// went over its limit, or was found to be, until the device has taken it. Headroom has a term for the
// device's own ring.
#pragma once

#include <cstdint>

#include "lib/threads/histogram.hh"
#include "lib/values/units.hh"

namespace sluice {

// Of a worker, written by it.
struct Reactions {
    Histogram pause_obeyed;
    Histogram xoff_sent;
};

// The reactions of a port that are due.
struct PendingReactions {
    bool any() const { return heard || over; }

    bool heard = false;  // a pause that is obeyed when the out-batch is empty
    bool over = false;   // an XOFF that is to be sent
    Time heard_since{};
    Time over_since{};
    Time sent_early{UINT64_MAX};  // the last turn in which a burst left before all ports had been looked at
};

}  // namespace sluice
