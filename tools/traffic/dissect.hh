// Finds the layers of a frame: tags, IPv4 or IPv6, transport. Bounds-checked; knows nothing of the switch, so
// that it may serve as a second opinion about the switch's work. It verifies only the fields needed to go on:
// no checksums. Offsets are from the start of the frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "control/config/schema/config.hh"
#include "lib/frame/headers.hh"

namespace sluice::traffic {

struct Dissection {
    std::uint16_t ether_type =
        0;  // behind the tags; below 0x600 an 802.3 length; 0: the frame ends before it
    unsigned tags = 0;
    std::size_t network = 0;  // offset of the header behind the Ethernet header and the tags

    std::uint8_t ip_version =
        0;  // 4 or 6 when the fixed IP header is there and says so; else 0, and nothing below holds
    std::uint8_t tos = 0;  // or traffic class
    IpAddress source;
    IpAddress destination;

    // Where the IP length says the packet ends. Beyond the frame's end if it was cut; 0 if the length is
    // nonsense.
    std::size_t ip_end = 0;
    bool fragment = false;  // any but a whole packet
    std::uint8_t protocol = 0;
    std::size_t transport = 0;  // 0: not reached (later fragment, cut, nonsense)

    Ecn ecn() const { return static_cast<Ecn>(tos & 3U); }
};

// `frame` begins at the destination MAC and has no FCS. At most 8 tags and 16 extension headers are followed.
Dissection dissect(std::span<const std::uint8_t> frame);

}  // namespace sluice::traffic
