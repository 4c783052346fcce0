// Mirrored frames, of packets that are dropped or wait long, and of pauses. A worker copies their first bytes
// and the event into a ring of its own, from which control writes them.
//
// The worker decides once which mirrors want a frame; control limits a mirror's rate, as it sees the frames
// of all workers in one order. Times are those of the turn in which the switch dropped, sent or received the
// frame.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "lib/frame/drop_reason.hh"
#include "lib/values/ids.hh"
#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

constexpr unsigned max_mirrors = 8;              // of one switch
constexpr std::size_t max_mirrored_bytes = 256;  // of a frame

enum class MirrorEvent : std::uint8_t { drop, delay, pause };
constexpr std::uint8_t bit_of(MirrorEvent event) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(event));
}

constexpr std::string_view to_string(MirrorEvent event) {
    constexpr std::array<std::string_view, 3> names{"drop", "delay", "pause"};
    return names[static_cast<std::size_t>(event)];
}

constexpr PortId no_port = max_ports;

// What happened to a frame.
struct MirrorHead {
    Time at{};
    Duration waited{};           // in its queue, of a delayed packet
    std::uint64_t sequence = 0;  // among those of its ingress port; 0 of a pause
    PortId ingress = no_port;    // of a pause that was sent: none
    PortId egress = no_port;     // none: not routed, or a pause that came in
    std::uint16_t frame_bytes = 0;
    MirrorEvent event = MirrorEvent::drop;
    DropReason reason = DropReason::none;
    ClassId queue = 0;            // where there is an egress port
    std::uint8_t of_classes = 0;  // the packet's traffic class, or the priorities of a pause, as a mask
    bool lossless = false;
    std::uint8_t mirrors = 0;  // bit n: mirror n wants it

    // Shown at its ingress interface, or else at its egress.
    bool is_inbound() const { return event == MirrorEvent::drop || egress == no_port; }
    PortId shown_at() const { return is_inbound() ? ingress : egress; }

    // An order of the frames of an instant that does not depend on the number of workers.
    auto order() const { return std::tuple(at.ps, event, ingress, egress, sequence); }
};

struct MirrorFilter {
    std::uint8_t events = 0;  // bits of MirrorEvent; 0: nothing
    std::uint8_t of_classes = 0xFF;
    std::uint64_t reasons = ~std::uint64_t{0};  // of drops, bit n: DropReason n
    PortMask ports = PortMask::all();           // ingress or egress
    Duration min_wait{};                        // of a delay

    bool wants(const MirrorHead& head) const {
        if ((events & bit_of(head.event)) == 0 || (of_classes & head.of_classes) == 0) return false;
        if (head.event == MirrorEvent::drop && (reasons >> static_cast<unsigned>(head.reason) & 1U) == 0)
            return false;
        if (head.event == MirrorEvent::delay && head.waited < min_wait) return false;
        return (head.ingress != no_port && ports.contains(head.ingress)) ||
               (head.egress != no_port && ports.contains(head.egress));
    }
};
static_assert(drop_reason_count <= 64);

struct MirrorRing;

// The settings of all mirrors, as workers read them.
struct MirrorPolicy {
    std::uint8_t events = 0;  // that any mirror wants
    std::uint16_t bytes = 0;  // of a frame, at most
    Duration min_wait{INT64_MAX};
    std::array<MirrorFilter, max_mirrors> filter{};
    std::span<MirrorRing* const> rings;  // by worker; none where there are no events

    bool wants(MirrorEvent event) const { return (events & bit_of(event)) != 0; }
    void set_mirror(unsigned number, const MirrorFilter& wanted, std::uint16_t first_bytes) {
        filter[number] = wanted;
        events |= wanted.events;
        bytes = std::max(bytes, first_bytes);
        if ((wanted.events & bit_of(MirrorEvent::delay)) != 0) min_wait = std::min(min_wait, wanted.min_wait);
    }
    std::uint8_t wanted_by(const MirrorHead& head) const {
        unsigned mirrors = 0;
        for (unsigned n = 0; n < max_mirrors; ++n)
            if (filter[n].wants(head)) mirrors |= 1U << n;
        return static_cast<std::uint8_t>(mirrors);
    }
};

}  // namespace sluice
