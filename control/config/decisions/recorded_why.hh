// Why senders were paused, packets dropped and queues held up, in sentences, from what the recorders hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/config/decisions/recorded.hh"
#include "control/config/decisions/spell_filter.hh"

namespace sluice {

struct RecordedWhy {
    std::string verdict;  // "paused", "was_paused", "dropped", "microburst", "storm", "link"
    std::string reason;   // "congestion", "slow_peer", ...: a word
    PortId port = 0;      // whose recorder has it
    std::optional<ClassId> group, queue, priority;  // of it; at most one
    std::uint64_t count = 1;
    std::uint64_t lossless = 0;  // packets of lossless classes among those that were dropped
    Time first, last;
    Duration lasted{};  // pauses and microbursts: in all, by now
    bool going_on = false;
    std::string sentence;              // what happened
    std::vector<std::string> details;  // the figures behind it
    std::string advice;                // what would have avoided it; empty: nothing in this switch
};

// Storms of a queue, or links that went down, as one. `count` 0: the first storms are recorded no more.
struct Storms {
    ClassId queue = 0;
    WatchdogAction action{};
    Time first, last;  // found
    Time end;          // of the last that has ended
    std::uint64_t count = 0, ended = 0;
    std::uint64_t passed = 0, dropped = 0;  // packets, of those that have ended
};
struct LinkChanges {
    bool is_up = false;
    Time first, last;
    std::uint64_t count = 0;
};

// One entry a cause at a port: storms first, then losses of lossless packets, links, other drops, pauses and
// microbursts, the worst of each first. `most` in all; `left_out`: how many more there are.
std::vector<RecordedWhy> explain_recorded(const Recorded& recorded, const WhyPlace& place, std::size_t most,
                                          std::size_t& left_out);

// "59.8 us", and under the real clock "3.2 s (2026-11-25 13:45:01.123456 UTC)".
std::string moment_text(const Recorded& recorded, Time at);

}  // namespace sluice
