// How deep queues were, and for how long: [results] depths.
//
// The depth after an instant of a switch holds until its next one, so shares are those of time, exact to the
// grid of the clock. A queue that never held a packet has no entry. Quantiles are rounded up to 1/16.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "control/fabric/run/fabric.hh"
#include "lib/threads/histogram.hh"

namespace sluice::fabric {

class DepthReport {
  public:
    // From now on; the fabric's on_instant is its own.
    explicit DepthReport(Fabric& fabric);
    DepthReport(const DepthReport&) = delete;
    DepthReport& operator=(const DepthReport&) = delete;

    // Between two windows of the clock. A phase begins.
    void begin_phase();
    // By switch, port and queue: since the phase began, or since the start.
    nlohmann::ordered_json of_phase() { return json(&Queue::phase); }
    nlohmann::ordered_json of_run() { return json(&Queue::run); }

  private:
    __extension__ using Wide = unsigned __int128;
    // Times that a queue had its depths, in cells: 1 ps stands for a cell.
    struct Depths {
        Histogram cells;
        Wide cell_ps = 0;  // their integral
    };
    struct Queue {
        Time since{};
        std::uint32_t cells = 0;  // from then on
        std::unique_ptr<Depths> run = std::make_unique<Depths>(), phase = std::make_unique<Depths>();

        void hold_until(Time now);
    };
    // Written by the switch's thread.
    struct Device {
        Time begun{}, phase_begun{};
        std::vector<std::uint8_t> filled;            // by port: bit n: queue n holds packets
        std::vector<std::unique_ptr<Queue>> queues;  // by port and class; null: it was always empty
    };

    void look(std::uint32_t number);
    void settle();
    nlohmann::ordered_json json(std::unique_ptr<Depths> Queue::*which);

    Fabric& fabric_;
    std::vector<Device> devices_;  // by switch
};

}  // namespace sluice::fabric
