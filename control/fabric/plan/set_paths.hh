// Values of the command line and of [vary] over a fabric's file: "switch.leaf1.buffer.size=4MB".
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>
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

// The value at a path without a pattern, an element of a list by its name or its index; null: there is none.
const toml::node* node_at(const toml::table& document, std::string_view path);
// "leaf*" of "switch.leaf*.KEY", perhaps with "=VALUE" behind it; empty: there is no pattern of switches.
std::string pattern_of(std::string_view set_or_path);

// The document of a fabric's file with `sets` over it, which nothing has judged. (fabric_config.cc)
tl::expected<toml::table, ConfigError> document_with_sets(std::string_view text, const std::string& file,
                                                          const std::vector<std::string>& sets);

}  // namespace sluice::fabric
