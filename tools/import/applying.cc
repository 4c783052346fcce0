// The keys of --apply: each value of a file of sluiced's, in the order of the file.
#include <toml++/toml.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "tools/import/exporting.hh"

namespace sluice::import {
namespace {

using Errors = std::vector<std::string>;

std::string as_toml(const toml::node& node) {
    if (const toml::table* table = node.as_table()) {
        std::string entries;
        for (const auto& [name, value] : *table)
            append_item(entries, ", ", fmt::format("{} = {}", toml_string(name.str()), as_toml(value)));
        return "{" + entries + "}";
    }
    if (const auto text = node.value<std::string>(); text && node.is_string()) return toml_string(*text);
    std::ostringstream text;
    node.visit([&](const auto& value) { text << value; });
    std::string line = text.str();
    std::ranges::replace(line, '\n', ' ');
    return line;
}

// A table that is the value of one key, such as dscp_to_tc.
bool is_value(std::string_view key) {
    return std::ranges::any_of(schema_keys(), [&](const KeyInfo& each) {
        return each.name == key && each.type.starts_with("table");
    });
}

class KeyReader {
  public:
    explicit KeyReader(const std::string& file) : file_(file) {}

    tl::expected<std::vector<AppliedKey>, Errors> read(const toml::table& document) {
        take(document, {});
        if (!errors_.empty()) return tl::unexpected(std::move(errors_));
        if (keys_.empty()) return tl::unexpected(Errors{fmt::format("{}: has no keys", file_)});
        return std::move(keys_);
    }

  private:
    void take(const toml::table& table, const std::string& path) {
        for (const auto& [name, node] : table) {
            if (is_full_) return;
            const std::string own =
                path.empty() ? std::string(name.str()) : fmt::format("{}.{}", path, name.str());
            const SourcePlace place{static_cast<unsigned>(name.source().begin.line),
                                    static_cast<unsigned>(name.source().begin.column)};
            const toml::table* below = node.as_table();
            is_full_ = keys_.size() + errors_.size() == max_applied_keys;
            if (is_full_)
                refuse(place, own, fmt::format("is one of more than {} keys", max_applied_keys),
                       "give the keys that change, as sluice-fabric advise writes them in switch.toml");
            else if (below != nullptr && !is_value(name.str()))
                take(*below, own);
            else if (node.is_array_of_tables())
                refuse(place, own, "is a list of sections, and no key of a switch's ports, buffer or queues",
                       "leave it out");
            else
                keys_.push_back({own, as_toml(node), {}, place});
        }
    }

    void refuse(SourcePlace place, const std::string& path, std::string wrong, std::string remedy) {
        errors_.push_back(ConfigError{file_, place, path, std::move(wrong), {}, std::move(remedy)}.text());
    }

    const std::string& file_;
    std::vector<AppliedKey> keys_;
    Errors errors_;
    bool is_full_ = false;
};

std::vector<ValueChange> changes_of(std::span<const AppliedKey> keys, std::size_t left_out) {
    std::vector<ValueChange> changes;
    for (std::size_t n = 0; n < keys.size(); ++n) {
        if (n == left_out) continue;
        changes.push_back({keys[n].path, keys[n].value});
        constexpr std::string_view section = "default.";
        for (const std::string& port : keys[n].ports)
            changes.push_back(
                {fmt::format("port.{}.{}", port, keys[n].path.substr(section.size())), keys[n].value});
    }
    return changes;
}

// The ports whose own value hides that of [default].
void find_hiding_ports(const Config& config, std::span<AppliedKey> keys) {
    std::map<std::string, std::string> values;
    for (ConfigValue& each : config_values(config, {}, true)) values[each.path] = std::move(each.value);
    for (AppliedKey& key : keys) {
        const std::string path = usual_path(key.path);
        if (!path.starts_with("default.")) continue;
        key.path = path;
        const auto common = values.find(path);
        if (common == values.end()) continue;
        for (const auto& [name, port] : config.ports) {
            const std::string own = fmt::format("port.{}.{}", name, path.substr(path.find('.') + 1));
            const auto value = values.find(own);
            const bool in_file =
                std::ranges::any_of(keys, [&](const AppliedKey& other) { return other.path == own; });
            if (!in_file && value != values.end() && value->second != common->second)
                key.ports.push_back(name);
        }
    }
}

}  // namespace

tl::expected<Applied, Errors> apply_keys(const Config& config, std::string_view text,
                                         const std::string& file) {
    auto document = parse_toml(text, file);
    if (!document) {
        ConfigError error = document.error();
        // switch.toml of a fabric whose switches differ.
        if (error.wrong.find("redefine") != std::string::npos)
            error.remedy =
                "where the file has a part for each of several switches, give the part of this one";
        return tl::unexpected(Errors{error.text()});
    }
    auto keys = KeyReader(file).read(*document);
    if (!keys) return tl::unexpected(std::move(keys.error()));
    const auto refused = [&](ConfigError error) {
        const auto of = std::ranges::find_if(*keys, [&](const AppliedKey& each) {
            return !error.path.empty() && (each.path == error.path || usual_path(each.path) == error.path);
        });
        error.file = file;
        if (of != keys->end()) error.place = of->place;
        return tl::unexpected(Errors{error.text()});
    };
    auto once = with_values(config, changes_of(*keys, max_applied_keys));
    if (!once) return refused(std::move(once.error()));
    find_hiding_ports(*once, *keys);
    auto made = with_values(config, changes_of(*keys, max_applied_keys));
    if (!made) return refused(std::move(made.error()));
    return Applied{std::move(*made), std::move(*keys)};
}

tl::expected<Config, std::string> applied_without(const Config& config, std::span<const AppliedKey> keys,
                                                  std::size_t left_out) {
    auto made = with_values(config, changes_of(keys, left_out));
    if (!made) return tl::unexpected(made.error().text());
    return std::move(*made);
}

}  // namespace sluice::import
