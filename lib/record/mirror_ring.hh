// The way of mirrored frames from a worker to control. Apart from mirror.hh, which the configuration includes
// and so nearly every file of control.
#pragma once

#include <array>
#include <cstdint>

#include "lib/record/mirror.hh"
#include "lib/threads/counters.hh"
#include "lib/threads/mailbox.hh"

namespace sluice {

// From one worker to control.
struct MirrorRing {
    using Frames = FrameMailbox<MirrorHead, max_mirrored_bytes>;
    explicit MirrorRing(std::uint16_t slots) : frames(slots) {}
    Frames frames;
    std::array<Counter, max_mirrors> lost;  // frames for which there was no room, by mirror
};

}  // namespace sluice
