// What the recorders of a switch hold at a moment, with the facts that explain it. Values only: made from a
// running switch by report/recorded_report, so that the explanations need no DPDK.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/frame/drop_reason.hh"
#include "lib/record/spells.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

struct RecordedPort {
    struct Queue {
        std::optional<std::uint64_t> marks_from_bytes;  // ECN; nothing: it does not mark
        bool held = false;                              // by the operator
        Rate max_rate{};                                // 0: none
        // Packets that it has sent: all, those that were marked in it, those that came without ECT.
        std::uint64_t sent = 0, marked = 0, not_ect = 0;
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

}  // namespace sluice
