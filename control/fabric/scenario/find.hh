// The least or the most value of a key for which something holds, by bisection.
//
// Both ends run first: that something holds at one and not at the other is the premise. What lies between is
// taken to change once; the two runs beside the answer are its evidence.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/scenario_config.hh"
#include "control/fabric/plan/value_range.hh"

namespace sluice::fabric {

// One run of a search.
struct FindStep {
    std::uint64_t value;
    bool holds;
};

struct FindAnswer {
    std::uint64_t holds;          // the least or most value that was seen to hold
    std::uint64_t fails;          // its neighbor that was seen not to
    std::vector<FindStep> steps;  // in the order of the runs
};

// `holds`: runs with a value; an error ends the search. Errors are sentences.
using FindTry = std::function<tl::expected<bool, std::string>(std::uint64_t value)>;
tl::expected<FindAnswer, std::string> find_edge(const FindConfig& find, const ValueRange& range,
                                                const FindTry& holds);

}  // namespace sluice::fabric
