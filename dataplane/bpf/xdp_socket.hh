// The AF_XDP sockets of this process. net_af_xdp keeps its own to itself, and v22.11 counts only a part of
// what a socket had no room for: frames for which there was no buffer, not those beyond its full ring.
#pragma once

#include <cstdint>
#include <set>

namespace sluice {

// Their descriptors, which stay their owners'.
std::set<int> xdp_sockets();

// Frames that one had no room for in its receive ring; 0 when it is closed.
std::uint64_t beyond_full_ring(int socket);

}  // namespace sluice
