// The rows of every section (schema_*.cc). Private to the schema.
#pragma once

#include "control/config/schema/schema_rows.hh"

namespace sluice::schema {

constexpr std::uint64_t max_buffer_bytes = 1ULL << 40;
constexpr std::uint64_t max_rate_bits = 8'000'000'000'000;

Rows<FaultSettings> fault_rows();
Rows<PortConfig> port_rows();
Rows<MapConfig> map_rows();
Rows<PoolConfig> pool_rows();
Rows<WredConfig> wred_rows();
Rows<WatchdogConfig> watchdog_rows();
Rows<TrimmingConfig> trimming_rows();
Rows<PortWatchdogConfig> port_watchdog_rows();
void add_host_section(Rows<Config>& rows);
Rows<HostConfig> common_host_rows();  // but port, address and MAC
Rows<FlowConfig> flow_rows();
Type<std::vector<std::string>> names_of_hosts();  // one name, or a list
Rows<FibConfig> fib_rows();
Rows<PuntConfig> punt_rows();
Rows<KernelConfig> kernel_rows();
Rows<NeighborConfig> neighbor_rows();
Rows<RouteConfig> route_rows();
Rows<LoadBalanceConfig> load_balance_rows();
Rows<MirrorConfig> mirror_rows();
Rows<WireConfig> wire_rows();
Rows<ExpectationConfig> expectation_rows();
Rows<DecisionsConfig> decision_rows();
Rows<EventConfig> event_rows();

}  // namespace sluice::schema
