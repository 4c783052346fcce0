// What differs between the reports of two runs, of sluiced or of sluice-fabric: {differ, totals,
// configuration, assertions, flows, figures}, the lists with {figure, before, after}, the largest difference
// first. Null: it is not there; of a key of the configuration: its default. Reports may lack members, or have
// them of any kind.
//
// Entries of a list are the same ones where they have the same name, port, queue and the like, else by place.
// Lists that grow (events, pauses) differ by their lengths.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice::fabric {

inline constexpr int max_report_levels = 32;  // of what `compare_reports` takes

nlohmann::ordered_json compare_reports(const nlohmann::ordered_json& before,
                                       const nlohmann::ordered_json& after);
// Tables, with `rows_shown` of each list.
std::string differences_text(const nlohmann::ordered_json& differences, std::size_t rows_shown);

}  // namespace sluice::fabric
