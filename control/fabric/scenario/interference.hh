// What other jobs cost a job: [results] alone. Each placed job runs once more by itself, with the same hosts,
// queue pairs, paths and draws; what it takes longer beside the others is their doing, exactly.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/forwarding.hh"
#include "control/fabric/report/ended_messages.hh"
#include "control/fabric/scenario/run_once.hh"

namespace sluice::fabric {

// Payload of jobs on links, by the paths of their messages; those of several paths are left out.
class JobTraffic {
  public:
    explicit JobTraffic(const FabricPlan& plan) : plan_(plan), job_of_(plan.jobs_of_flows()) {}
    void add(std::span<const EndedMessage> messages);

    // The link on which others' bytes meet the job's where it is loaded most, and the one of them with most
    // bytes there. Empty: they share none.
    struct Meeting {
        std::string link, job;
    };
    Meeting meeting_of(const JobPlan& job) const;

  private:
    const FabricPlan& plan_;
    std::vector<const JobPlan*> job_of_;                                // by flow; null: none
    std::map<Channel, std::map<const JobPlan*, std::uint64_t>> bytes_;  // in the order of jobs
};

// The figures of jobs that run alone, by name: those that a [[job]] placed, where there are two or more. An
// error's text.
tl::expected<nlohmann::ordered_json, std::string> jobs_alone(const FabricPlan& plan,
                                                             const RunOptions& options);
// Adds to the jobs of a report `alone`, `lost_permille` and `lost_to`.
void add_losses(nlohmann::ordered_json& jobs, const nlohmann::ordered_json& alone, const FabricPlan& plan,
                const JobTraffic& traffic);

}  // namespace sluice::fabric
