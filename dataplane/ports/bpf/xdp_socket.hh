// The AF_XDP sockets and BPF objects of this process. net_af_xdp keeps its own to itself, does not close all
// of them, and v22.11 counts only a part of what a socket had no room for: frames for which there was no
// buffer, not those beyond its full ring.
#pragma once

#include <cstdint>
#include <set>

namespace sluice {

// Descriptors of AF_XDP sockets, and of BPF programs, maps and types, which stay their owners'.
std::set<int> xdp_descriptors();

// Frames that a socket had no room for in its receive ring; 0 when it is closed, or none.
std::uint64_t beyond_full_ring(int socket);

}  // namespace sluice
