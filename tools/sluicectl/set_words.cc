#include "tools/sluicectl/set_words.hh"

#include <array>
#include <string_view>

namespace sluice::ctl {
namespace {

// Those that may stand without dashes, and whether they have a value. No key begins one of them.
struct OptionWord {
    std::string_view name;
    bool has_value;
};
constexpr std::array option_words{OptionWord{"confirm", true}, OptionWord{"watch", true},
                                  OptionWord{"force", false}, OptionWord{"keep", false}};

// The one that a word is or begins; null: none.
const OptionWord* option_said(std::string_view word) {
    constexpr std::size_t shortest = 3;
    if (word.size() < shortest) return nullptr;
    for (const OptionWord& option : option_words)
        if (option.name.starts_with(word)) return &option;
    return nullptr;
}

}  // namespace

Json values_said(Arguments& arguments) {
    Json changes = Json::array();
    const Words& words = arguments.rest;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto next = [&](const std::string& of, const char* what) -> const std::string& {
            if (i + 1 == words.size())
                throw Failure{exit_usage, of + ": " + what + " is missing; wanted: set KEY=VALUE..."};
            return words[++i];
        };
        if (const OptionWord* option = option_said(word)) {
            arguments.values[std::string(option->name)] = option->has_value ? next(word, "TIME") : word;
        } else if (const auto equals = word.find('='); equals != std::string::npos && equals != 0) {
            changes.push_back({{"path", word.substr(0, equals)}, {"value", word.substr(equals + 1)}});
        } else {
            if (i + 1 < words.size() && words[i + 1] == "=") ++i;
            changes.push_back({{"path", word}, {"value", next(word, "VALUE")}});
        }
    }
    return changes;
}

std::optional<std::string> key_before(std::span<const std::string> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool dashes = word.starts_with("--");
        if (const OptionWord* option = option_said(dashes ? word.substr(2) : word); option || dashes) {
            i += option != nullptr && option->has_value;
            continue;
        }
        const auto equals = word.find('=');
        if (equals != std::string::npos && equals + 1 < word.size()) continue;
        const std::string key = word.substr(0, equals);
        if (equals == std::string::npos && i + 1 < words.size() && words[i + 1] == "=") ++i;
        if (i + 1 == words.size()) return key;
        if (equals == std::string::npos)
            ++i;  // its value
        else if (++i == words.size())
            return key;
    }
    return std::nullopt;
}

}  // namespace sluice::ctl
