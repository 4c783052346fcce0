// Names of nodes in a fabric's file, and what is wrong with the file as a fabric. Private to the makers of a
// plan.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

class PlanNames {
  public:
    // The plan has its topology and nodes before a name is asked for.
    explicit PlanNames(FabricPlan& plan) : plan_(plan) {}

    std::vector<ConfigError>& errors() { return errors_; }
    void refuse(SourcePlace place, std::string path, std::string wrong, std::string remedy);
    // `text`: "what is wrong; do: what to do".
    void refuse(SourcePlace place, std::string path, const std::string& text);

    bool is(const std::string& name, bool host) const;
    // There is no such host or switch.
    void unknown(SourcePlace place, std::string path, const std::string& name, bool host);
    // Each once, in the order named: "h1..h8", a switch's name for its hosts, "all".
    std::vector<std::string> expand(const std::vector<std::string>& names, SourcePlace place,
                                    const std::string& path);

    // Keeps the names of flows, collectives and workloads apart: reports go by them.
    bool take_name(const std::string& name, SourcePlace place, const std::string& path);
    void know(const std::string& name) { names_.insert(name); }
    // Counts queue pairs of flows, of which there is a most.
    bool count_pairs(std::uint64_t pairs, SourcePlace place, const std::string& path);

  private:
    FabricPlan& plan_;
    std::vector<ConfigError> errors_;
    std::set<std::string> names_;
    std::uint64_t pairs_ = 0;
};

// The job of a collective or a workload of the file, by its index there. Jobs are placed.
JobPlan& job_of(FabricPlan& plan, std::size_t part, std::vector<std::size_t> JobPlan::*list);

// Gives collectives and workloads the hosts and starts of their jobs. Each that has none is a job of its
// name. False: there is an error.
bool place_jobs(FabricPlan& plan, PlanNames& names);

// Reads the files of workloads: lists and schedules of the plan, each with its flow. Jobs are placed.
void read_workloads(FabricPlan& plan, PlanNames& names, const Stage& stage);
// What of lists and schedules depends on the switches: each class has a DSCP at its sender, and each host a
// number for each of its queue pairs.
void check_workloads(const FabricPlan& plan, PlanNames& names);
// The switch of the sender puts a DSCP into the class; else there is an error.
bool check_class(const FabricPlan& plan, NodeId sender, ClassId tc, SourcePlace place,
                 const std::string& path, PlanNames& names, std::string_view where, std::string remedy);

}  // namespace sluice::fabric
