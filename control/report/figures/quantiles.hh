// A histogram of durations as the report has it.
#pragma once

#include <nlohmann/json.hpp>

#include "lib/threads/histogram.hh"

namespace sluice {

// In units of so many picoseconds: of nanoseconds.
inline nlohmann::ordered_json quantiles_json(const Histogram& histogram, std::int64_t unit_ps = 1000) {
    const auto in_units = [&](Duration duration) { return duration.ps / unit_ps; };
    return {{"p50", in_units(histogram.quantile(500))},
            {"p99", in_units(histogram.quantile(990))},
            {"p999", in_units(histogram.quantile(999))},
            {"max", in_units(histogram.max())}};
}

}  // namespace sluice
