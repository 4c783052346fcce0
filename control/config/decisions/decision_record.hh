// A packet's way through the switch, or a pause: as JSON with a fixed order of keys, and as a sentence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/clock/capture_timeline.hh"
#include "lib/record/decision_event.hh"

namespace sluice {

struct DecisionRecord {
    DecisionKey key;
    std::uint32_t cell_bytes = 256;  // of the switch
    Time end{};                      // departure, drop, pause, or the end of the run
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
    // False when an event is missing: lost, or still on its way.
    bool is_whole() const;
    Verdict verdict() const;
    // Where it was decided: a queue, a group, or before the buffer a port.
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
// Explains a drop, mark or pause with its numbers, and a CNP that passed. `pause`: its group's last XOFF.
std::string explain(const DecisionRecord& record, const PortNames& ports, const GroupPaused* pause);
// "queue_limit", "wred", "xoff", for a table.
std::string reason_of(const DecisionRecord& record);

}  // namespace sluice
