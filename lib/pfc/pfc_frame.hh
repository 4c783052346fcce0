// MAC control frames (IEEE 802.3 clause 31, Annex 31B PAUSE, Annex 31D PFC; 802.1Q clause 36): build and
// read.
//
// 60 bytes without FCS, never tagged. Reading is liberal: the upper byte of the class-enable vector and
// everything behind the quanta are ignored, any source MAC will do, a frame may be cut after the last field.
// `PfcHonor` obeys a frame; PAUSE is only counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/frame/headers.hh"
#include "lib/values/ids.hh"

namespace sluice {

constexpr std::size_t pfc_frame_bytes = 60;

// The pause times of one frame; a quantum is 512 bit times of the link, 0 resumes.
struct PauseMap {
    std::uint8_t class_enable = 0;  // bit n: quanta[n] counts
    std::array<std::uint16_t, classes> quanta{};
    bool operator==(const PauseMap&) const = default;
};

void build_pfc_frame(std::span<std::uint8_t, pfc_frame_bytes> frame, const MacAddress& source,
                     const PauseMap& map);

struct MacControl {
    enum class Kind : std::uint8_t {
        malformed,       // too short for its opcode, or not of EtherType 0x8808
        unknown_opcode,  // neither of the two below
        pause,           // 802.3x
        pfc,
    };
    Kind kind = Kind::malformed;
    bool addressed = false;  // to 01:80:C2:00:00:01 or to `own`
    std::uint16_t opcode = 0;
    std::uint16_t pause_quanta = 0;  // of pause
    PauseMap map;                    // of pfc
};

// `view`: the frame from its Ethernet header, perhaps cut.
MacControl decode_mac_control(std::span<const std::uint8_t> view, const MacAddress& own);

}  // namespace sluice
