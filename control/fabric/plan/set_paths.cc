#include "control/fabric/plan/set_paths.hh"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"

namespace sluice::fabric {
namespace {

constexpr std::string_view switch_section = "switch.";

// By its `name`, or by its index.
template <class List>
auto element_of(List& list, std::string_view part) -> decltype(list.get(0)) {
    for (auto& element : list) {
        const toml::table* table = element.as_table();
        const toml::node* name = table == nullptr ? nullptr : table->get("name");
        if (name != nullptr && name->value<std::string_view>() == part) return &element;
    }
    const auto index = parse_integer(part);
    return index && *index < list.size() ? list.get(*index) : nullptr;
}

// Puts one value without a pattern. The reason why it cannot, or empty.
std::string put_set(toml::table& document, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) return "wants PATH=VALUE";
    std::string_view path = text.substr(0, equals);
    const std::string_view said = text.substr(equals + 1);
    auto value = parse_toml_value(said);
    if (!value) return "has no value";
    toml::node* at = &document;
    while (true) {
        const std::size_t dot = path.find('.');
        const std::string_view part = path.substr(0, dot);
        const bool last = dot == path.npos;
        if (toml::array* list = at->as_array()) {
            toml::node* element = element_of(*list, part);
            if (element == nullptr)
                return fmt::format("{} is none of the {} elements, which count from 0", in_quotes(part),
                                   list->size());
            if (last) return "names an element of a list, not a key of it";
            at = element;
        } else if (toml::table* table = at->as_table()) {
            if (last) {
                table->insert_or_assign(part, *value->get("value"));  // a copy has no place in a file
                return {};
            }
            if (table->get(part) == nullptr) table->insert(part, toml::table{});
            at = table->get(part);
        } else {
            return fmt::format("{} is not a section", in_quotes(text.substr(0, equals)));
        }
        path.remove_prefix(dot + 1);
    }
}

// The set once for each switch that matches; the reason why there is none.
tl::expected<std::vector<std::string>, std::string> expanded(
    const std::string& set, const std::string& pattern,
    const tl::expected<std::vector<std::string>, std::string>& names) {
    if (!names)
        return tl::unexpected(
            fmt::format("{} has no switches to match: {}", in_quotes(pattern), names.error()));
    std::vector<std::string> made;
    for (const std::string& name : *names)
        if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
            made.push_back(fmt::format("{}{}{}", switch_section, name,
                                       set.substr(switch_section.size() + pattern.size())));
    if (!made.empty()) return made;
    constexpr std::size_t most_named = 8;
    const std::span first(names->data(), std::min(names->size(), most_named));
    return tl::unexpected(fmt::format("no switch matches {}; there are: {}{}", in_quotes(pattern),
                                      joined(first, ", "), first.size() < names->size() ? ", ..." : ""));
}

}  // namespace

std::string pattern_of(std::string_view set_or_path) {
    const std::string_view path = set_or_path.substr(0, set_or_path.find('='));
    if (!path.starts_with(switch_section)) return {};
    const std::string_view rest = path.substr(switch_section.size()), name = rest.substr(0, rest.find('.'));
    return name.size() < rest.size() && name.find_first_of("*?") != name.npos ? std::string(name)
                                                                              : std::string();
}

const toml::node* node_at(const toml::table& document, std::string_view path) {
    const toml::node* at = &document;
    while (at != nullptr) {
        const std::size_t dot = path.find('.');
        const std::string_view part = path.substr(0, dot);
        const toml::table* table = at->as_table();
        const toml::array* list = at->as_array();
        at = table != nullptr ? table->get(part) : list != nullptr ? element_of(*list, part) : nullptr;
        if (dot == path.npos) return at;
        path.remove_prefix(dot + 1);
    }
    return nullptr;
}

tl::expected<void, ConfigError> put_sets(toml::table& document, const std::vector<std::string>& sets,
                                         const SwitchNames& switches) {
    const auto refuse = [](const std::string& set, std::string wrong) {
        return tl::unexpected(
            ConfigError{"--set", {}, set, std::move(wrong), "PATH=VALUE, as buffer.size=4MB", {}});
    };
    const auto put = [&](toml::table& into, const std::string& set) -> tl::expected<void, ConfigError> {
        if (std::string wrong = put_set(into, set); !wrong.empty()) return refuse(set, std::move(wrong));
        return {};
    };
    tl::expected<std::vector<std::string>, std::string> names;
    const auto has_pattern = [](const std::string& set) { return !pattern_of(set).empty(); };
    if (std::ranges::any_of(sets, has_pattern)) {
        // Another set may make the switches. A copy, for its nodes have no place in a file.
        toml::table whole = document;
        for (const std::string& set : sets)
            if (!has_pattern(set))
                if (auto done = put(whole, set); !done) return done;
        names = switches(whole);
    }
    for (const std::string& set : sets) {
        const std::string pattern = pattern_of(set);
        const auto each = pattern.empty() ? std::vector{set} : expanded(set, pattern, names);
        if (!each) return refuse(set, each.error());
        for (const std::string& one : *each)
            if (auto done = put(document, one); !done) return done;
    }
    return {};
}

}  // namespace sluice::fabric
