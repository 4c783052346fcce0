// What happened to a mirrored frame, as the comment of its packet block: a word, pairs NAME=VALUE, and for a
// drop the sentence of its reason. Programs read the pairs, so they stay as they are; new ones may be added.
//   drop reason=queue_limit ingress=h1 egress=h4 queue=3 class=3 lossless=no sequence=119 at_ns=59800: ...
//   delay waited_ns=120000 ingress=h1 egress=h4 queue=3 class=3 lossless=yes sequence=119 at_ns=59800
//   pause sent port=h1 xoff=3,4 quanta=65535,65535 xon=0 at_ns=59800
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/record/mirror.hh"

namespace sluice {

// `frame`: its first bytes. `ports`: names, by number.
std::string mirror_comment(const MirrorHead& head, std::span<const std::uint8_t> frame,
                           const std::vector<std::string>& ports);

}  // namespace sluice
