// Records the decisions of a simulated switch, and the switches and loads that tests of records share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "control/config/decisions/decision_joiner.hh"
#include "dataplane/path/control_path.hh"
#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sim {

inline constexpr std::uint32_t frame = 1500;
inline constexpr std::uint32_t frame_cells = 6;

inline PortNames names(std::size_t ports) {
    PortNames list;
    for (std::size_t id = 0; id < ports; ++id) list.push_back("p" + std::to_string(id));
    return list;
}

// Empties the rings after every instant, as control does, and keeps the events as well.
class Recorder {
  public:
    explicit Recorder(SimSwitch& sim)
        : sim_(sim), log_(names(sim.device().port_count()), 1U << 20, [this](const std::string& line) {
              lines.push_back(line);
          }) {
        sim.on_instant = [this] { drain(); };
    }
    void drain() {
        log_.keep(sim_.policy().decisions.verdicts);
        for (unsigned w = 0; w < sim_.device().worker_count(); ++w) {
            auto* ring = sim_.device().decisions(static_cast<WorkerId>(w));
            std::array<DecisionEvent, 1> event;
            while (ring && ring->events.collect(event) == 1) {
                events.push_back(event[0]);
                log_.join(event[0]);
            }
        }
        log_.settle();
    }
    void finish() {
        drain();
        log_.finish(sim_.now());
    }
    std::uint64_t lost() {
        std::uint64_t sum = 0;
        for (unsigned w = 0; w < sim_.device().worker_count(); ++w)
            sum += sim_.device().decisions(static_cast<WorkerId>(w))->lost.get();
        return sum;
    }
    template <class What>
    std::vector<What> all(std::optional<DecisionKey> key = {}) const {
        std::vector<What> found;
        for (const DecisionEvent& event : events)
            if (const auto* what = std::get_if<What>(&event.what);
                what != nullptr && (!key || event.key == *key))
                found.push_back(*what);
        return found;
    }
    const DecisionJoiner& log() const { return log_; }

    std::vector<std::string> lines;
    std::vector<DecisionEvent> events;

  private:
    SimSwitch& sim_;
    DecisionJoiner log_;
};

inline Flow flow_to(PortId to, std::uint32_t bytes = frame) {
    Flow flow;
    flow.to = to;
    flow.size = [bytes](Time) { return bytes; };
    return flow;
}

inline constexpr std::uint64_t reserved_cells = 2 * frame_cells + 3, headroom_cells = 3 * frame_cells + 2,
                               limit_cells = 7 * frame_cells + 1;

// Port 0's lossless group is small and fixed, its peer ignores PFC.
inline Config small_group(unsigned ports, unsigned workers = 1) {
    Config config = sim_config(ports, gigabits(100));
    config.workers = workers;
    config.decisions.record = RecordMode::on;
    PortConfig& port = port_of(config, 0);
    port.small_xoff = true;
    port.peer = PeerKind::ignore;
    PriorityGroupConfig& group = port.priority_group[lossless];
    group.size_bytes = reserved_cells * 256;
    group.static_bytes = limit_cells * 256;
    group.xoff_bytes = headroom_cells * 256;
    group.xon_offset_bytes = std::uint64_t{2 * frame_cells * 256};
    return config;
}

// Incast, crossing traffic, a port that comes and goes, one group that overruns and lossy queues that are
// full.
inline Config busy(unsigned workers) {
    Config config = small_group(5, workers);
    config.buffer_size_bytes = 4'000'000;
    config.virtual_turn = nanoseconds(500);
    PortConfig& sink = port_of(config, 4);
    sink.queue[0].static_bytes = std::uint64_t{40'000};
    return config;
}

inline void load(SimSwitch& sim) {
    for (PortId id = 0; id < 4; ++id) {
        Flow flow = flow_to(4, 1200 + 100U * id);
        flow.frames = 400;
        sim.add(id, flow);
        flow.to = 2;  // which goes down with what is queued for it
        flow.frames = 100;
        if (id != 2) sim.add(id, flow);
        flow.to = static_cast<PortId>((id + 1) % 4);
        flow.dscp = 0;
        flow.priority = 0;
        flow.frames = 200;
        sim.add(id, flow);
        flow.to = 4;
        sim.add(id, flow);
    }
    sim.at(Time{} + microseconds(40), [&] { sim.set_port(2, false); });
    sim.at(Time{} + microseconds(70), [&] { sim.set_port(2, true); });
    sim.at(Time{} + microseconds(20), [&] { sim.hold(3, 0, true); });
    sim.at(Time{} + microseconds(90), [&] { sim.hold(3, 0, false); });
}

// Recorded from the start every cell of a group is known, and where it is.
inline void check_cells(const GroupPaused& pause) {
    std::uint32_t sum = pause.other_queues;
    for (std::size_t i = 0; i < pause.filler_count; ++i) sum += pause.fillers[i].cells;
    LONGS_EQUAL(0, pause.unknown);
    LONGS_EQUAL(pause.reserved + pause.shared + pause.headroom, sum);
}

inline bool contains(const std::string& line, const char* what) {
    return line.find(what) != std::string::npos;
}

inline std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

}  // namespace sluice::sim
