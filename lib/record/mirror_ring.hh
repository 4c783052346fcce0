// Mirrored frames from a worker to control. Apart from mirror.hh, which nearly every file of control
// includes.
#pragma once

#include <array>
#include <cstdint>

#include "lib/record/mirror.hh"
#include "lib/threads/counters.hh"
#include "lib/threads/mailbox.hh"

namespace sluice {

struct MirrorRing {
    using Frames = FrameMailbox<MirrorHead, max_mirrored_bytes>;
    explicit MirrorRing(std::uint16_t slots) : frames(slots) {}
    Frames frames;
    std::array<Counter, max_mirrors> lost;  // frames for which there was no room, by mirror
};

}  // namespace sluice
