// The difference between two looks at the report: counters and times are differences, gauges are as they
// are now, of durations the quantiles of those in between, null where there were none.
//
// For quantiles both looks have the buckets of their histograms (add_buckets). Watermarks count from
// the moment at which a user cleared them. Averages over the run are left out.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace sluice {

class RunningSwitch;

struct SinceLook {
    // Parts of the report at `path`, the later one and the earlier one.
    const nlohmann::ordered_json& after;
    const nlohmann::ordered_json& before;
    std::string_view path;
    std::uint64_t elapsed_ns = 0;    // between them
    bool marks_are_cleared = false;  // users' watermarks were cleared at the earlier one
};
nlohmann::ordered_json figures_since(const SinceLook& look);

// Adds the buckets of histograms beside a report's quantiles: value, count, value, count, ...
void add_buckets(nlohmann::ordered_json& report, RunningSwitch& running);

}  // namespace sluice
