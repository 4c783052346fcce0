// What the verbs that read a run's report.json use of it (control/report/figures/shaped_json.hh).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "control/report/figures/shaped_json.hh"

namespace sluice::fabric {

// For why_text, and the names of hosts.
const JsonShape& shape_for_why();
// For run_for_page.
const JsonShape& shape_for_run_page();

// The error begins with the path.
tl::expected<nlohmann::ordered_json, std::string> read_own(const std::string& path, const JsonShape& shape);

}  // namespace sluice::fabric
