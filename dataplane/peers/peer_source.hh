// The contract of a source: it sends a simulated peer's frames and takes those that the switch delivers.
// Sources are captures, flows of a test, and hosts with timers.
//
// PeerPort asks the source for its next step, takes that step when it is due, and asks again; the source
// keeps no wire and no pauses of its own. All times are at the switch: a frame's time is when its first bit
// arrives there, so a peer that answers a frame adds the cable twice. Steps come in order of time. The source
// decides between its classes and keeps each class in order: `wire.earliest_start(class)` says when the wire
// and our PFC let a frame start. A step may also put a frame aside, or be a timer of the source's: it then
// starts nothing and takes no time on the wire.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/port.hh"
#include "lib/peer/pause_sender.hh"
#include "lib/values/units.hh"

namespace sluice {

// The frame that a step of a source has started.
struct Started {
    Packet* packet = nullptr;  // arrives now, meta().arrival says when it began; the port owns it
    bool lost = false;         // a frame has started, and there was no packet buffer for it
};

template <class Source>
concept PeerSource =
    requires(Source source, const Source& same, PauseSender& wire, const PauseSender& paused,
             const typename Source::Next& next, Packet* packet, Time at, PortAccount& account) {
        // The next step if nothing more is heard until then; none: the source has nothing to do. Called
        // often.
        { next.at } -> std::convertible_to<Time>;
        { same.next_start(paused) } -> std::same_as<std::optional<typename Source::Next>>;
        // Takes the step that next_start returned last. A frame that starts is reported to the wire
        // (`wire.started`) and made into a packet.
        { source.start(next, wire) } -> std::same_as<Started>;
        // Frames will come even if the switch does nothing; those that our pause holds do not count.
        { same.expects_frames(paused) } -> std::same_as<bool>;
        // The switch sends a frame, whose first bit leaves at `at`; the port frees it unless the source keeps
        // it and sets `packet` to null. True: the next step may have changed. PFC has reached the wire
        // before; the frame is shown here, too.
        { source.deliver(packet, at) } -> std::same_as<bool>;

        // Frames that have started and arrive later, or come independent of the wire (NothingUnderWay).
        { same.next_under_way() } -> std::same_as<std::optional<Time>>;
        { source.arrived(at) } -> std::same_as<Packet*>;  // the first that has arrived by `at`, or null
        { source.lose_under_way(at) } -> std::same_as<std::uint64_t>;  // frees those that arrive by `at`

        // The link has gone down at `at`, or is still down: frames that `deliver` was given and that are on
        // the cable are lost.
        { source.link_lost(at) };

        { same.add_to(account) };
        { source.close() } -> std::same_as<std::string>;  // an error's text, or empty
    };

// For a source whose frames arrive at the moment they start.
struct NothingUnderWay {
    static std::optional<Time> next_under_way() { return std::nullopt; }
    static Packet* arrived(Time) { return nullptr; }
    static std::uint64_t lose_under_way(Time) { return 0; }
    static void link_lost(Time) {}
};

}  // namespace sluice
