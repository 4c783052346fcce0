// A rule of what is done to frames on their way, for experiments: which frames, how often, and what.
//
// A wire's rules (dataplane/path/wire.hh) may ask for a queue pair, a PSN, an opcode or a DSCP; the faults of
// a port's link (faults.hh) make the same choices among all frames. Frames that match are numbered from 1; a
// choice is a function of (seed, stream, port, number), so it is the same whatever the number of workers. No
// clock and no frame here: the caller carries out what a rule says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/values/rng.hh"
#include "lib/values/units.hh"

namespace sluice {

struct Chance {
    static constexpr std::uint32_t always = 1'000'000'000, one_percent = always / 100;
    std::uint32_t parts_per_billion = 0;  // at most `always`
    static constexpr Chance percent(std::uint32_t n) { return {n * one_percent}; }
    bool operator==(const Chance&) const = default;
};

// Of `odds`, by the draw of the key.
inline bool happens(const DrawKey& key, Chance odds) {
    if (odds.parts_per_billion == 0) return false;
    const std::uint64_t parts = (std::uint64_t{odds.parts_per_billion} << 32) / Chance::always;
    return chance(draw(key), parts);
}

enum class FaultAction : std::uint8_t { drop, mark_ce, corrupt, delay, reorder, duplicate, cnp };
constexpr unsigned fault_action_count = 7;
// As a configuration spells it.
constexpr std::string_view to_string(FaultAction action) {
    constexpr std::array<std::string_view, fault_action_count> names{
        "drop", "mark-ce", "corrupt", "delay", "reorder", "duplicate", "cnp"};
    return names[static_cast<std::size_t>(action)];
}

// From `first` to `last`, both among them; PSNs wrap at 2^24.
struct PsnRange {
    static constexpr std::uint32_t mask = 0xFF'FFFF;
    std::uint32_t first = 0, last = 0;
    bool contains(std::uint32_t psn) const { return ((psn - first) & mask) <= ((last - first) & mask); }
    bool operator==(const PsnRange&) const = default;
};

// The facts of a frame that a rule may ask for (lib/roce/wire_frame.hh).
struct FrameFacts {
    bool ip = false;
    std::uint8_t dscp = 0;  // of IP
    bool roce = false;      // RoCEv2; what follows is of its BTH
    std::uint8_t opcode = 0;
    std::uint32_t qp = 0;  // the destination's
    std::uint32_t psn = 0;
    bool operator==(const FrameFacts&) const = default;
};

// Absent: any, and no RoCE packet or IP packet is asked for.
struct FaultMatch {
    std::optional<std::uint32_t> qp;
    std::optional<PsnRange> psn;
    std::optional<std::uint8_t> opcode;
    std::optional<std::uint8_t> dscp;

    bool matches(const FrameFacts& frame) const {
        if (dscp && (!frame.ip || frame.dscp != *dscp)) return false;
        if (!qp && !psn && !opcode) return true;
        return frame.roce && (!qp || frame.qp == *qp) && (!psn || psn->contains(frame.psn)) &&
               (!opcode || frame.opcode == *opcode);
    }
    bool operator==(const FaultMatch&) const = default;
};

// Which of the frames that match: frames n, 2n, ..., the one frame n, by chance. Of several either is enough;
// with none of them every frame.
struct FrameChoice {
    std::uint64_t every = 0;  // 0: absent, as below
    std::uint64_t nth = 0;
    std::optional<Chance> probability;

    // `key.sequence`: the frame's number.
    bool takes(const DrawKey& key) const {
        if (every == 0 && nth == 0 && !probability) return true;
        return (every != 0 && key.sequence % every == 0) || key.sequence == nth ||
               (probability && happens(key, *probability));
    }
    bool operator==(const FrameChoice&) const = default;
};

constexpr std::size_t max_wire_rules = 64;  // of a wire

struct FaultRule {
    FaultMatch match;
    FrameChoice choice;
    FaultAction action = FaultAction::drop;
    std::uint32_t stream = 0;  // of its draws; that of corrupt's bit is the next one
    Duration time;             // delay: how long; reorder: at most so long
    std::uint32_t frames = 1;  // reorder: later frames that pass, at least 1
    bool operator==(const FaultRule&) const = default;
};

}  // namespace sluice
