// Statements of a command line (EOS, NX-OS): the words of one, and the rules of a section's body.
//
// A section is an Item with the statements of its body as members; `word` is the statement with single
// blanks, `name` its beginning. A body is collected first, later lines over earlier ones, and then taken key
// by key, so that a profile or a bundle can stand below what a port says itself.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/account.hh"

namespace sluice::import {

// The words of a statement from left to right; empty ones at its end.
class StatementWords {
  public:
    explicit StatementWords(std::string_view text) : rest_(text) {}

    std::string_view peek() const { return rest_.substr(0, rest_.find(' ')); }
    std::string_view next();
    // True, and they are taken, when these words come next: "priority-flow-control pause".
    bool take(std::string_view words);
    bool empty() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }
    // The words behind `word` are next; false when it does not come.
    bool skip_behind(std::string_view word);

  private:
    std::string_view rest_;
};

bool starts_with_words(std::string_view statement, std::string_view words);

// A statement of a body, under the key that the next one of its kind replaces.
struct Said {
    const Item* item = nullptr;
    bool negated = false;    // `no` or `default` before it
    std::string_view words;  // behind those of its rule
    StatementWords arguments() const { return StatementWords(words); }
};
using Settings = std::map<std::string, Said, std::less<>>;

// Statements of one kind begin with `words`; the next `key_words` words are of their key. Kinds of one `key`
// replace each other.
struct StatementRule {
    std::string_view words;
    unsigned key_words = 0;
    std::string_view key{};  // empty: `words`
};

// The statement, without `no` and `default`, by the longest rule that it begins with. Nothing: by none.
struct Matched {
    std::string key;
    Said said;
};
std::optional<Matched> match_statement(const Item& statement, std::span<const StatementRule> rules);

// Statements that a later one of the same section replaced: those that hold nowhere are told at the end.
struct Replaced {
    const Item* before;
    const Item* by;
};
void put_setting(Settings& settings, std::string_view prefix, Matched matched,
                 std::vector<Replaced>& replaced);
void tell_replaced(std::span<const Replaced> replaced, Account& account);
// Those of `below` that `own` does not say.
void put_below(Settings& own, const Settings& below);

const Said* find_said(const Settings& settings, std::string_view key);

}  // namespace sluice::import
