#include "tools/import/statements.hh"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::import {

bool starts_with_words(std::string_view statement, std::string_view words) {
    return statement.starts_with(words) &&
           (statement.size() == words.size() || statement[words.size()] == ' ');
}

std::string_view StatementWords::next() {
    const std::string_view word = peek();
    rest_.remove_prefix(std::min(word.size() + 1, rest_.size()));
    return word;
}

bool StatementWords::take(std::string_view words) {
    if (!starts_with_words(rest_, words)) return false;
    rest_.remove_prefix(std::min(words.size() + 1, rest_.size()));
    return true;
}

bool StatementWords::skip_behind(std::string_view word) {
    while (!empty())
        if (next() == word) return true;
    return false;
}

std::optional<Matched> match_statement(const Item& statement, std::span<const StatementRule> rules) {
    StatementWords words(statement.word);
    const bool negated = words.take("no") || words.take("default");
    const StatementRule* best = nullptr;
    for (const StatementRule& rule : rules)
        if (starts_with_words(words.rest(), rule.words) &&
            (best == nullptr || rule.words.size() > best->words.size()))
            best = &rule;
    if (best == nullptr) return std::nullopt;
    words.take(best->words);
    Matched out{std::string(best->key.empty() ? best->words : best->key), {&statement, negated, {}}};
    for (unsigned n = 0; n < best->key_words && !words.empty(); ++n)
        out.key += " " + std::string(words.next());
    out.said.words = words.rest();
    return out;
}

void put_setting(Settings& settings, std::string_view prefix, Matched matched,
                 std::vector<Replaced>& replaced) {
    Said& slot = settings[std::string(prefix) + matched.key];
    if (slot.item != nullptr && slot.item != matched.said.item)
        replaced.push_back({slot.item, matched.said.item});
    slot = matched.said;
}

void tell_replaced(std::span<const Replaced> replaced, Account& account) {
    for (const Replaced& each : replaced)
        if (!each.before->accounted)
            account.nothing(*each.before, fmt::format("line {} says another", each.by->place.line));
}

void put_below(Settings& own, const Settings& below) { own.insert(below.begin(), below.end()); }

const Said* find_said(const Settings& settings, std::string_view key) {
    const auto found = settings.find(key);
    return found == settings.end() ? nullptr : &found->second;
}

}  // namespace sluice::import
