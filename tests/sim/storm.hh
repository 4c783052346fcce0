// Pause storms against a small switch at 1 Gb/s, where a pause lasts 33.6 ms, and what its watchdog makes of
// them. Detection and restoration take 100 ms.
#pragma once

#include <optional>
#include <vector>

#include "tests/sim/sim_switch.hh"

namespace sluice::sim {

constexpr Time at_us(std::int64_t us) { return Time{} + microseconds(us); }
constexpr Time at_ms(std::int64_t ms) { return at_us(ms * 1000); }
constexpr Duration ms(std::int64_t n) { return milliseconds(n); }

// Four ports; lossless classes 3 and 4 (DSCP 26 and 34).
inline Config storm_config() {
    Config config = sim_config(4, gigabits(1), 5, 1500);
    config.maps["default"].dscp_to_tc[34] = 4;
    for (auto& [name, port] : config.ports) port.pfc = {3, 4};
    config.watchdog.detection = config.watchdog.restoration.emplace(ms(100));
    return config;
}

// A frame of 1514 bytes every `every` from `start` on.
inline Flow flow_of(ClassId priority, PortId to, Duration every = ms(1), Time start = {}) {
    Flow flow;
    flow.dscp = priority == 3 ? 26 : priority == 4 ? 34 : 0;
    flow.priority = priority;
    flow.to = to;
    flow.interval = every;
    flow.start = start;
    return flow;
}

struct Storm {
    Time from;
    Time to;  // the last frame comes before
    std::uint8_t priorities = 1U << 3;
    std::uint16_t quanta = 0xFFFF;
    Duration every = ms(10);

    void send(SimPort& port) const {
        PauseMap map{priorities, {}};
        map.quanta.fill(quanta);
        for (Time at = from; at < to; at = at + every) port.send_pause(at, map);
    }
    Time last() const {
        Time at = from;
        while (at + every < to) at = at + every;
        return at;
    }
};

// When the watchdog of a queue acted.
class StormLog {
  public:
    StormLog(SimSwitch& sim, PortId port, ClassId queue) : sim_(sim), port_(port), queue_(queue) {}
    void look() {
        if (counters().detected.get() != detected.size()) detected.push_back(sim_.now());
        if (counters().restored.get() != restored.size()) restored.push_back(sim_.now());
    }
    const WatchdogCounters& counters() const { return sim_.device().port(port_).watchdog.counters[queue_]; }
    WatchdogState state() const { return sim_.device().port(port_).watchdog.machine.state(queue_); }

    std::vector<Time> detected;
    std::vector<Time> restored;

  private:
    SimSwitch& sim_;
    PortId port_;
    ClassId queue_;
};

// Entry n of a log; an impossible time when there were fewer.
inline Time nth(const std::vector<Time>& times, std::size_t n) {
    return n < times.size() ? times[n] : Time{} - Duration{1};
}

inline void stop_flows(SimSwitch& sim) {
    for (PortId id = 0; id < sim.device().port_count(); ++id) sim.port(id).stop_flows();
}

// Lets everything leave that still can, and checks the drained switch.
inline void drain(SimSwitch& sim) {
    stop_flows(sim);
    sim.drain(sim.now() + seconds(2));
}

}  // namespace sluice::sim
