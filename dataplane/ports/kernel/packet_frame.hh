// A frame in a slot of an AF_PACKET ring: as the kernel left it there, and as it was on the wire.
#pragma once

#include <linux/if_packet.h>

#include <cstdint>
#include <span>

#include "dataplane/base/packet.hh"

namespace sluice {

struct FrameInSlot {
    std::span<std::uint8_t> bytes;
    bool is_uncut;  // of several segments
};

// Puts what the kernel took out back into the slot's frame, in place.
FrameInSlot frame_in(tpacket2_hdr* slot);

// Copies a frame into a packet and as many more of its pool as it needs; false when the pool is empty.
bool fill(Packet* packet, std::span<const std::uint8_t> bytes);

}  // namespace sluice
