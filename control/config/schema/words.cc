#include "control/config/schema/words.hh"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// The nearest to a word that is written wrong or begun wrong ("droped" of "dropped_packets"); may be empty.
std::string near_word(std::string_view word, const Words& known) {
    if (std::string near = nearest_name(word, known); !near.empty()) return near;
    Words begins;
    for (const std::string& one : known) begins.push_back(one.substr(0, one.find_first_of("_-")));
    const std::string near = nearest_name(word, begins);
    const auto found = std::find(begins.begin(), begins.end(), near);
    return near.empty() ? std::string() : known[static_cast<std::size_t>(found - begins.begin())];
}

}  // namespace

Words split_words(std::string_view text) {
    std::istringstream stream{std::string(text)};
    Words words;
    for (std::string word; stream >> word;) words.push_back(std::move(word));
    return words;
}

Words split(std::string_view text, char separator) {
    Words parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

Words begun_by(std::string_view word, const Words& known) {
    Words found;
    for (const std::string& one : known) {
        if (one == word) return {one};
        if (!word.empty() && one.starts_with(word)) found.push_back(one);
    }
    return found;
}

tl::expected<std::string, std::string> find_word(std::string_view word, const Words& known,
                                                 std::string_view what) {
    const Words found = begun_by(word, known);
    if (found.size() == 1) return found[0];
    if (found.size() > 1)
        return tl::unexpected(fmt::format("{} may be {}", in_quotes(word), joined(found, " or ")));
    const std::string near = near_word(word, known);
    return tl::unexpected(fmt::format("there is no {} {}{}; known: {}", what, in_quotes(word),
                                      near.empty() ? "" : ", perhaps " + near, joined(known, ", ")));
}

}  // namespace sluice
