// Whether a frame on a wire is MAC control: pauses, which are exempt from what happens to data.
#pragma once

#include "dataplane/base/packet.hh"
#include "lib/frame/headers.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/endian.hh"

namespace sluice {

inline bool is_mac_control(Packet* packet) {
    return packet->pkt_len == pfc_frame_bytes && packet->data_len == pfc_frame_bytes &&
           load_be<std::uint16_t>(frame_bytes(packet) + 12) == ether_type::mac_control;
}

}  // namespace sluice
