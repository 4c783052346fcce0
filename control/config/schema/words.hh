// Words that a person types: a known word may be cut to any beginning that means only it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace sluice {

using Words = std::vector<std::string>;

Words split_words(std::string_view text);
// The parts between separators; an empty text is one empty part.
Words split(std::string_view text, char separator);
std::string joined(std::span<const std::string> words, std::string_view separator);
// Those of `known` that `word` begins; `word` alone if it is one of them.
Words begun_by(std::string_view word, const Words& known);
// The one of `known` that `word` is or begins, or a sentence that names the nearest. `what`: "verb of route".
tl::expected<std::string, std::string> find_word(std::string_view word, const Words& known,
                                                 std::string_view what);

}  // namespace sluice
