// A frame in a slot of an AF_PACKET ring: as the kernel left it there, and as it was on the wire.
#pragma once

#include <linux/if_packet.h>

#include <cstdint>
#include <span>

namespace sluice {

struct FrameInSlot {
    std::span<std::uint8_t> bytes;
    bool is_uncut;  // of several segments
};

// Puts what the kernel took out back into the slot's frame, in place.
FrameInSlot frame_in(tpacket2_hdr* slot);

}  // namespace sluice
