// The keys of the network, of collectives, workloads and of a scenario. Private to the reader of a fabric's
// file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_rows.hh"
#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

inline constexpr Duration max_time = seconds(1000);  // that a fabric's file may name
inline constexpr std::uint32_t max_job_hosts = 16'384;

// network_rows.cc
schema::Rows<TopologySettings> topology_rows();
schema::Rows<RoutingConfig> routing_rows();
schema::Rows<ResultsConfig> results_rows();
schema::Rows<NodeConfig> node_rows();
schema::Rows<LinkConfig> link_rows();

schema::Rows<CollectiveConfig> collective_rows();
// The keys of a fabric's [[flow]] beside those of sluiced.
schema::Rows<FlowConfig> drawn_rows(schema::Rows<FlowConfig> rows = {});
schema::Rows<WorkloadConfig> workload_rows();
schema::Rows<JobConfig> job_rows();
schema::Rows<PhaseConfig> phase_rows();
schema::Rows<AssertConfig> assert_rows();
schema::Rows<FindConfig> find_rows();
schema::Rows<VariantConfig> variant_rows();  // variants.cc
schema::Rows<GoalConfig> goal_rows();
// advise_rows.cc: the keys of [advise] but `range`, and those of [advise.range] for the reference.
schema::Rows<AdviseConfig> advise_rows();
SchemaSection advise_range_section();
// [advise] and [advise.range]; false: the context has the errors.
bool read_advise(const toml::table& table, schema::Context& context, AdviseConfig& advise);

// Calls `use(path, node)` for each value of a table whose keys are paths ("a.b" = 1, or a.b = 1), in the
// file's order (TOML++ sorts keys), with the context at that path.
void for_each_path(const toml::table& table, schema::Context& context,
                   const std::function<void(const std::string& path, const toml::node& node)>& use);
// A value of the file as --set takes it.
std::string set_text(const toml::node& node);
// True for a path of [vary], [find], [goal], [advise] or [[variant]], which says nothing of a run.
bool is_about_the_sweep(std::string_view path);

// [vary]: `sample` and `seeds`, the variants, which are read before it, and any path of the file with its
// values. Errors go to the context.
void read_vary(const toml::node& node, schema::Context& context, ScenarioConfig& scenario);
// Sorts phases by time, and refuses contradictions in the keys of the scenario.
void check_scenario_keys(ScenarioConfig& scenario, schema::Context& context, const toml::table& document);

}  // namespace sluice::fabric
