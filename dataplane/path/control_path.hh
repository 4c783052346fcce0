// Whole frames between a port's owner and control, in both directions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/frame/drop_reason.hh"
#include "lib/punt/punt.hh"
#include "lib/threads/counters.hh"
#include "lib/threads/mailbox.hh"

namespace sluice {

// Events from one worker to control. Those that do not fit are counted and lost.
template <class Event>
struct EventRing {
    explicit EventRing(std::size_t capacity) : events(capacity) {}
    bool post(const Event& event) {
        if (events.post({&event, 1}) == 1) [[likely]]
            return true;
        lost.add(1);
        return false;
    }
    // Reader: calls take(event) for all events that are there now.
    template <class Take>
    void drain(Take take) {
        std::size_t left = events.size();
        if (left == 0) return;  // before 64 of them are made
        std::array<Event, 64> some;
        while (left != 0) {
            const std::size_t count = events.collect(std::span(some).first(std::min(left, some.size())));
            for (std::size_t i = 0; i < count; ++i) take(some[i]);
            left -= count;
        }
    }
    Mailbox<Event> events;
    Counter lost;
};

struct PuntHead {
    PuntClass punt;
    std::uint16_t exceeded_mtu;  // the egress port's MTU, of a frame that is longer; else 0
};

struct InjectHead {
    enum class Origin : std::uint8_t {
        kernel,    // from the kernel or a program behind a TAP, to leave by the port
        reply,     // from the switch itself, likewise
        returned,  // it came in by the port, was kept, and is routed now
        mirrored,  // from a mirror, to its collector behind the port
    };
    Origin origin;
    DropReason drop;       // of a frame that is returned: why it goes no further; none: it does
    std::uint32_t mirror;  // of a frame that is mirrored: the mirror's identity, for control
};

struct alignas(64) ControlPath {
    explicit ControlPath(std::uint16_t slots) : punted(slots), injected(slots) {}

    void configure(const std::array<PuntLimit, punt_class_count>& limits) {
        for (std::size_t n = 0; n < punt_class_count; ++n) sluice::configure(bucket[n], limits[n]);
    }

    FrameMailbox<PuntHead> punted;      // the owner writes, control reads
    FrameMailbox<InjectHead> injected;  // the other way, announced by WorkerContext::injections
    std::array<TokenBucket, punt_class_count> bucket;  // the owner's
};

}  // namespace sluice
