// The keys of collectives, workloads and of a scenario. Private to the reader of a fabric's file.
#pragma once

#include "control/config/schema/schema_rows.hh"
#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

inline constexpr Duration max_time = seconds(1000);  // that a fabric's file may name
inline constexpr std::uint32_t max_job_hosts = 16'384;

schema::Rows<CollectiveConfig> collective_rows();
// The keys of a fabric's [[flow]] beside those of sluiced.
schema::Rows<FlowConfig> drawn_rows(schema::Rows<FlowConfig> rows = {});
schema::Rows<WorkloadConfig> workload_rows();
schema::Rows<JobConfig> job_rows();
schema::Rows<PhaseConfig> phase_rows();
schema::Rows<AssertConfig> assert_rows();
schema::Rows<FindConfig> find_rows();
schema::Rows<GoalConfig> goal_rows();

// [vary]: `sample` and `seeds`, and any path of the file with its values. Errors go to the context.
void read_vary(const toml::node& node, schema::Context& context, VaryConfig& vary);
// Sorts phases by time, and refuses contradictions in the keys of the scenario.
void check_scenario_keys(ScenarioConfig& scenario, schema::Context& context, const toml::table& document);

}  // namespace sluice::fabric
