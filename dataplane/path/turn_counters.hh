// How long a worker's turns take.
#pragma once

#include <cstdint>

#include "lib/threads/counters.hh"
#include "lib/threads/histogram.hh"
#include "lib/values/units.hh"

namespace sluice {

// What a worker's turns came to under the real clock. Written by it once a turn, read by control.
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
    // Between two turns. Whoever wakes up late is away as in a long turn.
    void slept(Duration length) {
        time_ps.add(static_cast<std::uint64_t>(length.ps));
        keep_longest(static_cast<std::uint64_t>(length.ps));
    }

  private:
    void keep_longest(std::uint64_t ps) {
        if (ps > longest_ps.get()) longest_ps.set(ps);
    }
};

}  // namespace sluice
