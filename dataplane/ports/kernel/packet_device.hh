// The device string of an AF_PACKET port taken apart: "net_af_packet0,iface=eth1,qpairs=2", in the words of
// DPDK's driver of that name, which this port replaces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "dataplane/ports/ring_size.hh"

namespace sluice {

struct PacketDevice {
    static constexpr unsigned max_slots = 32768;

    std::string interface;
    unsigned queues = 1;                // qpairs
    unsigned slots = ring_descriptors;  // framecnt: of each ring
    bool qdisc_bypass = true;           // frames go to the interface's driver, past the kernel's queues
};

// An error's text says which argument is wrong, and what to write. `blocksz` and `framesz` are taken and
// change nothing: a slot holds the largest frame of the switch.
tl::expected<PacketDevice, std::string> parse_packet_device(std::string_view text);

}  // namespace sluice
