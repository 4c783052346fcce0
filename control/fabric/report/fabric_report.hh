// The report of a fabric: one JSON object. Its keys are a contract (README).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/run/fabric.hh"
#include "lib/roce/nic_statistics.hh"

namespace sluice::fabric {

// Those parts of the report that a phase has, too: ledger, hosts, flows, links, switches.
nlohmann::ordered_json figures_json(Fabric& fabric);
nlohmann::ordered_json make_report(Fabric& fabric, bool interrupted);
// A short report while the fabric runs: no pauses, and of each switch the tier, the verdict and the ledger.
nlohmann::ordered_json make_overview(Fabric& fabric);

// The times that messages took until now, by flow.
std::vector<roce::FlowStatistics> flow_statistics(const Fabric& fabric);

// The same for a terminal: a table by tier, the slowest flows, links by load.
std::string summarise(const nlohmann::ordered_json& report);

}  // namespace sluice::fabric
