// Makes one out-of-the-ordinary frame. It starts from a right RoCEv2 frame and changes one thing, so that a
// switch that misses that thing would forward it; those with no IP at all are made from nothing.
#pragma once

#include <cstdint>

#include "tools/traffic/frame.hh"

namespace sluice::traffic {

// `turn` counts this flow's frames; variants with two forms alternate by it.
void build_malformed(Frame& frame, Malformation which, LinkFields link, IpFields ip, const RoceFields& roce,
                     const PayloadSpec& spec, std::uint64_t turn);

}  // namespace sluice::traffic
