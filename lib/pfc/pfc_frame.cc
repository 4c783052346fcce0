#include "lib/pfc/pfc_frame.hh"

#include <algorithm>
#include <cstring>

namespace sluice {

namespace {

constexpr std::size_t opcode_offset = sizeof(EthernetHeader);
constexpr std::size_t parameters_offset = opcode_offset + sizeof(Be16);
static_assert(offsetof(PfcFrame, opcode) == opcode_offset);
static_assert(sizeof(PfcFrame) <= pfc_frame_bytes);

}  // namespace

void build_pfc_frame(std::span<std::uint8_t, pfc_frame_bytes> frame, const MacAddress& source,
                     const PauseMap& map) {
    PfcFrame pfc{};
    pfc.ethernet.destination = mac_control_address;
    pfc.ethernet.source = source;
    pfc.ethernet.type.set(ether_type::mac_control);
    pfc.opcode.set(mac_control_opcode::pfc);
    pfc.class_enable.set(map.class_enable);
    for (unsigned n = 0; n < classes; ++n)
        if ((map.class_enable >> n & 1U) != 0) pfc.quanta[n].set(map.quanta[n]);
    std::memcpy(frame.data(), &pfc, sizeof pfc);
    std::fill(frame.begin() + sizeof pfc, frame.end(), std::uint8_t{0});
}

MacControl decode_mac_control(std::span<const std::uint8_t> view, const MacAddress& own) {
    MacControl control;
    if (view.size() < parameters_offset) return control;
    EthernetHeader ethernet;
    std::memcpy(&ethernet, view.data(), sizeof ethernet);
    control.addressed = ethernet.destination == mac_control_address || ethernet.destination == own;
    if (ethernet.type.get() != ether_type::mac_control) return control;
    control.opcode = load_be<std::uint16_t>(view.data() + opcode_offset);

    if (control.opcode == mac_control_opcode::pause) {
        if (view.size() < parameters_offset + sizeof(Be16)) return control;
        control.kind = MacControl::Kind::pause;
        control.pause_quanta = load_be<std::uint16_t>(view.data() + parameters_offset);
    } else if (control.opcode == mac_control_opcode::pfc) {
        if (view.size() < sizeof(PfcFrame)) return control;
        PfcFrame pfc;
        std::memcpy(&pfc, view.data(), sizeof pfc);
        control.kind = MacControl::Kind::pfc;
        control.map.class_enable =
            static_cast<std::uint8_t>(pfc.class_enable.get());  // the upper byte is ignored
        for (unsigned n = 0; n < classes; ++n) control.map.quanta[n] = pfc.quanta[n].get();
    } else {
        control.kind = MacControl::Kind::unknown_opcode;
    }
    return control;
}

}  // namespace sluice
