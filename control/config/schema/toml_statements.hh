// Where the statements of a TOML text stand, for changing it without touching the rest. For a text that
// `parse_toml` takes; private to the schema.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

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
