// What the page shows of a report, and of which kind each part is.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "control/report/figures/shaped_json.hh"

namespace sluice {

// Of a fabric's report, on each page of it: collectives, and how evenly ECMP loaded the cables.
std::span<const JsonPart> parts_of_sharing();

// Those parts of a report's text alone: {report}, or of sluice-fabric's {fabric, switches}, where each of
// `switches` is as a report. The error says what is wrong, and where (shaped_json.hh).
tl::expected<nlohmann::ordered_json, std::string> report_for_page(std::string_view text);
// The same error for a report that was read whole; empty: none.
std::string wrong_with_report(const nlohmann::ordered_json& report);

}  // namespace sluice
