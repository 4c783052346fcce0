#include "control/config/config_paths.hh"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "control/config/hosts.hh"
#include "control/config/route_changes.hh"
#include "control/config/schema.hh"
#include "control/config/schema_types.hh"
#include "control/config/toml_text.hh"
#include "control/config/values.hh"

namespace sluice {
namespace {

using Values = std::map<std::string, std::string, NaturalOrder>;  // by path, as TOML

// The parts that may be long have keys of their own and are compared as they are.
Config without_lists(const Config& config) {
    Config small = config;
    small.routes = {};
    small.neighbors = {};
    small.events.clear();
    small.flows.clear();
    return small;
}

// `text` as a TOML node under the key "value"; null: it is no value.
std::optional<toml::table> as_value(std::string_view text) {
    auto document = parse_toml(fmt::format("value = {}", text), "value");
    if (!document || document->size() != 1) return std::nullopt;
    return std::move(*document);
}

// The entries of a table that is a value, such as dscp_to_tc, each by its own path.
std::vector<std::pair<std::string, std::string>> entries_of(const ConfigValue& value) {
    std::vector<std::pair<std::string, std::string>> entries;
    if (!value.value.starts_with('{')) return entries;
    const auto document = as_value(value.value);
    const toml::table* table = document ? document->get("value")->as_table() : nullptr;
    if (table == nullptr) return entries;
    for (const auto& [key, node] : *table)
        if (const auto* number = node.as_integer())
            entries.emplace_back(value.path + "." + std::string(key.str()), std::to_string(number->get()));
    return entries;
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

// Its keys, as a file has them.
std::string flow_text(const FlowConfig& flow) {
    Config one;
    one.flows = {flow};
    std::string text = to_toml(one);
    text.erase(0, text.find('\n') + 1);  // the heading
    if (text.ends_with('\n')) text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string event_text(const EventConfig& event) { return print_time(event.at) + " " + event.command; }

// The values of a configuration as a file has them, the entries of tables one by one.
Values values_of(const Config& config) {
    Values values;
    for (ConfigValue& value : config_values(config, {}, false)) {
        const auto entries = entries_of(value);
        values.insert(entries.begin(), entries.end());
        if (entries.empty()) values[std::move(value.path)] = std::move(value.value);
    }
    std::size_t number = 0;
    for (const EventConfig& event : config.events)
        values[fmt::format("event.{}", number++)] = event_text(event);
    number = 0;
    for (const FlowConfig& flow : config.flows) values[fmt::format("flow.{}", number++)] = flow_text(flow);
    return values;
}

// The value at a key of a sorted set now, and the one before.
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

const KeyInfo* key_with_pattern(std::span<const std::string> path) {
    for (const KeyInfo& key : schema_keys())
        if (matches(segments_of(key.path()), path)) return &key;
    return nullptr;
}

// The key at a path, or the key whose table has an entry there.
const KeyInfo* key_at(std::string_view path) {
    constexpr std::string_view section = "default.";
    std::vector<std::string> segments =
        segments_of(path.starts_with(section) ? "port.any." + std::string(path.substr(section.size()))
                                              : std::string(path));
    if (const KeyInfo* key = key_with_pattern(segments)) return key;
    segments.pop_back();
    const KeyInfo* key = key_with_pattern(segments);
    return key != nullptr && key->type.starts_with("table") ? key : nullptr;
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

// The next parts of the paths below this one: names, indexes, keys.
std::set<std::string, NaturalOrder> names_below(const Config& config, const std::string& path) {
    std::set<std::string, NaturalOrder> names;
    for (const ConfigValue& value : config_values(config, path, true)) {
        if (!path.empty() && !value.path.starts_with(path + ".")) continue;
        const std::string rest = value.path.substr(path.empty() ? 0 : path.size() + 1);
        names.insert(rest.substr(0, rest.find('.')));
    }
    return names;
}

bool is_there(const Config& config, const std::string& path) {
    const auto values = config_values(config, path, true);
    return std::any_of(values.begin(), values.end(), [&](const ConfigValue& value) {
        return value.path == path || value.path.starts_with(path + ".");
    });
}

// The path is one of the schema's, and the configuration has no such port, group or profile: says where it
// ends.
ConfigError missing(const Config& config, std::string_view path) {
    constexpr std::size_t most_named = 16;
    std::string there, lacking;
    for (const std::string& segment : segments_of(path)) {
        lacking = segment;
        const std::string longer = there.empty() ? segment : there + "." + segment;
        if (!is_there(config, longer)) break;
        there = longer;
    }
    const auto known = names_below(config, there);
    std::string names;
    if (known.size() <= most_named)
        for (const std::string& name : known) append_item(names, ", ", name);
    return {"",
            {},
            std::string(path),
            fmt::format("{} has no {}", there.empty() ? "the configuration" : there, in_quotes(lacking)),
            names,
            "see sluicectl config get"};
}

// No key has a longer one. A name may hold dots, so the parts of a path are tried with each other.
constexpr std::size_t max_path_bytes = 1024;
constexpr std::size_t max_path_parts = 16;  // of tables in each other, as in a file

ConfigError too_long(std::string_view path) {
    return {"",
            {},
            in_quotes(path),
            "the path is too long",
            fmt::format("at most {} bytes", max_path_bytes),
            "see sluiced --reference"};
}

// The table that a path's last segment belongs in, made where it is missing. Names with dots go before
// shorter ones.
std::pair<toml::table*, std::string> place_of(toml::table& root, const std::vector<std::string>& segments) {
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
        if (table->get(name) == nullptr) table->insert(name, toml::table{});
        table = table->get(name)->as_table();
        if (table == nullptr) return {nullptr, {}};
        at += taken;
    }
    return {table, segments.back()};
}

// As as_value; text that is no TOML is a string.
tl::expected<toml::table, ConfigError> parse_value(std::string_view path, std::string_view value) {
    const auto failed = [&](const char* why) {
        return tl::unexpected(ConfigError{"", {}, std::string(path), in_quotes(value) + why, {}, {}});
    };
    if (value.find_first_of("\r\n") != std::string_view::npos) return failed(" is more than one line");
    auto document = as_value(value);
    if (!document) document = as_value(toml_string(value));
    if (!document) return failed(" is no value");
    return std::move(*document);
}

std::optional<std::string> list_item_at(const Config& config, std::string_view path) {
    constexpr std::string_view route = "route.", neighbor = "neighbor.", event = "event.", flow = "flow.";
    if (path.starts_with(route)) {
        const auto prefix = parse_network(path.substr(route.size()));
        const auto found = prefix ? config.routes->find(*prefix) : config.routes->end();
        if (found != config.routes->end()) return route_text(*found);
    } else if (path.starts_with(neighbor)) {
        const auto address = parse_address(path.substr(neighbor.size()));
        const auto found = address ? config.neighbors->find(*address) : config.neighbors->end();
        if (found != config.neighbors->end()) return neighbor_text(*found);
    } else if (path.starts_with(event)) {
        const auto number = parse_integer(path.substr(event.size()));
        if (number && *number < config.events.size()) return event_text(config.events[*number]);
    } else if (path.starts_with(flow)) {
        const auto number = parse_integer(path.substr(flow.size()));
        if (number && *number < config.flows.size()) return flow_text(config.flows[*number]);
    }
    return std::nullopt;
}

}  // namespace

std::string usual_path(std::string_view path) {
    constexpr std::string_view map = "default.map.", port = "default.port.";
    if (path.starts_with(map)) return "map.default." + std::string(path.substr(map.size()));
    if (path.starts_with(port)) return "default." + std::string(path.substr(port.size()));
    return std::string(path);
}

std::vector<ConfigChange> config_changes(const Config& from, const Config& to) {
    const Values before = values_of(from);
    const Values after = values_of(to);
    std::vector<ConfigChange> changes;
    const auto add = [&](const std::string& path, const std::string& old, const std::string& fresh) {
        const KeyInfo* key = key_at(path);
        // Timed events and flows are taken up when the run begins.
        const bool restart =
            key != nullptr ? key->restart : path.starts_with("event.") || path.starts_with("flow.");
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
    const auto add_named = [&](const auto& old, const auto& now, const std::string& kind) {
        for (const auto& [name, value] : old)
            if (!now.contains(name)) changes.push_back({kind + "." + name, "a " + kind, {}, true});
        for (const auto& [name, value] : now)
            if (!old.contains(name)) changes.push_back({kind + "." + name, {}, "a " + kind, true});
    };
    add_named(from.ports, to.ports, "port");
    add_named(from.hosts, to.hosts, "host");
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return NaturalOrder{}(a.path, b.path); });
    return changes;
}

tl::expected<Config, ConfigError> with_value(const Config& config, std::string_view asked,
                                             std::string_view value) {
    if (asked.size() > max_path_bytes) return tl::unexpected(too_long(asked));
    const std::string path = usual_path(asked);
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
    changed->flows = config.flows;
    renew_host_neighbors(*changed, config);
    return std::move(*changed);
}

tl::expected<std::string, ConfigError> value_at(const Config& config, std::string_view asked) {
    if (asked.size() > max_path_bytes) return tl::unexpected(too_long(asked));
    const std::string path = usual_path(asked);
    if (auto item = list_item_at(config, path)) return std::move(*item);
    std::string section;
    for (const ConfigValue& value : config_values(config, path, true)) {
        if (value.path == path) return value.value;
        if (value.path.starts_with(path + "."))
            append_item(section, "\n", value.path.substr(path.size() + 1) + " = " + value.value);
        for (const auto& [entry, text] : entries_of(value))
            if (entry == path) return text;
    }
    if (!section.empty()) return section;
    return tl::unexpected(key_at(path) != nullptr ? missing(config, path) : unknown(path));
}

}  // namespace sluice
