#include "control/config/schema/key_paths.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace {

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
    static const std::vector<std::vector<std::string>> patterns = [] {
        std::vector<std::vector<std::string>> all;
        for (const KeyInfo& key : schema_keys()) all.push_back(segments_of(key.path()));
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

}  // namespace

std::string usual_path(std::string_view path) {
    constexpr std::string_view map = "default.map.", port = "default.port.";
    if (path.starts_with(map)) return "map.default." + std::string(path.substr(map.size()));
    if (path.starts_with(port)) return "default." + std::string(path.substr(port.size()));
    return std::string(path);
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
    for (const std::string& segment : segments_of(path)) {
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

}  // namespace sluice
