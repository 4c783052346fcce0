#include "tools/import/split.hh"

#include <algorithm>

namespace sluice::import {
namespace {

constexpr std::string_view white = " \t\r\n";

}  // namespace

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(white);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(white) + 1 - first);
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(at));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        if (const std::string_view word = trimmed(part); !word.empty()) parts.push_back(word);
    }
    return parts;
}

std::pair<std::string_view, std::string_view> split_last(std::string_view text, char at) {
    const std::size_t found = text.rfind(at);
    if (found == text.npos) return {trimmed(text), {}};
    return {trimmed(text.substr(0, found)), trimmed(text.substr(found + 1))};
}

std::string tidy_key(std::string_view key) {
    key = trimmed(key);
    std::string out;
    const auto parts_key = [](char c) { return c == '|' || c == ','; };
    for (std::size_t at = 0; at < key.size(); ++at) {
        if (white.find(key[at]) == white.npos) {
            out += key[at];
            continue;
        }
        const std::size_t next = key.find_first_not_of(white, at);  // there is one: it is trimmed
        if (!parts_key(key[next]) && !parts_key(out.back())) out += key.substr(at, next - at);
        at = next - 1;
    }
    return out;
}

}  // namespace sluice::import
