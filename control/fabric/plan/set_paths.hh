// Values of the command line and of [vary] over a fabric's file: "switch.leaf1.buffer.size=4MB".
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice::fabric {

// Names of the switches of a document as it is; an error's text.
using SwitchNames = std::function<tl::expected<std::vector<std::string>, std::string>(const toml::table&)>;

// Puts `sets` (PATH=VALUE) over the document, in order. An element of a list goes by its name or its index.
// `switch.PATTERN.KEY`, with * and ?, sets the key of each switch that matches, but not of switch.default;
// `switches` is asked when one has a pattern. The error names the set that is wrong.
tl::expected<void, ConfigError> put_sets(toml::table& document, const std::vector<std::string>& sets,
                                         const SwitchNames& switches);

}  // namespace sluice::fabric
