// How long a worker's turns take.
#pragma once

#include <cstdint>

#include "lib/threads/counters.hh"
#include "lib/threads/histogram.hh"
#include "lib/values/units.hh"

namespace sluice {

// Under the real clock. Written by the worker once a turn, read by control.
struct TurnCounters {
    Counter turns;
    Counter busy_turns;  // that received, handed over or sent a packet
    Counter time_ps;
    Counter busy_ps;     // in busy turns
    Counter longest_ps;  // of turns and of the sleeps between them
    Histogram busy_lengths;

    void add(unsigned work, Duration length) {
        const auto ps = static_cast<std::uint64_t>(length.ps);
        turns.add(1);
        time_ps.add(ps);
        keep_longest(ps);
        if (work == 0) return;
        busy_turns.add(1);
        busy_ps.add(ps);
        busy_lengths.record(length);
    }
    // Between two turns. A late wake-up counts as a long turn.
    void slept(Duration length) {
        time_ps.add(static_cast<std::uint64_t>(length.ps));
        keep_longest(static_cast<std::uint64_t>(length.ps));
    }

  private:
    void keep_longest(std::uint64_t ps) {
        if (ps > longest_ps.get()) longest_ps.set(ps);
    }
};

// Measures how soon a worker obeys pauses and sends its own under the real clock, by the times at which turns
// begin, so that no packet pays for it: an event in a turn counts at that turn's end.
//
// A pause counts from the turn before the one that found it until the device has taken the last frame that
// was on its way, perhaps in that turn. An XOFF counts from the turn that found its group over its limit
// until the device has taken it. Headroom has a term for the device's own ring.
//
// Written by the worker.
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
