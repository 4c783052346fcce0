#include "tools/sluicectl/set_words.hh"

#include <algorithm>
#include <array>

namespace sluice::ctl {
namespace {

constexpr std::array options{"confirm", "watch"};
constexpr std::array flags{"force", "keep"};

bool is_one_of(const std::string& word, const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
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
        if (is_one_of(word, flags)) {
            arguments.values[word] = word;
        } else if (is_one_of(word, options)) {
            arguments.values[word] = next(word, "TIME");
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
        if (word.starts_with("--") || is_one_of(word, flags)) continue;
        if (is_one_of(word, options)) {
            ++i;
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
