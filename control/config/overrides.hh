// What the command line says over the configuration's own words, at the start and whenever the file is read
// anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/config/config.hh"

namespace sluice {

struct Overrides {
    std::optional<std::uint64_t> seed;
    std::string decisions;  // [decisions] file; with it they are recorded

    void apply(Config& config) const {
        if (seed) config.seed = *seed;
        if (decisions.empty()) return;
        config.decisions.file = decisions;
        if (config.decisions.record == RecordMode::off) config.decisions.record = RecordMode::on;
    }
};

}  // namespace sluice
