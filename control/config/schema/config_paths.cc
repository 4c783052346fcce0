#include "control/config/schema/config_paths.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "control/config/schema/key_paths.hh"
#include "control/config/schema/route_changes.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// True when the path is one of the schema's: NAME is any name, which may have dots, N an index.
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
    static const std::vector<std::vector<std::string>> patterns = [] {
        std::vector<std::vector<std::string>> all;
        for (const KeyInfo& key : schema_keys()) all.push_back(split(key.path(), '.'));
        return all;
    }();
    for (std::size_t i = 0; i < patterns.size(); ++i)
        if (matches(patterns[i], path)) return &schema_keys()[i];
    return nullptr;
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

using Values = std::map<std::string, std::string, NaturalOrder>;  // by path, as TOML

// The entries of a table that is a value, such as dscp_to_tc, each by its own path.
std::vector<std::pair<std::string, std::string>> entries_of(const ConfigValue& value) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const auto& [key, number] : toml_table_entries(value.value))
        entries.emplace_back(value.path + "." + key, std::to_string(number));
    return entries;
}

std::string route_text(const RouteConfig& route) {
    std::string text;
    for (const NextHopConfig& hop : route.via)
        append_item(text, " ",
                    fmt::format("via {} weight {}", print_next_hop(hop.address, hop.port), hop.weight));
    if (route.load_balance) append_item(text, " ", fmt::format("balance {}", to_string(*route.load_balance)));
    return text.empty() ? "blackhole" : text;
}

std::string neighbor_text(const NeighborConfig& neighbor) {
    std::string text = fmt::format("port {} mac {}", neighbor.port, print_mac(neighbor.mac));
    if (neighbor.vlan) text += fmt::format(" vlan {}", *neighbor.vlan);
    return text;
}

// All of that address; empty: there is none.
std::string neighbors_text(const Config& config, const IpAddress& address) {
    std::string text;
    const auto [first, last] = config.neighbors->equal_range(address);
    for (auto at = first; at != last; ++at) append_item(text, "; ", neighbor_text(*at));
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

// The entry of a sorted set as text; empty: there is none.
template <class Set, class Key, class Text>
std::string text_at(const CopyOnWrite<Set>& set, const Key& key, Text text) {
    const auto found = set->find(key);
    return found != set->end() ? text(*found) : std::string();
}

std::optional<std::string> list_item_at(const Config& config, std::string_view path) {
    constexpr std::string_view route = "route.", neighbor = "neighbor.", event = "event.", flow = "flow.";
    if (path.starts_with(route)) {
        const auto prefix = parse_network(path.substr(route.size()));
        const auto found = prefix ? config.routes->find(*prefix) : config.routes->end();
        if (found != config.routes->end()) return route_text(*found);
    } else if (path.starts_with(neighbor)) {
        const auto address = parse_address(path.substr(neighbor.size()));
        if (address && config.neighbors->contains(*address)) return neighbors_text(config, *address);
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

const KeyInfo* key_at(std::string_view path) {
    constexpr std::string_view section = "default.";
    Words segments = split(path.starts_with(section) ? "port.any." + std::string(path.substr(section.size()))
                                                     : std::string(path),
                           '.');
    if (const KeyInfo* key = key_with_pattern(segments)) return key;
    segments.pop_back();
    const KeyInfo* key = key_with_pattern(segments);
    return key != nullptr && key->type.starts_with("table") ? key : nullptr;
}

bool is_there(const Config& config, const std::string& path) {
    const auto values = config_values(config, path, true);
    return std::any_of(values.begin(), values.end(), [&](const ConfigValue& value) {
        return value.path == path || value.path.starts_with(path + ".");
    });
}

ConfigError unknown_path(std::string_view path) {
    std::vector<std::string> known;
    for (const KeyInfo& key : schema_keys()) known.push_back(key.path());
    const std::string near = nearest_name(path, known);
    return path_error(path, "there is no such key", {},
                      near.empty() ? "see sluiced --reference" : "perhaps " + near);
}

ConfigError missing_path(const Config& config, std::string_view path) {
    constexpr std::size_t max_named = 16;
    std::string there, lacking;
    for (const std::string& segment : split(path, '.')) {
        lacking = segment;
        const std::string longer = there.empty() ? segment : there + "." + segment;
        if (!is_there(config, longer)) break;
        there = longer;
    }
    const auto known = names_below(config, there);
    std::string names;
    if (known.size() <= max_named)
        for (const std::string& name : known) append_item(names, ", ", name);
    return path_error(
        path, fmt::format("{} has no {}", there.empty() ? "the configuration" : there, in_quotes(lacking)),
        names, "see sluicectl config get");
}

ConfigError too_long_path(std::string_view path) {
    return path_error(in_quotes(path), "the path is too long",
                      fmt::format("at most {} bytes", max_path_bytes), "see sluiced --reference");
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
    std::set<IpAddress> addresses;  // of which a neighbor has changed
    for (const RouteChanges::Neighbor& change : routes.neighbors) addresses.insert(change.at.address);
    for (const IpAddress& address : addresses)
        changes.push_back({"neighbor." + print_address(address), neighbors_text(from, address),
                           neighbors_text(to, address), false});
    // Ports and hosts; and sections without any key that differs, which others may name.
    const auto add_sections = [&](const std::string& kind, const auto& old, const auto& now, bool restart) {
        const auto add_those = [&](const auto& these, const auto& others, const Values& values,
                                   bool are_now) {
            for (const auto& [name, value] : these) {
                if (others.contains(name)) continue;
                const std::string path = kind + "." + name;
                const auto key = values.lower_bound(path + ".");
                const bool has_keys = key != values.end() && key->first.starts_with(path + ".");
                if (has_keys && !restart) continue;
                std::string section = "a " + kind;
                changes.push_back(are_now ? ConfigChange{path, {}, std::move(section), restart}
                                          : ConfigChange{path, std::move(section), {}, restart});
            }
        };
        add_those(old, now, before, false);
        add_those(now, old, after, true);
    };
    add_sections("port", from.ports, to.ports, true);
    add_sections("host", from.hosts, to.hosts, true);
    add_sections("map", from.maps, to.maps, false);
    add_sections("wred", from.wred, to.wred, false);
    add_sections("pool", from.pools, to.pools, false);
    add_sections("wire", from.wires, to.wires, false);
    add_sections("mirror", from.mirrors, to.mirrors, false);
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return NaturalOrder{}(a.path, b.path); });
    return changes;
}

std::vector<ConfigChange> keys_asked(const Config& from, const Config& to) {
    static constexpr std::array<std::string_view, 8> without_effect{
        "device", "file", "fifo", "workers", "worker", "rx_workers", "cores", "eal"};
    auto keys = config_changes(from, to);
    std::erase_if(keys, [](const ConfigChange& each) {
        const std::string_view path = each.path;
        const std::string_view key = path.substr(path.rfind('.') + 1);
        return key_at(path) != nullptr &&
               std::find(without_effect.begin(), without_effect.end(), key) != without_effect.end();
    });
    return keys;
}

tl::expected<std::string, ConfigError> value_at(const Config& config, std::string_view asked) {
    if (asked.size() > max_path_bytes) return tl::unexpected(too_long_path(asked));
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
    return tl::unexpected(key_at(path) != nullptr ? missing_path(config, path) : unknown_path(path));
}

}  // namespace sluice
