// Prometheus metrics: the report in the text format (version 0.0.4), from one table of names, kinds and help
// texts.
//
// A metric's name is `sluice_`, its path in the report without what becomes a label, and `_total` for what
// only grows; base units: bytes, packets, seconds. Labels: port, queue, priority, reason, pool, direction,
// group, quantile: as many values as the configuration has.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice {

std::string metrics_text(const nlohmann::ordered_json& report);
// All names with kind, labels and help, as Markdown.
std::string metrics_reference();

}  // namespace sluice
