#include "lib/pfc/headroom.hh"

#include <algorithm>
#include <array>
#include <cassert>

#include "lib/frame/headers.hh"

namespace sluice {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t ethernet_header_bytes = sizeof(EthernetHeader);
constexpr std::uint64_t tag_bytes = sizeof(VlanTag);
constexpr std::uint64_t pfc_wire_bytes = 84;  // 64 with FCS, preamble and gap

constexpr std::uint64_t ceil_div(Wide dividend, Wide divisor) {
    return static_cast<std::uint64_t>((dividend + divisor - 1) / divisor);
}

// Peer's reaction to PFC in quanta of 512 bit times, by speed.
struct Reaction {
    std::uint64_t gigabits;
    std::uint64_t quanta;
};
constexpr std::array reactions = {Reaction{1, 2},     Reaction{10, 60},   Reaction{25, 80},
                                  Reaction{40, 118},  Reaction{50, 147},  Reaction{100, 394},
                                  Reaction{200, 453}, Reaction{400, 905}, Reaction{800, 905}};
constexpr std::uint64_t sonic_quanta_10g = 67;

// SONiC counts the frame of another class as its default MTU, a lossless packet as 1 KiB, 0.8 KiB for MAC and
// PHY.
constexpr std::uint64_t sonic_mtu_bytes = 9100;
constexpr std::uint64_t sonic_lossless_bytes = 1024;
constexpr std::uint64_t sonic_mac_phy_bytes_x5 = 4096;  // 819.2 bytes

std::uint64_t bytes_in(Rate rate, Duration span) {
    assert(span.ps >= 0);
    return ceil_div(Wide{rate.bits_per_second} * static_cast<std::uint64_t>(span.ps),
                    Wide{8'000'000'000'000});
}

// xoff = 1024 + f (9100 + cable + 819.2 + reaction), rounded up to 1 KiB; the cable's kilobytes are of 1000
// bytes in a formula of 1024, which is in their configurations, so it is in ours.
std::uint64_t sonic_xoff_bytes(const Headroom& terms) {
    const HeadroomInputs& in = terms.inputs;
    // Everything over the common denominator 5 x (8 x 1.98e8 x 1024 / 2000).
    constexpr std::uint64_t cable_divisor = 811'008'000;
    static_assert(cable_divisor * 2000 == 8 * signal_meters_per_second * 1024);
    constexpr std::uint64_t denominator = 5 * cable_divisor;
    const Wide sum = Wide{sonic_mtu_bytes + terms.reaction_bytes} * denominator +
                     Wide{sonic_mac_phy_bytes_x5} * cable_divisor +
                     Wide{5} * in.cable_m * in.rate.bits_per_second;
    const std::uint64_t cell = in.cell_bytes;
    const std::uint64_t factor_over = cell > 128 ? cell : 2 * cell;
    const std::uint64_t factor_under = cell > 128 ? 64 : 1 + cell;
    return sonic_lossless_bytes + 1024 * ceil_div(sum * factor_over, Wide{denominator} * factor_under * 1024);
}

std::string number(std::uint64_t n) { return std::to_string(n); }

// The remark on a figure that no vendor published.
std::string source(const HeadroomFigure& figure) { return figure.published ? "" : ", no published figure"; }

std::string turn_text(const Headroom& terms, Duration turn) {
    return number(static_cast<std::uint64_t>(turn.ps) / 1000) + " ns at " +
           number(terms.inputs.rate.bits_per_second / 1'000'000) + " Mb/s";
}

std::string cable_text(const HeadroomInputs& in) {
    return "2 x " + number(in.cable_m) + " m x " + number(in.rate.bits_per_second / 1'000'000) +
           " Mb/s / (8 x 1.98e8 m/s)";
}

std::string frame_text(std::uint32_t mtu, std::uint32_t tags) {
    std::string text = number(mtu) + " + " + number(ethernet_header_bytes);
    if (tags != 0)
        text += " + " + number(tags) + " VLAN " + (tags == 1 ? "tag" : "tags") + " of " + number(tag_bytes) +
                " B";
    return text;
}

std::vector<HeadroomRow> sonic_rows(const Headroom& terms) {
    const std::uint64_t cell = terms.inputs.cell_bytes;
    const std::string factor =
        cell > 128 ? number(cell) + "/64" : "2 x " + number(cell) + "/" + number(1 + cell);
    return {
        {"lossless packet", sonic_lossless_bytes, "1 KiB, SONiC's lossless MTU"},
        {"own frame", sonic_mtu_bytes, "9100, SONiC's default MTU"},
        {"cable", terms.cable_bytes, cable_text(terms.inputs) + " x 1000/1024"},
        {"MAC and PHY", (sonic_mac_phy_bytes_x5 + 4) / 5, "819.2"},
        {"peer reaction", terms.reaction_bytes,
         "64 x " + number(terms.reaction_quanta.value) + " quanta" + source(terms.reaction_quanta)},
        {"headroom (SONiC's xoff)", terms.xoff_bytes,
         "1024 + " + factor + " x the rest, rounded up to 1 KiB"},
    };
}

}  // namespace

HeadroomFigure peer_reaction_quanta(Rate rate, HeadroomFlavour flavour) {
    if (flavour == HeadroomFlavour::sonic && rate == gigabits(10)) return {sonic_quanta_10g, true};
    // Quanta grow with the speed, so a speed between two takes the faster one's.
    for (const Reaction& reaction : reactions)
        if (rate <= gigabits(reaction.gigabits))
            return {reaction.quanta, rate == gigabits(reaction.gigabits)};
    return {reactions.back().quanta, false};
}

HeadroomFigure interface_delay_bits(Rate rate) {
    if (rate == gigabits(10)) return {8192, true};
    if (rate == gigabits(25)) return {6144, true};
    if (rate == gigabits(40)) return {24576, true};
    if (rate < gigabits(50)) return {8192, false};
    // 100G's 122 880 bit times are 1.2288 us.
    return {ceil_div(Wide{rate.bits_per_second} * 12'288, Wide{10'000'000'000}), rate == gigabits(100)};
}

Duration reaction_time(Rate rate, std::optional<Duration> said) {
    if (said) return *said;
    HeadroomInputs inputs;
    inputs.rate = rate;
    const Headroom h = headroom(inputs);
    return rate.byte_time() * static_cast<std::int64_t>(h.obeying_bytes());
}

WorstMix worst_mix(std::uint64_t wire_bytes, std::uint64_t min_frame, std::uint64_t max_frame,
                   std::uint64_t cell_bytes) {
    assert(min_frame > 0 && min_frame <= max_frame && cell_bytes > 0);
    // Among sizes of equal cells the smallest fits most often, so only the first of each step is a candidate.
    WorstMix worst;
    for (std::uint64_t frame = min_frame; frame <= max_frame;) {
        const std::uint64_t frame_cells = ceil_div(frame, cell_bytes);
        const std::uint64_t cells = ceil_div(wire_bytes, frame + wire_overhead_bytes) * frame_cells;
        if (cells > worst.cells || worst.frame_bytes == 0) worst = {cells, frame};
        frame = frame_cells * cell_bytes + 1;
    }
    return worst;
}

Headroom headroom(const HeadroomInputs& inputs) {
    assert(inputs.rate.valid_port_speed() && inputs.cable_m <= HeadroomInputs::max_cable_m &&
           inputs.own_tags <= max_vlan_tags && inputs.peer_tags <= max_vlan_tags);
    Headroom h;
    h.inputs = inputs;
    const Wide cable_bits = Wide{2} * inputs.cable_m * inputs.rate.bits_per_second;
    h.max_frame_bytes = inputs.mtu_lossless + ethernet_header_bytes + tag_bytes * inputs.peer_tags;
    h.frame_cells = ceil_div(h.max_frame_bytes, inputs.cell_bytes);
    h.reaction_quanta = peer_reaction_quanta(inputs.rate, inputs.flavour);
    h.reaction_bytes = quantum_bytes * h.reaction_quanta.value;
    if (inputs.flavour == HeadroomFlavour::sonic) {
        h.cable_bytes = ceil_div(cable_bits * 1000, Wide{8} * signal_meters_per_second * 1024);
        h.xoff_bytes = sonic_xoff_bytes(h);
        h.xoff_cells = ceil_div(h.xoff_bytes, inputs.cell_bytes);
        return h;
    }
    h.own_frame_bytes =
        inputs.mtu_any + ethernet_header_bytes + tag_bytes * inputs.own_tags + wire_overhead_bytes;
    h.pfc_frame_bytes = pfc_wire_bytes;
    h.cable_bytes = ceil_div(cable_bits, Wide{8} * signal_meters_per_second);
    if (inputs.reaction) {
        h.reaction_bytes = bytes_in(inputs.rate, *inputs.reaction);
    } else {
        h.interface_bits = interface_delay_bits(inputs.rate);
        h.interface_bytes = ceil_div(Wide{2} * h.interface_bits.value, 8);
    }
    h.own_turn_bytes = bytes_in(inputs.rate, inputs.own_turn_max);
    h.peer_turn_bytes = bytes_in(inputs.rate, inputs.peer_turn_max);
    h.hand_over_bytes = bytes_in(inputs.rate, inputs.hand_over_max);
    h.peer_ring_bytes = inputs.peer_ring_bytes;
    h.wire_bytes = h.own_frame_bytes + h.pfc_frame_bytes + h.cable_bytes + h.obeying_bytes() +
                   h.own_turn_bytes + h.peer_turn_bytes + h.hand_over_bytes + h.peer_ring_bytes;
    h.unheld_bytes = h.own_frame_bytes + h.obeying_bytes();
    const std::uint64_t min_frame = std::min<std::uint64_t>(inputs.min_frame_bytes, h.max_frame_bytes);
    const WorstMix mix = worst_mix(h.wire_bytes, min_frame, h.max_frame_bytes, inputs.cell_bytes);
    h.worst_frame_bytes = mix.frame_bytes;
    h.mix_cells = mix.cells;
    h.xoff_cells = 2 * h.frame_cells + h.mix_cells;
    h.xoff_bytes = h.xoff_cells * inputs.cell_bytes;
    return h;
}

std::optional<std::uint32_t> longest_cable(HeadroomInputs inputs, std::uint64_t cells) {
    const auto fits = [&](std::uint32_t meters) {
        inputs.cable_m = meters;
        return headroom(inputs).xoff_cells <= cells;
    };
    if (!fits(0)) return std::nullopt;
    std::uint32_t low = 0;  // fits
    std::uint32_t high = HeadroomInputs::max_cable_m + 1;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return low;
}

std::vector<HeadroomRow> headroom_rows(const Headroom& h) {
    const HeadroomInputs& in = h.inputs;
    if (in.flavour == HeadroomFlavour::sonic) return sonic_rows(h);
    const std::string frame = number(h.frame_cells) + " cells of a packet of " + number(h.max_frame_bytes) +
                              " B = " + frame_text(in.mtu_lossless, in.peer_tags);
    std::vector<HeadroomRow> rows{
        {"own frame", h.own_frame_bytes, frame_text(in.mtu_any, in.own_tags) + " + 24"},
        {"PFC frame", h.pfc_frame_bytes, "64 + 20"},
        {"cable", h.cable_bytes, cable_text(in)},
        {"peer reaction", h.reaction_bytes,
         in.reaction ? turn_text(h, *in.reaction)
                     : "64 x " + number(h.reaction_quanta.value) + " quanta" + source(h.reaction_quanta)},
        {"interfaces", h.interface_bytes,
         in.reaction ? "in the reaction"
                     : "2 x " + number(h.interface_bits.value) + " bits / 8" + source(h.interface_bits)},
        {"own turn", h.own_turn_bytes, turn_text(h, in.own_turn_max)},
        {"peer's turn", h.peer_turn_bytes, turn_text(h, in.peer_turn_max)},
        {"peer's ring", h.peer_ring_bytes, "transmit ring and out-batch of a software peer"},
        {"bytes that can still arrive", h.wire_bytes, "the sum, on the wire"},
        {"packet that fired XOFF", h.frame_cells * in.cell_bytes, frame},
        {"the same, in cells", h.mix_cells * in.cell_bytes,
         number(h.mix_cells) + " cells, if all were frames of " + number(h.worst_frame_bytes) + " B"},
        {"frame just started", h.frame_cells * in.cell_bytes, frame},
        {"headroom (SONiC's xoff)", h.xoff_bytes,
         number(h.xoff_cells) + " cells x " + number(in.cell_bytes) + " B"},
    };
    if (h.hand_over_bytes != 0)  // before the peer's ring
        rows.insert(rows.begin() + 7, {"hand-over", h.hand_over_bytes, turn_text(h, in.hand_over_max)});
    return rows;
}

}  // namespace sluice
