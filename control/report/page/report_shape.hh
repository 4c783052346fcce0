// What pages show of a report, and of which kind each part is.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "control/report/figures/shaped_json.hh"

namespace sluice {

// Of a fabric's report: where its pauses began.
std::span<const JsonPart> parts_of_pause_trees();

// Those parts of a report alone: {report}, or of sluice-fabric's {fabric}. The error says what is wrong, and
// where (shaped_json.hh).
tl::expected<nlohmann::ordered_json, std::string> report_for_page(std::string_view text);
tl::expected<nlohmann::ordered_json, std::string> report_for_page(const nlohmann::ordered_json& report);
tl::expected<nlohmann::ordered_json, std::string> report_file_for_page(const std::string& path);

}  // namespace sluice
