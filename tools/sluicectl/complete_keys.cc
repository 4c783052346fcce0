#include "tools/sluicectl/complete.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

constexpr unsigned classes = 8;

// The schema's keys; [default] has those of each port.
struct Key {
    Words pattern;
    Json info;
};
std::vector<Key> keys_of(Context& context) {
    std::vector<Key> keys;
    for (Json& info : context.call("config.keys")) {
        Words pattern = split(info["path"].get<std::string>(), '.');
        if (pattern[0].find('[') != std::string::npos) continue;  // of a list, such as route[]
        if (pattern[0] == "port" && pattern.size() > 2) {
            Words everywhere{"default"};
            everywhere.insert(everywhere.end(), pattern.begin() + 2, pattern.end());
            keys.push_back({std::move(everywhere), info});
        }
        keys.push_back({std::move(pattern), std::move(info)});
    }
    return keys;
}

bool fits(const std::string& pattern, const std::string& part) {
    if (pattern == "NAME") return !part.empty();
    return pattern == "N" ? part.size() == 1 && part[0] >= '0' && part[0] < '0' + static_cast<char>(classes)
                          : pattern == part;
}

bool begins(const Words& pattern, const Words& parts, std::size_t count) {
    if (pattern.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i)
        if (!fits(pattern[i], parts[i])) return false;
    return true;
}

// The names that a section of the running configuration has: [wred.NAME].
Words names_in(Context& context, const std::string& section) {
    std::set<std::string> names;
    try {
        const std::string text = word_text(context.call("config.get", {{"path", section}})["value"]);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            names.insert(text.substr(at, text.find('.', at) - at));
            at = end + 1;
        }
    } catch (const Failure&) {  // it has none
    }
    return {names.begin(), names.end()};
}

// The words that a key's type takes, and the names of what is there.
Words words_of_type(Context& context, const Json& info) {
    const auto& type = info["type"].get_ref<const std::string&>();
    if (type == "boolean") return {"true", "false"};
    if (type.starts_with("list") || type == "chance" || type == "per cent") return {};
    Words words;
    // Allowed: "one", "other"
    const auto& allowed = info["allowed"].get_ref<const std::string&>();
    for (std::size_t from = 0, end = 0; (from = allowed.find('"', end)) != allowed.npos; ++end) {
        end = std::min(allowed.find('"', from + 1), allowed.size());
        words.push_back(allowed.substr(from + 1, end - from - 1));
    }
    constexpr std::array<std::pair<std::string_view, const char*>, 4> named{
        {{"a port's name", "port"},
         {"a pool's name", "pool"},
         {"a map's name", "map"},
         {"a WRED profile's name", "wred"}}};
    for (const auto& [of, section] : named) {
        if (type != of) continue;
        if (type == named.back().first) words.insert(words.end(), {"linear", "steep", "sonic", "none"});
        for (std::string& name : names_in(context, section)) words.push_back(std::move(name));
    }
    return words;
}

}  // namespace

Words key_candidates(Context& context, std::string_view partial) {
    const Words parts = split(partial, '.');
    const std::size_t last = parts.size() - 1;
    const std::string before(partial.substr(0, partial.size() - parts[last].size()));
    std::set<std::string> found;
    bool named = false;
    for (const Key& key : keys_of(context)) {
        const Words& pattern = key.pattern;
        if (!begins(pattern, parts, last) || pattern.size() == last) continue;
        const std::string more = pattern.size() == last + 1 ? "" : ".";
        if (pattern[last] == "N") {
            for (unsigned n = 0; n < classes; ++n) found.insert(fmt::format("{}{}", n, more));
        } else if (pattern[last] != "NAME") {
            found.insert(pattern[last] + more);
        } else if (!named) {
            named = true;
            for (const std::string& name : names_in(context, before.substr(0, before.size() - 1)))
                found.insert(name + more);
        }
    }
    Words candidates;
    for (const std::string& part : found)
        if (part.starts_with(parts[last])) candidates.push_back(before + part);
    return candidates;
}

Words value_candidates(Context& context, std::string_view path) {
    const Words parts = split(path, '.');
    for (const Key& key : keys_of(context)) {
        if (key.pattern.size() != parts.size() || !begins(key.pattern, parts, parts.size())) continue;
        // NAME stands for what is there.
        if (key.pattern[0] != "default" && key.pattern.size() > 1 && key.pattern[1] == "NAME") {
            const Words there = names_in(context, parts[0]);
            if (std::find(there.begin(), there.end(), parts[1]) == there.end()) return {};
        }
        return words_of_type(context, key.info);
    }
    return {};
}

Words assignment_candidates(Context& context, std::span<const std::string> words, std::string_view partial) {
    if (const auto equals = partial.find('='); equals != std::string_view::npos) {
        Words candidates;
        for (const std::string& value : value_candidates(context, partial.substr(0, equals)))
            candidates.push_back(std::string(partial.substr(0, equals + 1)) + value);
        return candidates;
    }
    const auto key = key_before(words);
    return key ? value_candidates(context, *key) : key_candidates(context, partial);
}

}  // namespace sluice::ctl
