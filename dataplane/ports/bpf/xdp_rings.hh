// The packets in the rings of an AF_XDP socket whose interface has gone: v22.11's net_af_xdp does not give
// them back when it is closed, and an interface that comes and goes would take all there are.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

// A ring as both sides see it: of the positions below `producer` those from `consumer` on have something in
// them. Positions count up and wrap around; position n is in slot n % slots.
struct XdpRing {
    std::uint32_t producer = 0;
    std::uint32_t consumer = 0;
    std::vector<std::uint64_t> slots;  // places in the UMEM; a power of two of them, or none
};

struct XdpRings {
    XdpRing fill;        // to be filled by the kernel
    XdpRing receive;     // filled
    XdpRing transmit;    // to be sent; read by the kernel, which may not have said yet how far
    XdpRing completion;  // sent
};

struct XdpPackets {
    std::vector<std::uint64_t> places;  // where each begins
    std::size_t to_receive = 0;         // of them, those in the rings for receiving
};
// The packets in the rings of a kernel that no longer uses them, each once. One that the driver may have
// freed is left out: the completion ring lists sent packets in the order of the transmit ring, so there are
// as many left to send as positions differ.
XdpPackets packets_in(const XdpRings& rings);

// Of a socket of this process; empty rings while its interface is there, or when they cannot be found.
XdpRings rings_of(int socket);

}  // namespace sluice
