// The grammar: patterns of words, matched as iproute2 does, by any prefix that means one thing only.
//
// A pattern is made of
//   word         said as it is, or a prefix of it
//   a|b          one of these words
//   PLACE        a value; [PLACE] one that may be missing; WORDS... all the rest, at least one
//   key PLACE    behind the first value: a named value, at any place; [key PLACE] one that may be missing;
//                --key says the same; [flag] a word that stands alone, as it is or behind dashes
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/words.hh"

namespace sluice::ctl {

using sluice::Words;

struct Element {
    enum class Kind { word, choice, place, pair, flag, rest };
    Kind kind = Kind::word;
    bool optional = false;
    std::string name;   // the word, the place's name, the pair's key
    std::string place;  // of a pair
    Words words;        // of a choice
};

std::vector<Element> parse_pattern(std::string_view pattern);

// The arguments, by the name of the place or flag, the key of the pair, or "a|b" of the choice.
struct Arguments {
    std::size_t command = 0;  // index of the pattern
    std::map<std::string, std::string, std::less<>> values;
    Words rest;

    bool has(std::string_view name) const { return values.find(name) != values.end(); }
    std::string value(std::string_view name) const;  // empty: not said
};

class Grammar {
  public:
    explicit Grammar(std::span<const std::string_view> patterns);

    // Throws Failure (exit_usage) that names the expected words and the nearest word.
    Arguments match(std::span<const std::string> words) const;

    // The candidates after `words`: plain words, and names of places ("PORT") for the caller to fill.
    struct Next {
        Words words;
        Words places;
    };
    Next next(std::span<const std::string> words) const;

  private:
    struct Narrowed {
        std::vector<std::size_t> commands;
        std::size_t at = 0;   // words and elements used up
        bool by_word = true;  // else no word fitted and a place took its turn
    };
    Narrowed narrow(std::span<const std::string> words, bool whole) const;
    Arguments take(std::size_t command, std::size_t at, std::span<const std::string> words,
                   bool by_word) const;
    Words words_at(const std::vector<std::size_t>& commands, std::size_t at) const;

    std::vector<std::string> texts_;
    std::vector<std::vector<Element>> patterns_;
};

// The one of `known` that `word` is or begins; throws Failure naming the nearest. `what`: "verb of route".
std::string resolve_word(std::string_view word, const Words& known, std::string_view what);

// Our command for what another switch or shell calls `words`: "buffer show h4"; empty: none.
std::string our_words(std::span<const std::string> words);

}  // namespace sluice::ctl
