// Paths of the configuration against the schema: which key a path names, and the error when it names none.
// Private to config_paths.cc and config_set.cc.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"

namespace sluice {

// No key has a longer one. A name may hold dots, so the parts of a path are tried with each other.
constexpr std::size_t max_path_bytes = 1024;

std::vector<std::string> segments_of(std::string_view path);
// The key at a usual path (config_paths.hh), or the key whose table has an entry there; null: neither.
const KeyInfo* key_at(std::string_view path);
// True if the configuration has this key or section.
bool is_there(const Config& config, const std::string& path);

// The errors: there is no such key; the path is one of the schema's, and the configuration has no such port,
// group or profile; no key has so long a path.
ConfigError unknown_path(std::string_view path);
ConfigError missing_path(const Config& config, std::string_view path);
ConfigError too_long_path(std::string_view path);
inline ConfigError path_error(std::string_view path, std::string wrong, std::string allowed = {},
                              std::string remedy = {}) {
    return {{}, {}, std::string(path), std::move(wrong), std::move(allowed), std::move(remedy)};
}

}  // namespace sluice
