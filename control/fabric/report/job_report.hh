// Jobs: steps and their stragglers, communication that compute hides and that it does not, and why the slow
// steps were slow.
//
// Communication is a time in which a step of any of the job's collectives goes on, from the first rank's
// beginning to the last one's end, or a flow of a workload. Computing are hosts between two steps of a
// collective, and for its `overlap` from a step's beginning on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/fabric/report/ended_messages.hh"
#include "control/fabric/report/mark_blame.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

inline constexpr std::size_t max_slow_steps = 8;  // that are explained, of a job

// What is known of the messages of each flow.
class FlowProgress {
  public:
    struct Flow {
        std::uint64_t messages = 0, bytes = 0, failed = 0;
        std::optional<Time> first;  // when the first of them came
        Time last{};                // when the last of them ended
    };
    explicit FlowProgress(const FabricPlan& plan)
        : flows_(plan.file.flows.size()), marked_(plan.file.flows.size()) {}
    void add(std::span<const EndedMessage> messages);
    const Flow& operator[](std::size_t flow) const { return flows_[flow]; }
    const MarkedMessages& marked() const { return marked_; }

  private:
    std::vector<Flow> flows_;
    MarkedMessages marked_;
};

nlohmann::ordered_json job_json(const Fabric& fabric, const JobPlan& job, const FlowProgress& flows);
// By name, in the plan's order.
nlohmann::ordered_json jobs_json(const Fabric& fabric, const FlowProgress& flows);

// The same for people: a table where a [[job]] placed one, and why the slowest steps were slow.
std::string job_table(const nlohmann::ordered_json& jobs);

}  // namespace sluice::fabric
