#include "control/config_paths.hh"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "control/route_changes.hh"
#include "control/schema.hh"
#include "control/schema_types.hh"
#include "control/toml_text.hh"
#include "control/values.hh"

namespace sluice {
namespace {

using Values = std::map<std::string, std::string, NaturalOrder>;  // by path, as TOML

// The parts that may be long have keys of their own and are compared as they are.
Config without_lists(const Config& config) {
    Config small = config;
    small.routes = {};
    small.neighbors = {};
    small.events.clear();
    return small;
}

std::string text_of(const toml::node& node) {
    std::ostringstream out;
    node.visit([&](const auto& value) { out << toml::toml_formatter(value, toml::format_flags::none); });
    return out.str();
}

void flatten(const toml::table& table, const std::string& prefix, Values& out) {
    for (const auto& [key, node] : table) {
        const std::string path =
            prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
        if (const toml::table* inner = node.as_table(); inner != nullptr)
            flatten(*inner, path, out);
        else
            out[path] = text_of(node);
    }
}

std::string route_text(const RouteConfig& route) {
    std::string text;
    for (const NextHopConfig& hop : route.via)
        append_item(text, " ", fmt::format("via {} weight {}", print_address(hop.address), hop.weight));
    return text.empty() ? "blackhole" : text;
}

std::string neighbor_text(const NeighborConfig& neighbor) {
    std::string text = fmt::format("port {} mac {}", neighbor.port, print_mac(neighbor.mac));
    if (neighbor.vlan) text += fmt::format(" vlan {}", *neighbor.vlan);
    return text;
}

Values values_of(const Config& config) {
    Values values;
    const auto document = parse_toml(to_toml(without_lists(config)), "configuration");
    if (document) flatten(*document, {}, values);
    std::size_t number = 0;
    for (const EventConfig& event : config.events)
        values[fmt::format("event.{}", number++)] = print_time(event.at) + " " + event.command;
    return values;
}

// What is at a key of a sorted set now, and what was before.
template <class Set, class Key, class Text>
std::string text_at(const CopyOnWrite<Set>& set, const Key& key, Text text) {
    const auto found = set->find(key);
    return found != set->end() ? text(*found) : std::string();
}

std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> segments(1);
    for (const char c : path) {
        if (c == '.')
            segments.emplace_back();
        else
            segments.back() += c;
    }
    return segments;
}

// Whether a path is one of the schema's: NAME stands for any name, which may hold dots, N for an index.
bool matches(std::span<const std::string> pattern, std::span<const std::string> path) {
    if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
    if (pattern[0] == "NAME") {
        for (std::size_t taken = 1; taken <= path.size(); ++taken)
            if (matches(pattern.subspan(1), path.subspan(taken))) return true;
        return false;
    }
    const bool same = pattern[0] == "N"
                          ? !path[0].empty() && std::all_of(path[0].begin(), path[0].end(),
                                                            [](char c) { return c >= '0' && c <= '9'; })
                          : pattern[0] == path[0];
    return same && matches(pattern.subspan(1), path.subspan(1));
}

// Keys of [default] are a port's, those of [default.map] a map's.
std::string named(std::string_view path) {
    constexpr std::string_view map = "default.map.", section = "default.", port = "default.port.";
    if (path.starts_with(map)) return "map.any." + std::string(path.substr(map.size()));
    if (path.starts_with(port)) return "port.any." + std::string(path.substr(port.size()));
    if (path.starts_with(section)) return "port.any." + std::string(path.substr(section.size()));
    return std::string(path);
}

const KeyInfo* key_at(std::string_view path) {
    const auto wanted = segments_of(named(path));
    for (const KeyInfo& key : schema_keys())
        if (matches(segments_of(key.path()), wanted)) return &key;
    return nullptr;
}

ConfigError unknown(std::string_view path) {
    std::vector<std::string> known;
    for (const KeyInfo& key : schema_keys()) known.push_back(key.path());
    const std::string near = nearest_name(path, known);
    return {"",
            {},
            std::string(path),
            "there is no such key",
            {},
            near.empty() ? "see sluiced --reference" : "perhaps " + near};
}

// The table that a path's last segment belongs in, made where it is missing. Names with dots go before
// shorter ones.
std::pair<toml::table*, std::string> place_of(toml::table& root, const std::vector<std::string>& segments) {
    toml::table* table = &root;
    std::size_t at = 0;
    while (at + 1 < segments.size()) {
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
        if (table->get(name) == nullptr) table->insert(name, toml::table{});
        table = table->get(name)->as_table();
        if (table == nullptr) return {nullptr, {}};
        at += taken;
    }
    return {table, segments.back()};
}

// `value` as a TOML node under the key "value"; text that is no TOML is a string.
tl::expected<toml::table, ConfigError> parse_value(std::string_view path, std::string_view value) {
    const auto failed = [&](const char* why) {
        return tl::unexpected(ConfigError{"", {}, std::string(path), in_quotes(value) + why, {}, {}});
    };
    if (value.find_first_of("\r\n") != std::string_view::npos) return failed(" is more than one line");
    auto document = parse_toml(fmt::format("value = {}", value), "value");
    if (!document || document->size() != 1)
        document = parse_toml(fmt::format("value = {}", toml_string(value)), "value");
    if (!document || document->size() != 1) return failed(" is no value");
    return std::move(*document);
}

}  // namespace

std::vector<ConfigChange> config_changes(const Config& from, const Config& to) {
    const Values before = values_of(from);
    const Values after = values_of(to);
    std::vector<ConfigChange> changes;
    const auto add = [&](const std::string& path, const std::string& old, const std::string& fresh) {
        const KeyInfo* key = key_at(path);
        // Timed events are taken up when the run begins.
        const bool restart = key != nullptr ? key->restart : path.starts_with("event.");
        changes.push_back({path, old, fresh, restart});
    };
    for (const auto& [path, value] : before) {
        const auto now = after.find(path);
        if (now == after.end())
            add(path, value, {});
        else if (now->second != value)
            add(path, value, now->second);
    }
    for (const auto& [path, value] : after)
        if (!before.contains(path)) add(path, {}, value);
    const RouteChanges routes = route_changes(from, to);
    for (const RouteChanges::Route& change : routes.routes)
        changes.push_back({"route." + print_prefix(change.prefix),
                           text_at(from.routes, change.prefix, route_text),
                           text_at(to.routes, change.prefix, route_text), false});
    for (const RouteChanges::Neighbor& change : routes.neighbors)
        changes.push_back({"neighbor." + print_address(change.address),
                           text_at(from.neighbors, change.address, neighbor_text),
                           text_at(to.neighbors, change.address, neighbor_text), false});
    for (const auto& [name, port] : from.ports)
        if (!to.ports.contains(name)) changes.push_back({"port." + name, "a port", {}, true});
    for (const auto& [name, port] : to.ports)
        if (!from.ports.contains(name)) changes.push_back({"port." + name, {}, "a port", true});
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return NaturalOrder{}(a.path, b.path); });
    return changes;
}

tl::expected<Config, ConfigError> with_value(const Config& config, std::string_view path,
                                             std::string_view value) {
    if (key_at(path) == nullptr) return tl::unexpected(unknown(path));
    auto parsed = parse_value(path, value);
    if (!parsed) return tl::unexpected(parsed.error());
    auto document = parse_toml(to_toml(without_lists(config)), "configuration");
    if (!document) return tl::unexpected(document.error());
    const auto [table, key] = place_of(*document, segments_of(path));
    if (table == nullptr) return tl::unexpected(unknown(path));
    table->insert_or_assign(key, *parsed->get("value"));
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
    return std::move(*changed);
}

tl::expected<std::string, ConfigError> value_at(const Config& config, std::string_view path) {
    const KeyInfo* key = key_at(path);
    if (key == nullptr) return tl::unexpected(unknown(path));
    Config plain = without_lists(config);
    if (!path.starts_with("default.")) plain.port_defaults = {};  // so that ports say all of theirs
    const Values values = values_of(plain);
    const auto found = values.find(std::string(path));
    return found != values.end() ? found->second : key->fallback;
}

}  // namespace sluice
