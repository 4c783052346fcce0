// TOML text to a tree: throws nothing, and refuses input that would exhaust the parser's stack or take it too
// long. Private to the schema.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

tl::expected<toml::table, ConfigError> parse_toml(std::string_view text, std::string_view file);
// A table with the key "value": TOML, or text that stands for a TOML string. Nothing: it is neither.
std::optional<toml::table> parse_toml_value(std::string_view text, bool may_be_text = true);
// The numbers of a table that is a value, such as {"26" = 3}.
std::vector<std::pair<std::string, std::int64_t>> toml_table_entries(std::string_view text);

struct TomlExcess {
    unsigned line;
    const char* what;
    unsigned limit;
};
// The first bound that the text exceeds; linear in the text's length.
std::optional<TomlExcess> excess_of(std::string_view text);

// The place of a statement, for editing a text without touching the rest.
struct TomlStatement {
    enum class Kind : unsigned char { key, section, list_item };  // name = value, [name], [[name]]
    Kind kind;
    std::string path;                    // its parts joined by dots, those of its section first
    std::string section;                 // path of the section that it stands in; its own for a header
    std::size_t begin, end;              // its lines, the last end of line included
    std::size_t key_begin, key_end;      // of a key
    std::size_t value_begin, value_end;  // of a key
};

// In order. Nothing when a key has an escape in it, or the text ends within a statement.
std::optional<std::vector<TomlStatement>> toml_statements(std::string_view text);

}  // namespace sluice
