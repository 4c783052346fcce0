// A histogram of durations as the report has it.
#pragma once

#include <nlohmann/json.hpp>

#include "lib/threads/histogram.hh"

namespace sluice {

inline nlohmann::ordered_json quantiles_json(const Histogram& histogram) {
    const auto ns = [](Duration duration) { return duration.ps / 1000; };
    return {{"p50", ns(histogram.quantile(500))},
            {"p99", ns(histogram.quantile(990))},
            {"p999", ns(histogram.quantile(999))},
            {"max", ns(histogram.max())}};
}

}  // namespace sluice
