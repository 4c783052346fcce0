// A configuration key by key: the difference of two configurations, one value, and a value set.
//
// Paths are those of the TOML file: "port.p0.queue.3.wred"; a route is "route.10.9.0.0/16", a neighbor
// "neighbor.10.0.1.2", a flow "flow.0". A value is its TOML text. `value_at` takes every path of a change,
// and `with_value` all but those of routes, neighbors, events, flows, whole ports and hosts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

struct ConfigChange {
    std::string path;
    std::string from, to;  // as TOML; empty: the default, or not there
    bool restart = false;  // takes effect only when sluiced starts
};

// The path that commands use: "map.default" for "default.map", and "default" for "default.port".
std::string usual_path(std::string_view path);

// The changes that turn `from` into `to`, sorted by path.
std::vector<ConfigChange> config_changes(const Config& from, const Config& to);
// The same without the keys of files and threads, which change no result.
std::vector<ConfigChange> keys_asked(const Config& from, const Config& to);

// A value for a key, as TOML or as text that stands for a TOML string: 5, "150KB", 150KB. Nothing: the key,
// or the section with its keys, goes back to the default.
struct ValueChange {
    std::string path;
    std::optional<std::string> value;
};

// `config` with all of these values changed, judged together as in a file, or an error that names the path
// and the allowed values. A path comes once.
tl::expected<Config, ConfigError> with_values(const Config& config, std::span<const ValueChange> changes);
tl::expected<Config, ConfigError> with_value(const Config& config, std::string_view path,
                                             std::string_view value);

// A file's `text` edited to load as `wanted`: values are replaced in place, and missing keys added; comments,
// order and layout stay. Nothing when the text is not a configuration, or when a section would have to be
// removed. The result is parsed and compared with `wanted`.
std::optional<std::string> edited(std::string_view text, const Config& wanted);

// The value in force at a path, as TOML: that of a key or of an entry of a table (map.default.dscp_to_tc.26),
// or the keys of a section, one a line; for a route, neighbor or timed event the words of its ConfigChange.
// An error when there is no such key, port, group or profile.
tl::expected<std::string, ConfigError> value_at(const Config& config, std::string_view path);

}  // namespace sluice
