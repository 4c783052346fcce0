// The cells that can still arrive after a group has decided to pause its sender: the headroom, term by term.
//
// `sluice`: after the frame that fired XOFF come W bytes on the wire (a frame of ours that the PFC frame
// waits for, the PFC frame, the cable twice, the peer's reaction, both interfaces, and delays of software),
// in the frame size that fills most cells per wire byte, and a frame that the peer has just started. `sonic`:
// the formula of SONiC's headroom calculator, for comparison with real configurations; it has the peer's
// reaction, no software. Called by control when it compiles the configuration. Integers only, and bytes
// unless a name says otherwise. Sources: IEEE 802.1Q annex N (buffer requirements for PFC), SONiC's dynamic
// buffer calculation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/pfc/pfc_frame.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class HeadroomFlavour : std::uint8_t { sluice, sonic };

struct HeadroomInputs {
    Rate rate;                          // a valid port speed
    std::uint32_t cable_m = 5;          // one way; at most max_cable_m
    std::uint32_t mtu_any = 9100;       // largest IP packet of any class that we send on this port
    std::uint32_t mtu_lossless = 9100;  // largest IP packet that the peer sends in this class
    std::uint32_t own_tags = 0;         // VLAN tags of a frame that we send, 0..max_vlan_tags
    std::uint32_t peer_tags = 0;        // VLAN tags of a frame that the peer sends, likewise
    std::uint32_t cell_bytes = 256;
    std::uint32_t min_frame_bytes = 60;  // L_min; more only if the operator knows better
    Duration own_turn_max;               // 0: hardware, or a turn grid of 0
    Duration peer_turn_max;
    Duration hand_over_max;             // from the receiving worker to the admitting one; 0: it is one
    std::uint64_t peer_ring_bytes = 0;  // transmit ring and out-batch of a software peer, wire bytes
    std::optional<Duration> reaction;   // of the peer, instead of the published quanta and interface delays
    HeadroomFlavour flavour = HeadroomFlavour::sluice;

    static constexpr std::uint32_t max_cable_m = 100'000;
};

// A speed without a published figure takes another's (`published` is false).
struct HeadroomFigure {
    std::uint64_t value = 0;
    bool published = true;
};
HeadroomFigure peer_reaction_quanta(Rate rate, HeadroomFlavour flavour);
HeadroomFigure interface_delay_bits(Rate rate);

struct Headroom {
    HeadroomInputs inputs;

    std::uint64_t max_frame_bytes = 0;  // L_max, as it lies in an mbuf
    std::uint64_t own_frame_bytes = 0;  // F(mtu_any), on the wire
    std::uint64_t pfc_frame_bytes = 0;
    std::uint64_t cable_bytes = 0;  // both ways
    HeadroomFigure reaction_quanta;
    std::uint64_t reaction_bytes = 0;
    HeadroomFigure interface_bits;      // of one interface
    std::uint64_t interface_bytes = 0;  // of both
    std::uint64_t obeying_bytes() const { return reaction_bytes + interface_bytes; }
    std::uint64_t own_turn_bytes = 0;
    std::uint64_t peer_turn_bytes = 0;
    std::uint64_t hand_over_bytes = 0;
    std::uint64_t peer_ring_bytes = 0;

    std::uint64_t wire_bytes = 0;         // W, the sum of the nine sizes above: the loop of a pause
    std::uint64_t unheld_bytes = 0;       // of W, the delay of a refresh: a frame of ours and the reaction
    std::uint64_t worst_frame_bytes = 0;  // L for which A is largest
    std::uint64_t mix_cells = 0;          // A(W)
    std::uint64_t frame_cells = 0;  // of L_max: the packet that fired XOFF, and again the frame just started
    std::uint64_t xoff_cells = 0;   // the result
    std::uint64_t xoff_bytes = 0;   // xoff_cells x cell; flavour sonic: as SONiC prints it, not whole cells
};

Headroom headroom(const HeadroomInputs& inputs);

// From a PFC frame's last bit at the peer until it starts no more frames: `said`, or the published quanta and
// both interfaces.
Duration reaction_time(Rate rate, std::optional<Duration> said);

// A refresh, half a pause later, must take effect before the pause ends: half a pause must exceed the bytes
// that may pass in between.
constexpr std::uint64_t half_pause_bytes(std::uint64_t quanta) { return quanta * quantum_bytes / 2; }
constexpr std::uint64_t quanta_to_hold(std::uint64_t bytes) { return bytes / half_pause_bytes(1) + 1; }

// The longest cable in whole meters, up to max_cable_m, for which `cells` are enough; nothing: too few for
// any.
std::optional<std::uint32_t> longest_cable(HeadroomInputs inputs, std::uint64_t cells);

// A(W): the most cells that frames of one size in [min_frame, max_frame] can fill in W wire bytes, the last
// frame counted whole; `worst_frame_bytes` is the smallest size that does it.
struct WorstMix {
    std::uint64_t cells = 0;
    std::uint64_t frame_bytes = 0;
};
WorstMix worst_mix(std::uint64_t wire_bytes, std::uint64_t min_frame, std::uint64_t max_frame,
                   std::uint64_t cell_bytes);

// For the table of `--check`: the terms in the order of the formula, W and the result last.
struct HeadroomRow {
    std::string_view name;
    std::uint64_t bytes;
    std::string formula;  // with its numbers
};
std::vector<HeadroomRow> headroom_rows(const Headroom& headroom);

}  // namespace sluice
