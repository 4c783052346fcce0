// Explains pauses, drops and queues that waited, from the records of the flight recorders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/frame/drop_reason.hh"
#include "lib/record/spells.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

// The records of a switch's flight recorders with the facts that explain them. report/recorded_report fills
// this from a running switch, so that explanations need no DPDK.
struct RecordedPort {
    struct Queue {
        std::optional<std::uint64_t> marks_from_bytes;  // ECN; nothing: it does not mark
        bool held = false;                              // by the operator
        Rate max_rate{};                                // 0: none
        // Packets that it has sent: all, those that were marked in it, those that came without ECT.
        std::uint64_t sent = 0, marked = 0, not_ect = 0;
        // Packets that it refused and trimmed, by what became of their short forms.
        std::uint64_t trim_sent = 0, trim_dropped = 0;
    };

    std::string name;
    Rate speed = gigabits(100);
    Rate shaper{};                // 0: none
    std::uint8_t ignored = 0;     // classes whose pauses its peer ignores
    std::uint64_t roce = 0;       // RoCEv2 packets that came in
    std::uint64_t cnps_sent = 0;  // to senders behind it
    // Packets of lossless classes that came in and were dropped, since the start.
    std::array<std::uint64_t, drop_reason_count> lossless_drops{};
    ClassToClass priority_to_queue{};
    std::array<std::optional<int>, classes> dynamic{};  // n of alpha = 2^n of each group
    std::array<std::uint32_t, classes> headroom_now{};  // cells of each group
    std::array<Queue, classes> queue{};
    // The oldest first.
    std::vector<PauseSent> sent;
    std::vector<PauseSpell> received;
    std::vector<DropSpell> drops;
    std::vector<BurstSpell> bursts;
    std::vector<PortNote> notes;
};

struct Recorded {
    std::vector<RecordedPort> ports;
    std::uint64_t cell_bytes = 256;
    Time now;
    // Real clock: nanoseconds of Unix time at the switch's origin.
    std::optional<std::int64_t> origin_ns;
};

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

// The storms of a queue. `count` 0: the recorder has their ends only.
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

// A port, or the group, queue and priority of a number at it. Empty: everywhere. With `to`: packets that come
// in by `port`, which may be absent, and leave by `to`.
struct WhyPlace {
    std::optional<PortId> port;
    std::optional<ClassId> number;
    std::optional<PortId> to;
};

// An entry for each cause at a port: storms, losses of lossless packets, links, other drops, pauses,
// microbursts, the worst of each first. At most `most`; `left_out`: how many more there are.
std::vector<RecordedWhy> explain_recorded(const Recorded& recorded, const WhyPlace& place, std::size_t most,
                                          std::size_t& left_out);

// "59.8 us", and under the real clock "3.2 s (2026-11-25 13:45:01.123456 UTC)".
std::string moment_text(const Recorded& recorded, Time at);

}  // namespace sluice
