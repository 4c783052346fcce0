// A switch like that of a file of sluiced: its buffer, pools, maps, profiles and the keys of its ports,
// without ports, addresses, routes, files and threads, for a fabric in which it is "today".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

struct LikeSwitch {
    Config config;       // no ports; port_defaults are those of the file's ports, but for speed and cable
    unsigned ports = 0;  // of the file that are so
    Rate speed{};
    std::uint32_t cable_m = 0;
    std::vector<std::string> notes;  // what was left out, as sentences
};

// The ports of `speed`, or all where it is not said, have one speed and the same keys; else they are named.
// Errors are lines with place and remedy.
tl::expected<LikeSwitch, std::vector<std::string>> like_switch(const std::string& file,
                                                               std::optional<Rate> speed);

}  // namespace sluice::fabric
