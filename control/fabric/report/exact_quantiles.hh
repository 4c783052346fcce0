// Quantiles of completion time and slowdown that are exact, as those of messages.csv: a report has them
// rounded up to 1/16, which would hide what tells two points of a sweep apart.
//
// They are those of flows and message_sizes, and of the flows of phases. A message is a row of messages.csv:
// the queue pairs that share a listed flow make one. It belongs to the phase in which it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/report/ended_messages.hh"

namespace sluice::fabric {

class ExactQuantiles {
  public:
    // The plan outlives it.
    explicit ExactQuantiles(const FabricPlan& plan) : phases_(plan.file.scenario.phases) {}

    // Those that were acknowledged, in any order; 40 bytes each are kept until the end.
    void add(std::span<const EndedMessage> messages);
    // Calls `use` while the whole report of the run has them: nanoseconds and thousandths, with fractions.
    // Afterwards it is as it was.
    void lend_to(nlohmann::ordered_json& report,
                 const std::function<void(const nlohmann::ordered_json& report)>& use) const;

  private:
    struct Message {
        Time ended;
        Duration took, ideal;
        std::uint64_t bytes;
        std::uint32_t flow;
    };

    const std::vector<PhaseConfig>& phases_;
    std::vector<Message> messages_;
};

}  // namespace sluice::fabric
