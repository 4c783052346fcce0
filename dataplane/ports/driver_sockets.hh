// The sockets that DPDK's drivers of kernel interfaces keep to themselves, found among this process's
// descriptors: v22.11 does not count all that they had no room for, and closes not all of them.
//
// net_af_packet asks for its sockets' PACKET_FANOUT with PACKET_FANOUT_FLAG_DEFRAG, for any number of queues:
// the kernel then puts IPv4 fragments together, and the whole packet does not fit the driver's ring, so that
// all fragments were lost and nobody counted them. A socket cannot leave its fanout group. This program
// therefore has setsockopt in front of libc's and takes that flag away (`link_args` in meson.build):
// fragments pass as they came. Nobody else here asks for PACKET_FANOUT; every other option passes unchanged.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace sluice {

std::vector<int> open_descriptors();
// A socket of this domain, as AF_PACKET.
bool is_socket_of(int domain, int descriptor);

// The sockets of net_af_packet at one interface, one a queue. None of its frames that its ring had no room
// for is in the driver's statistics.
class PacketSockets {
  public:
    // While the driver has them open. The index is the kernel's, of the interface they are bound to.
    explicit PacketSockets(int interface);

    // Frames that they had no room for, since they were found. The kernel clears its count when it is read.
    std::uint64_t beyond_ring();

  private:
    std::set<int> sockets_;
    std::uint64_t count_ = 0;
};

}  // namespace sluice
