// Settings of the command line that override the configuration, at the start and at every reload of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/config/schema/config.hh"

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
