// The keys of [advise.range], each with its value of today and its grid.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/advise/space.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// What the value of today is looked for in.
struct FileToday {
    std::string_view text;
    const std::string& file;
    const std::vector<std::string>& sets;
    const FabricPlan& plan;
};

struct RangeKey {
    AdviseSpace::Axis axis;
    bool is_text = false;  // its values are TOML's strings, from a list
};

// An error is a sentence with its place and remedy: the key has no value of today, or switches that match
// have different ones; or the range has too many values.
tl::expected<RangeKey, std::string> range_key(const AdviseConfig::Range& range, const FileToday& today);

}  // namespace sluice::fabric
