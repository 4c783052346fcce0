// One HTML file that shows runs, or a sweep: without a server, the network or anything of this machine. What
// it says is what the report, the series and the rows say; the same data give the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::fabric {

// Parts of a run's report and series (null: none was taken) for the page. `errors`: what went wrong beside
// it. A null report: there was no run.
nlohmann::ordered_json run_for_page(const std::string& name, const nlohmann::ordered_json& report,
                                    const nlohmann::ordered_json& series,
                                    const std::vector<std::string>& errors);

// `runs`: of run_for_page; at least one.
std::string run_page(const std::vector<nlohmann::ordered_json>& runs);
// `sweep`: of DIR/sweep.json. `rows`: scenario/rows.hh.
std::string sweep_page(const nlohmann::ordered_json& sweep, const std::vector<nlohmann::ordered_json>& rows);

}  // namespace sluice::fabric
