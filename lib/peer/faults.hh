// Faults on purpose, for experiments: rules that disturb frames on their way, and a peer that misbehaves.
//
// A rule says which frames, how often, and what. A wire (dataplane/path/wire.hh) has a list of them; the
// first that takes a frame acts on it. A port's link (dataplane/peers/fault_port.hh) has three lists, made of
// its settings: for frames from the peer, frames to the peer, and our PFC before that; there every rule that
// takes a frame acts, until one drops it. Matching frames are numbered from 1; a choice is a function of
// (seed, stream, port, number), so it is the same for any number of workers. The caller carries out a rule's
// action.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/frame/headers.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/rng.hh"
#include "lib/values/units.hh"

namespace sluice {

struct Chance {
    static constexpr std::uint32_t always = 1'000'000'000, one_percent = always / 100;
    std::uint32_t parts_per_billion = 0;  // at most `always`
    static constexpr Chance percent(std::uint32_t n) { return {n * one_percent}; }
    bool operator==(const Chance&) const = default;
};

// True with `odds`, by the draw of the key.
inline bool happens(const DrawKey& key, Chance odds) {
    if (odds.parts_per_billion == 0) return false;
    const std::uint64_t parts = (std::uint64_t{odds.parts_per_billion} << 32) / Chance::always;
    return chance(draw(key), parts);
}

// bad_fcs is for links only: the receiver's MAC drops the frame.
enum class FaultAction : std::uint8_t { drop, mark_ce, corrupt, delay, reorder, duplicate, cnp, bad_fcs };
constexpr unsigned fault_action_count = 7;  // of a wire's rule
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

// Absent: any frame.
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

// Chooses among matching frames: every n-th, the n-th, by chance, or any of these; with none, every frame.
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
constexpr std::uint8_t cnp_dscp_by_default = 48;

struct FaultRule {
    FaultMatch match;
    FrameChoice choice;
    FaultAction action = FaultAction::drop;
    std::uint32_t stream = 0;  // of its draws; that of corrupt's bit is the next one
    Duration time;             // delay: how long; reorder: at most so long
    std::uint32_t frames = 1;  // reorder: later frames that pass, at least 1
    // bad_fcs: a frame is chosen when any bit that the FCS covers, or of it, is wrong.
    double bit_error_rate = 0;
    std::uint64_t id = 0;                    // of a wire's, never 0; another after each change
    std::optional<std::uint32_t> sender_qp;  // cnp: its destination; absent: learned
    std::uint8_t cnp_dscp = cnp_dscp_by_default;

    // Frame `number` of those that match, of `bytes` without FCS.
    bool takes(std::uint64_t seed, std::uint32_t port, std::uint64_t number, std::uint32_t bytes) const {
        const DrawKey key{seed, stream, port, number};
        return action == FaultAction::bad_fcs ? has_bit_error(key, bytes) : choice.takes(key);
    }
    // The random number from which `corrupt` picks the bit.
    std::uint64_t corrupt_draw(std::uint64_t seed, std::uint32_t port, std::uint64_t number) const {
        return draw({seed, stream + 1, port, number});
    }
    bool operator==(const FaultRule&) const = default;

  private:
    bool has_bit_error(const DrawKey& key, std::uint32_t bytes) const;
};

// Faults of frames on one way of a port's link. `drop_every = n` takes frames n, 2n, ...; a chance adds to
// it.
struct FrameFaults {
    std::uint64_t drop_every = 0;  // 0: none
    Chance drop_chance;
    Chance corrupt_chance;    // one bit behind the Ethernet header is inverted, and the FCS is right again
    Chance duplicate_chance;  // the copy follows at once
    Duration delay;           // order is kept
    double ber = 0;           // bit error rate of the wire, at most max_ber
    bool operator==(const FrameFaults&) const = default;
};

struct FaultSettings {
    FrameFaults received;  // frames of the peer, before we receive them
    FrameFaults sent;      // frames that we send, our PFC among them, before the peer receives them
    FrameFaults pfc;       // our PFC, after we have sent it; it is not corrupted, and has no bit errors
    std::optional<std::uint16_t>
        pfc_class_vector;                     // replaces the frame's; added classes get the frame's time
    std::optional<std::uint16_t> pfc_quanta;  // replaces every time in the frame, XON's too

    // The peer.
    std::uint8_t storm_classes =
        0;  // mask: XOFF for them every storm_every, for storm_for from when it was set
    Duration storm_every = microseconds(10);
    Duration storm_for = milliseconds(1);
    std::uint8_t stuck_xoff = 0;        // mask: one XOFF when it is set, never taken back
    std::uint64_t overshoot_bytes = 0;  // wire bytes of a class that it starts after it should have stopped
    std::optional<Rate> slow_receiver;  // at which it takes lossless classes; nothing: full rate
    std::uint64_t slow_buffer_bytes = 64'000;  // of its buffer: XOFF above, XON below half

    bool operator==(const FaultSettings&) const = default;
};

constexpr double max_ber = 0.001;
constexpr std::uint16_t fault_quanta = 0xFFFF;  // of the XOFFs that a misbehaving peer sends

enum class LinkWay : std::uint8_t { received, sent, pfc };
std::vector<FaultRule> rules_of(const FrameFaults& faults, LinkWay way);

struct FrameFate {
    bool drop = false;
    bool bad_fcs = false;
    bool duplicate = false;
    std::optional<std::uint64_t> corrupt;  // a random number, from which `corrupt_bit` picks
    Duration delay;
};
// The fate of frame `number`, from 1, by rules of a port's link.
FrameFate fate_of(std::span<const FaultRule> rules, std::uint64_t seed, std::uint32_t port,
                  std::uint64_t number, std::uint32_t bytes);

// Inverts a bit of `frame` from byte `from` on; false when there is none.
bool corrupt_bit(std::span<std::uint8_t> frame, std::uint64_t random,
                 std::size_t from = sizeof(EthernetHeader));

// Rewrites one of our PFC frames as the settings say; false when nothing changed.
bool change_pfc(const FaultSettings& settings, std::span<std::uint8_t, pfc_frame_bytes> frame);

// Names of the settings under which a lossless class may lose packets without our fault: the peer stops
// later, or sends more, than the headroom allows. Frames that never reach us do not count.
std::vector<std::string_view> faults_against_lossless(const FaultSettings& settings);

}  // namespace sluice
