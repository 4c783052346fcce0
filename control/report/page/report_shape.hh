// The parts of a report that pages show, and their kinds.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "control/report/figures/shaped_json.hh"

namespace sluice {

// The roots of pauses in a fabric's report.
std::span<const JsonPart> parts_of_pause_trees();

// Those parts of a report alone: {report}, or of sluice-fabric's {fabric}. Errors: shaped_json.hh.
tl::expected<nlohmann::ordered_json, std::string> report_for_page(std::string_view text);
tl::expected<nlohmann::ordered_json, std::string> report_file_for_page(const std::string& path);

}  // namespace sluice
