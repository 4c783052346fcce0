// Prometheus metrics: the report in the text format (version 0.0.4), by the catalogue of figures.
//
// Every number and flag of the report is a metric, but for entries of lists that grow. metric_name gives its
// name (control/report/figures/figures.hh). Base units: bytes, packets, seconds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

std::string metrics_text(const nlohmann::ordered_json& report);
// All names with kind, labels and help, as Markdown.
std::string metrics_reference();

}  // namespace sluice
