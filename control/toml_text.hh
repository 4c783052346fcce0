// TOML text to a tree, with the parser's faults taken away: it throws nothing, and refuses nesting that would
// exhaust the stack. Private to the schema.
#pragma once

#include <toml++/toml.h>

#include <string_view>
#include <tl/expected.hpp>

#include "control/config.hh"

namespace sluice {

tl::expected<toml::table, ConfigError> parse_toml(std::string_view text, std::string_view file);

// End of the string that starts with a quote at `at`: after its closing quote, or where it breaks off.
std::size_t end_of_toml_string(std::string_view text, std::size_t at);

// Parts of the longest dotted key ("a.b.c" has 3) and the line that has more than `limit`; 0: none has.
// toml++ bounds nested brackets but not dotted keys, and takes the stack apart on "a.a.a.a...".
unsigned line_of_deep_key(std::string_view text, unsigned limit);

}  // namespace sluice
