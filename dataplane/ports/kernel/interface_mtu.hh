// The frames that the kernel sends at an interface of an MTU: it refuses longer ones.
#pragma once

#include <cstdint>

#include "dataplane/base/packet.hh"
#include "lib/frame/headers.hh"

namespace sluice {

// With one 802.1Q tag four bytes more.
inline bool fits(Packet* packet, std::uint32_t mtu) {
    constexpr std::uint32_t header_bytes = 14, tag_bytes = 4;
    if (packet->pkt_len <= mtu + header_bytes) [[likely]]
        return true;
    return packet->pkt_len <= mtu + header_bytes + tag_bytes && packet->data_len >= header_bytes &&
           load_be<std::uint16_t>(frame_bytes(packet) + 12) == ether_type::vlan;
}

}  // namespace sluice
