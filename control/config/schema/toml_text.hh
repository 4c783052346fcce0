// TOML text to a tree, with the parser's faults taken away: it throws nothing, and refuses input that would
// exhaust the stack or take time beyond measure. Private to the schema.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "control/config/schema/config.hh"

namespace sluice {

tl::expected<toml::table, ConfigError> parse_toml(std::string_view text, std::string_view file);

// End of the string that starts with a quote at `at`: after its closing quote, or where it breaks off.
std::size_t end_of_toml_string(std::string_view text, std::size_t at);

// Bounds that toml++ lacks, which has one for nested brackets: it takes the stack apart on "a.a.a.a...", and
// compares each table that a dot makes, and each list of tables, with all others. The largest switch, 256
// ports with every queue and group named, has a third of these dots.
struct TomlBounds {
    unsigned key_parts = 16;  // of a dotted key ("a.b.c" has 3)
    unsigned dots = 32'768;   // outside strings and comments
    unsigned lists = 64;      // different [[headers]]
};
struct TomlExcess {
    unsigned line;
    const char* what;
    unsigned limit;
};
// The first that goes beyond; linear in the text's length.
std::optional<TomlExcess> excess_of(std::string_view text, const TomlBounds& bounds);

}  // namespace sluice
