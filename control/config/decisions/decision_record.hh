// All that is known of one packet's way, or of one pause, and how it is written: as a line of JSON with its
// keys in a fixed order, and as one sentence for a person.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/clock/capture_timeline.hh"
#include "lib/record/decision_event.hh"

namespace sluice {

struct DecisionRecord {
    DecisionKey key;
    Time end{};  // departure, drop, pause, or the end of the run
    std::optional<Arrived> arrived;
    Time arrived_at{};
    std::optional<Routed> routed;
    std::optional<Admitted> admitted;
    std::optional<Enqueued> enqueued;
    Time enqueued_at{};
    std::optional<Drawn> drawn;  // the last that did more than pass, else the last
    std::optional<Departed> departed;
    std::optional<Dropped> dropped;
    std::optional<Punted> punted;
    std::optional<GroupPaused> paused;  // then the rest is absent and the key's sequence is the group

    void join(const DecisionEvent& event);
    bool has_ended() const { return departed || dropped || punted || paused; }
    // False when an event that must have been there was lost, or is still on its way.
    bool is_whole() const;
    Verdict verdict() const;
    // Where it was decided: a queue, a group, or a port before anything was asked for a place in the buffer.
    enum class At : std::uint8_t { port, group, queue };
    struct Place {
        At at;
        PortId port;
        ClassId number;  // of the queue or group, else 0
        auto operator<=>(const Place&) const = default;
    };
    Place place() const;
};

using PortNames = std::vector<std::string>;

// With a timeline, the arrival also as a capture's stamp (`captured_ns`).
std::string json_line(const DecisionRecord& record, const PortNames& ports,
                      const CaptureTimeline* timeline = nullptr);
// Why it was dropped, marked or paused, with the numbers; of a CNP that passed, its request. `pause`: the
// last XOFF of its group, or null.
std::string explain(const DecisionRecord& record, const PortNames& ports, const GroupPaused* pause);
// "queue_limit", "wred", "xoff": short, for a table.
std::string reason_of(const DecisionRecord& record);

}  // namespace sluice
