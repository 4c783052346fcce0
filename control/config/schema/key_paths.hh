// Paths of the configuration against the schema: which key a path names, and the error when it names none.
// Private to config_paths.cc, which implements it, and config_set.cc.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/words.hh"

namespace sluice {

// No key has a longer one. A name may hold dots, so the parts of a path are tried with each other.
constexpr std::size_t max_path_bytes = 1024;

// The key at a usual path (config_paths.hh), or the key whose table has an entry there; null: neither.
const KeyInfo* key_at(std::string_view path);
// True when the configuration has this key or section.
bool is_there(const Config& config, const std::string& path);

// The errors: no such key; no such port, group or profile in the configuration; a path longer than any key's.
ConfigError unknown_path(std::string_view path);
ConfigError missing_path(const Config& config, std::string_view path);
ConfigError too_long_path(std::string_view path);
inline ConfigError path_error(std::string_view path, std::string wrong, std::string allowed = {},
                              std::string remedy = {}) {
    return {{}, {}, std::string(path), std::move(wrong), std::move(allowed), std::move(remedy)};
}

}  // namespace sluice
