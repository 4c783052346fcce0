// Changes of single values: the configuration is written as TOML, its tree is changed, and the text is read
// and judged as a file would be.
#include <toml++/toml.h>

#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/key_paths.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace {

constexpr std::size_t max_path_parts = 16;  // of tables in each other, as in a file

// No path leads into the lists, which may be long.
Config without_lists(const Config& config) {
    Config small = config;
    small.routes = {};
    small.neighbors = {};
    small.events.clear();
    small.flows.clear();
    small.expectations.clear();
    return small;
}

// The table that a path's last segment belongs in, made with `make`; null: there is none. Longer names win.
std::pair<toml::table*, std::string> place_of(toml::table& root, const std::vector<std::string>& segments,
                                              bool make) {
    toml::table* table = &root;
    std::size_t at = 0;
    for (std::size_t parts = 0; at + 1 < segments.size(); ++parts) {
        if (parts == max_path_parts) return {nullptr, {}};
        std::size_t taken = 1;
        std::string name = segments[at];
        std::string longer = name;
        for (std::size_t more = 1; at + more + 1 < segments.size(); ++more) {
            longer += "." + segments[at + more];
            if (table->get(longer) != nullptr) {
                name = longer;
                taken = more + 1;
            }
        }
        if (make && table->get(name) == nullptr) table->insert(name, toml::table{});
        toml::node* below = table->get(name);
        table = below == nullptr ? nullptr : below->as_table();
        if (table == nullptr) return {nullptr, {}};
        at += taken;
    }
    return {table, segments.back()};
}

std::optional<ConfigError> put(toml::table& document, const std::string& path, std::string_view value) {
    if (key_at(path) == nullptr) return unknown_path(path);
    const bool one_line = value.find_first_of("\r\n") == value.npos;
    auto parsed = one_line ? parse_toml_value(value) : std::nullopt;
    if (!parsed)
        return path_error(path, in_quotes(value) + (one_line ? " is not a value" : " is more than one line"));
    const auto [table, key] = place_of(document, split(path, '.'), true);
    if (table == nullptr) return unknown_path(path);
    table->insert_or_assign(key, *parsed->get("value"));
    return std::nullopt;
}

// A whole section may be erased, whose name has dots.
bool erase(toml::table& document, const std::string& path) {
    const std::vector<std::string> segments = split(path, '.');
    for (std::size_t last = 1; last <= segments.size(); ++last) {
        std::vector<std::string> parts(segments.begin(), segments.end() - static_cast<std::ptrdiff_t>(last));
        std::string name;
        for (std::size_t i = parts.size(); i < segments.size(); ++i) append_item(name, ".", segments[i]);
        parts.push_back(std::move(name));
        const auto [table, key] = place_of(document, parts, false);
        if (table != nullptr && table->erase(key) != 0) return true;
    }
    return false;
}

std::optional<ConfigError> take_back(toml::table& document, const Config& config, const std::string& path) {
    if (erase(document, path) || is_there(config, path)) return std::nullopt;
    if (key_at(path) == nullptr) return unknown_path(path);
    return missing_path(config, path);
}

}  // namespace

tl::expected<Config, ConfigError> with_values(const Config& config, std::span<const ValueChange> changes) {
    auto document = parse_toml(to_toml(without_lists(config)), "configuration");
    if (!document) return tl::unexpected(document.error());
    std::set<std::string> paths;
    for (const ValueChange& change : changes) {
        if (change.path.size() > max_path_bytes) return tl::unexpected(too_long_path(change.path));
        const std::string path = usual_path(change.path);
        if (!paths.insert(path).second)
            return tl::unexpected(path_error(path, "it is there twice", {}, "say it once"));
        auto error = change.value ? put(*document, path, *change.value) : take_back(*document, config, path);
        if (error) return tl::unexpected(std::move(*error));
    }
    std::ostringstream text;
    text << toml::toml_formatter(*document, toml::format_flags::none);
    auto changed = parse_config(text.str(), "");
    if (!changed) {
        ConfigError error = changed.error().front();
        error.place = {};  // of a text that nobody has seen
        return tl::unexpected(std::move(error));
    }
    changed->routes = config.routes;
    changed->neighbors = config.neighbors;
    changed->events = config.events;
    changed->flows = config.flows;
    changed->expectations = config.expectations;
    renew_host_neighbors(*changed, config);
    return std::move(*changed);
}

tl::expected<Config, ConfigError> with_value(const Config& config, std::string_view path,
                                             std::string_view value) {
    const std::array change{ValueChange{std::string(path), std::string(value)}};
    return with_values(config, change);
}

}  // namespace sluice
