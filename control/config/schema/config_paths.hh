// A configuration key by key: the difference of two configurations, one value, and a value set.
//
// Paths are those of the TOML file: "port.p0.queue.3.wred"; a route is "route.10.9.0.0/16", a neighbor
// "neighbor.10.0.1.2", a flow "flow.0". A value is as the file has it; a value that a file would omit has its
// default. Every path of a change is one that `value_at` takes, and `with_value` but for routes, neighbors,
// events, flows, whole ports and hosts.
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

// The path by which commands name it: [default.map] is the map "default", and keys of [default] may stand in
// [default.port].
std::string usual_path(std::string_view path);

// The changes that turn `from` into `to`, sorted by path.
std::vector<ConfigChange> config_changes(const Config& from, const Config& to);
// The same, but for the keys that change no result, which say where files are and what threads there are:
// from a fresh configuration they are what `to` asks for.
std::vector<ConfigChange> keys_asked(const Config& from, const Config& to);

// A value for a key; nothing: it goes back to its default, as the key, or the section with its keys, were not
// in the file. A value may be TOML, or text that stands for a TOML string: 5, "150KB", 150KB.
struct ValueChange {
    std::string path;
    std::optional<std::string> value;
};

// `config` with these values changed, all of them or none: judged together, as in a file, so an error names
// the path and the allowed values. A path comes once.
tl::expected<Config, ConfigError> with_values(const Config& config, std::span<const ValueChange> changes);
// One of them.
tl::expected<Config, ConfigError> with_value(const Config& config, std::string_view path,
                                             std::string_view value);

// A file's `text` so changed that it loads as `wanted`: values are replaced where they stand, and only keys
// that the file lacks are added; comments, order and layout stay. Nothing when the text is no configuration,
// or when more would have to change than values, keys, routes and neighbors: a section to be removed, or a
// section written as a value. The result was parsed and compared, so it is right where there is one.
std::optional<std::string> edited(std::string_view text, const Config& wanted);

// The value in force at a path, as TOML: the value of a key or of an entry of a table
// (map.default.dscp_to_tc.26), the keys of a section, one a line; of a route, neighbor or timed event the
// words that ConfigChange has of it. An error when there is no such key, or when the configuration has no
// such port, group or profile.
tl::expected<std::string, ConfigError> value_at(const Config& config, std::string_view path);

}  // namespace sluice
