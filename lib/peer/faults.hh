// Faults on a port's link, for experiments: the settings, and the decision for each frame.
//
// Four places: frames of the peer on their way to us, frames of ours on their way to the peer, our PFC before
// that, and a peer that misbehaves. Which frame something befalls is a choice as a wire's (fault_rule.hh): a
// function of (seed, port, number of the frame). No clock here: dataplane/peers/fault_port.hh carries out
// what this decides, and says when. `every = n` takes frames n, 2n, ... counted from the port's first one;
// with a chance beside it, either is enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/peer/fault_rule.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/units.hh"

namespace sluice {

// Of the frames of one direction.
struct FrameFaults {
    std::uint64_t drop_every = 0;  // 0: none
    Chance drop_chance;
    Chance corrupt_chance;      // one bit behind the Ethernet header is inverted, and the FCS is right again
    Chance duplicate_chance;    // the copy follows at once
    Duration delay;             // order is kept
    double bit_error_rate = 0;  // of the wire: the receiver's MAC drops a frame whose FCS is wrong
    bool operator==(const FrameFaults&) const = default;
};

struct FaultSettings {
    // Frames of the peer, before we receive them.
    std::uint64_t drop_every = 0;
    Chance drop_chance;
    Chance corrupt_chance;
    Chance duplicate_chance;
    Duration delay;
    double ber = 0;  // at most max_ber

    // Frames that we send, our PFC among them, before the peer receives them.
    std::uint64_t tx_drop_every = 0;
    Chance tx_drop_chance;
    Chance tx_corrupt_chance;
    Chance tx_duplicate_chance;
    Duration tx_delay;
    double tx_ber = 0;

    // Our PFC, after we have sent it.
    std::uint64_t pfc_lose_every = 0;
    Chance pfc_lose_chance;
    Chance pfc_duplicate_chance;
    Duration pfc_delay;
    std::optional<std::uint16_t>
        pfc_class_vector;                     // instead of the frame's; classes it adds get the frame's time
    std::optional<std::uint16_t> pfc_quanta;  // instead of every time in the frame, XON's too

    // The peer.
    std::uint8_t storm_classes =
        0;  // mask: XOFF for them every storm_every, for storm_for from when it was set
    Duration storm_every = microseconds(10);
    Duration storm_for = milliseconds(1);
    std::uint8_t stuck_xoff = 0;  // mask: one XOFF when it is set, and no word ever after
    std::uint64_t overshoot_bytes =
        0;  // wire bytes that it still starts in a class after it should have stopped
    std::optional<Rate> slow_receiver;         // at which it takes lossless classes; nothing: full rate
    std::uint64_t slow_buffer_bytes = 64'000;  // of its buffer: XOFF above, XON below half

    FrameFaults of_received() const {
        return {drop_every, drop_chance, corrupt_chance, duplicate_chance, delay, ber};
    }
    FrameFaults of_sent() const {
        return {tx_drop_every, tx_drop_chance, tx_corrupt_chance, tx_duplicate_chance, tx_delay, tx_ber};
    }

    bool operator==(const FaultSettings&) const = default;
};

constexpr double max_ber = 0.001;
constexpr std::uint16_t fault_quanta = 0xFFFF;  // of the XOFFs that a misbehaving peer sends

struct FrameFate {
    bool drop = false;
    bool bad_fcs = false;  // the receiver's MAC drops it
    bool duplicate = false;
    std::optional<std::uint64_t> corrupt;  // a random number, from which `corrupt_bit` picks
};

struct PfcFate {
    bool lose = false;
    bool duplicate = false;
};

struct FaultDice {
    std::uint64_t seed = 0;
    std::uint32_t port = 0;

    // The peer's frame number `number`, from 1, of `bytes` without FCS.
    FrameFate frame(const FaultSettings& settings, std::uint64_t number, std::uint32_t bytes = 60) const;
    // Ours, likewise.
    FrameFate sent(const FaultSettings& settings, std::uint64_t number, std::uint32_t bytes) const;
    // Our PFC frame number `number`, from 1.
    PfcFate pfc(const FaultSettings& settings, std::uint64_t number) const;
};

// Inverts one bit of `frame` from a byte on, behind its Ethernet header unless said; false when it has
// nothing there.
bool corrupt_bit(std::span<std::uint8_t> frame, std::uint64_t random,
                 std::size_t from = sizeof(EthernetHeader));

// Rewrites one of our PFC frames as the settings say; false when nothing changed.
bool change_pfc(const FaultSettings& settings, std::span<std::uint8_t, pfc_frame_bytes> frame);

// Names of the settings under which a lossless class may lose packets without our fault: the peer stops
// later, or sends more, than the headroom allows it. Frames that never reach us are no loss of ours.
std::vector<std::string_view> faults_against_lossless(const FaultSettings& settings);

}  // namespace sluice
