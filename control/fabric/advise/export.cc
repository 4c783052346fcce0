#include "control/fabric/advise/export.hh"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "control/config/schema/schema.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/fabric/plan/set_paths.hh"
#include "control/fabric/scenario/points.hh"

namespace sluice::fabric {
namespace {

namespace fs = std::filesystem;

// The files of [[workload]], relative to `file`, relative to `folder`.
void rename_workloads(toml::table& document, const std::string& file, const std::string& folder) {
    toml::array* list = document["workload"].as_array();
    if (list == nullptr || folder.empty()) return;
    for (toml::node& element : *list) {
        toml::table* workload = element.as_table();
        const auto said = workload == nullptr ? std::nullopt : (*workload)["file"].value<std::string>();
        if (!said || fs::path(*said).is_absolute()) continue;
        std::error_code error, other;
        const fs::path from = fs::absolute(folder, error).lexically_normal(),
                       there = fs::absolute(fs::path(file).parent_path() / *said, other).lexically_normal();
        if (!error && !other) workload->insert_or_assign("file", there.lexically_relative(from).string());
    }
}

// Without what is a host's, or the fabric's: hosts, their neighbors, and routes.
Config switch_alone(const Config& config) {
    Config alone = config;
    alone.hosts.clear();
    alone.host_defaults = {};
    alone.neighbors = {};
    alone.routes = {};
    return alone;
}

std::string section_text(const Config& config, const std::vector<ConfigChange>& changes) {
    // By section, in the order of the first key of each.
    std::vector<std::pair<std::string, std::string>> sections;
    for (const ConfigChange& change : changes)
        for (const ConfigValue& value : config_values(config, change.path, true)) {
            const bool is_it = value.path == change.path || change.path.starts_with(value.path + ".");
            if (!is_it) continue;
            auto known =
                std::ranges::find(sections, value.section, &std::pair<std::string, std::string>::first);
            if (known == sections.end()) known = sections.insert(sections.end(), {value.section, {}});
            // An entry of a table stands with the whole table.
            const std::string line = fmt::format("{} = {}\n", value.key(), value.value);
            if (known->second.find(line) == std::string::npos) known->second += line;
        }
    std::string text;
    std::ranges::stable_partition(sections, [](const auto& each) { return each.first.empty(); });
    for (const auto& [section, lines] : sections)
        text += section.empty() ? lines : fmt::format("[{}]\n{}", section, lines);
    return text;
}

// A value as a word of a shell.
std::string shell_word(const std::string& toml) {
    std::string word = toml;
    if (toml.starts_with('"') && toml.find('\\') == toml.npos)
        if (std::string bare = plain(toml); !bare.empty() && !parse_toml_value(bare, false)) word = bare;
    constexpr std::string_view harmless =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:%+-";
    if (word.find_first_not_of(harmless) == word.npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

tl::expected<std::string, std::vector<std::string>> recommended_toml(std::string_view text,
                                                                     const std::string& file,
                                                                     const std::vector<std::string>& sets,
                                                                     const std::string& folder) {
    auto document = document_with_sets(text, file, sets);
    if (!document) return tl::unexpected(std::vector{document.error().text()});
    if (const auto judged = parse_fabric(text, file, sets); !judged) {
        std::vector<std::string> errors;
        for (const ConfigError& each : judged.error()) errors.push_back(each.text());
        return tl::unexpected(std::move(errors));
    }
    rename_workloads(*document, file, folder);
    std::ostringstream out;
    out << "# " << toml_string(fs::path(file).filename().string())
        << " with the values that sluice-fabric advise recommends; its comments are lost.\n"
        << toml::toml_formatter(*document, toml::format_flags::none) << "\n";
    return out.str();
}

std::vector<SwitchChanges> switch_changes(const FabricPlan& today, const FabricPlan& advised) {
    std::vector<SwitchChanges> all;
    for (std::size_t n = 0; n < std::min(today.switches.size(), advised.switches.size()); ++n) {
        const Config before = switch_alone(today.switches[n].config),
                     after = switch_alone(advised.switches[n].config);
        std::vector<ConfigChange> changes = config_changes(before, after);
        for (ConfigChange& each : changes)
            if (each.to.empty()) each.to = value_at(after, each.path).value_or("");
        std::erase_if(changes, [](const ConfigChange& each) { return each.to.empty(); });
        if (changes.empty()) continue;
        const auto known = std::ranges::find_if(all, [&](const SwitchChanges& other) {
            return std::ranges::equal(other.changes, changes,
                                      [](const ConfigChange& a, const ConfigChange& b) {
                                          return a.path == b.path && a.to == b.to;
                                      });
        });
        if (known != all.end()) {
            known->switches.push_back(today.switches[n].name);
            continue;
        }
        std::string text = section_text(after, changes);
        all.push_back({{today.switches[n].name}, std::move(changes), std::move(text)});
    }
    return all;
}

std::string switch_toml(const std::vector<SwitchChanges>& changes) {
    std::string text;
    if (changes.size() > 1) text = "# Each part belongs into the configuration of the switches above it.\n";
    for (const SwitchChanges& each : changes) {
        if (!text.empty()) text += "\n";
        text += fmt::format("# {}\n{}", joined(each.switches, ", "), each.toml);
    }
    return text;
}

std::string trial_command(const SwitchChanges& changes, std::string_view window) {
    std::string words;
    for (const ConfigChange& each : changes.changes)
        if (!each.restart) words += fmt::format(" {}={}", shell_word(each.path), shell_word(each.to));
    return words.empty() ? words : fmt::format("sluicectl set --watch {}{}", window, words);
}

}  // namespace sluice::fabric
