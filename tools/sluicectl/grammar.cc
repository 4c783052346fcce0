#include "tools/sluicectl/grammar.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "tools/sluicectl/failure.hh"

namespace sluice::ctl {
namespace {

bool is_place(std::string_view text) { return !text.empty() && std::isupper(text.front()) != 0; }

Element value_element(std::string text) {
    Element element;
    if (text.ends_with("...")) {
        element.kind = Element::Kind::rest;
        element.name = text.substr(0, text.size() - 3);
    } else if (is_place(text)) {
        element.kind = Element::Kind::place;
        element.name = std::move(text);
    } else if (text.find('|') != std::string::npos) {
        element.kind = Element::Kind::choice;
        element.words = split(text, '|');
        element.name = std::move(text);
    } else {
        element.name = std::move(text);
    }
    return element;
}

// A pair or a flag, which may stand anywhere behind the verb.
bool has_key(const Element& element) {
    return element.kind == Element::Kind::pair || element.kind == Element::Kind::flag;
}

bool is_flag(const std::vector<Element>& elements, std::string_view key) {
    return std::any_of(elements.begin(), elements.end(), [&](const Element& element) {
        return element.kind == Element::Kind::flag && element.name == key;
    });
}

// The key that a word says, with or without dashes; empty: none.
std::string key_said(std::string_view word, const std::vector<Element>& elements, bool may_be_prefix) {
    const bool dashes = word.starts_with("--");
    if (dashes) word.remove_prefix(2);
    Words keys;
    for (const Element& element : elements)
        if (has_key(element)) keys.push_back(element.name);
    const Words found = begun_by(word, keys);
    if (found.size() != 1) return {};
    return found[0] == word || may_be_prefix || dashes ? found[0] : std::string();
}

}  // namespace

std::vector<Element> parse_pattern(std::string_view pattern) {
    std::vector<Element> elements;
    const Words words = split(pattern, ' ');
    bool values_began = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i];
        const bool optional = word.starts_with('[');
        if (optional) word.erase(0, 1);
        Element element;
        const bool key = (optional || values_began) && !is_place(word) && word.find('|') == std::string::npos;
        const bool flag = key && optional && word.ends_with(']');
        if (key && !flag && i + 1 < words.size()) {
            element.kind = Element::Kind::pair;
            element.name = std::move(word);
            element.place = words[++i];
            if (optional) element.place.pop_back();
        } else {
            if (optional) word.pop_back();
            element = value_element(std::move(word));
            if (flag) element.kind = Element::Kind::flag;
        }
        element.optional = optional;
        values_began |= element.kind != Element::Kind::word;
        elements.push_back(std::move(element));
    }
    return elements;
}

std::string Arguments::value(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
}

std::string resolve_word(std::string_view word, const Words& known, std::string_view what) {
    auto found = find_word(word, known, what);
    if (!found) throw Failure{exit_usage, std::move(found.error())};
    return std::move(*found);
}

Grammar::Grammar(std::span<const std::string_view> patterns) {
    for (const std::string_view pattern : patterns) {
        texts_.emplace_back(pattern);
        patterns_.push_back(parse_pattern(pattern));
    }
}

Words Grammar::words_at(const std::vector<std::size_t>& commands, std::size_t at) const {
    Words words;
    for (const std::size_t command : commands) {
        const auto& elements = patterns_[command];
        if (at >= elements.size() || elements[at].kind != Element::Kind::word) continue;
        if (std::find(words.begin(), words.end(), elements[at].name) == words.end())
            words.push_back(elements[at].name);
    }
    return words;
}

// Follows the words as long as patterns begin with plain ones. `whole`: no more words follow, so an
// object alone is its `show`.
Grammar::Narrowed Grammar::narrow(std::span<const std::string> words, bool whole) const {
    Narrowed now;
    for (std::size_t i = 0; i < patterns_.size(); ++i) now.commands.push_back(i);
    const auto keep = [&](auto fits) {
        std::erase_if(now.commands, [&](std::size_t command) { return !fits(patterns_[command]); });
    };
    for (; !now.commands.empty(); ++now.at) {
        const Words known = words_at(now.commands, now.at);
        if (known.empty()) break;
        const auto word_is = [&](const std::vector<Element>& elements, std::string_view name) {
            return now.at < elements.size() && elements[now.at].kind == Element::Kind::word &&
                   elements[now.at].name == name;
        };
        const auto no_word = [&](const std::vector<Element>& elements) {
            return now.at >= elements.size() || elements[now.at].kind != Element::Kind::word;
        };
        const std::string object = now.at == 0 ? "" : patterns_[now.commands[0]][0].name;
        const bool others = std::any_of(now.commands.begin(), now.commands.end(),
                                        [&](std::size_t command) { return no_word(patterns_[command]); });
        if (now.at >= words.size()) {
            if (!whole) break;
            if (now.at == 1 && std::find(known.begin(), known.end(), "show") != known.end()) {
                keep([&](const auto& elements) { return word_is(elements, "show"); });
                ++now.at;
                break;
            }
            const auto wants_nothing = [&](const std::vector<Element>& elements) {
                return no_word(elements) &&
                       std::all_of(elements.begin() + static_cast<std::ptrdiff_t>(now.at), elements.end(),
                                   [](const Element& element) { return element.optional; });
            };
            if (std::any_of(now.commands.begin(), now.commands.end(),
                            [&](std::size_t command) { return wants_nothing(patterns_[command]); })) {
                keep(wants_nothing);
                break;
            }
            throw Failure{exit_usage, now.at == 0
                                          ? "say what; see: sluicectl help"
                                          : fmt::format("{}: say one of: {}", object, joined(known, ", "))};
        }
        if (begun_by(words[now.at], known).empty() && others) {
            keep(no_word);
            now.by_word = false;
            break;
        }
        const std::string word =
            resolve_word(words[now.at], known, now.at == 0 ? "object" : "verb of " + object);
        keep([&](const auto& elements) { return word_is(elements, word); });
    }
    return now;
}

Arguments Grammar::take(std::size_t command, std::size_t at, std::span<const std::string> words,
                        bool by_word) const {
    const auto& elements = patterns_[command];
    const auto usage = [&](const std::string& why) {
        std::string message = why + "; wanted: " + texts_[command];
        if (!by_word) {
            Words verbs;
            for (const auto& other : patterns_)
                if (other.size() > at && other[0].name == elements[0].name &&
                    other[at].kind == Element::Kind::word)
                    verbs.push_back(other[at].name);
            const std::string near = nearest_name(words[at], verbs);
            message += (near.empty() ? ", or: " + joined(verbs, ", ") : "; perhaps " + near);
        }
        return Failure{exit_usage, message};
    };
    Arguments arguments;
    arguments.command = command;
    std::size_t next = at;  // element that the next value is for
    const auto skip_keys = [&] {
        while (next < elements.size() && has_key(elements[next])) ++next;
    };
    for (std::size_t i = at; i < words.size(); ++i) {
        skip_keys();
        const std::string& word = words[i];
        const bool rest = next < elements.size() && elements[next].kind == Element::Kind::rest;
        const std::string key =
            rest && !word.starts_with("--") ? "" : key_said(word, elements, next == elements.size());
        if (!key.empty()) {
            if (arguments.has(key)) throw usage(key + " comes twice");
            const bool flag = is_flag(elements, key);
            if (!flag && i + 1 == words.size()) throw usage(key + " wants a value");
            arguments.values[key] = flag ? key : words[++i];
            continue;
        }
        if (next == elements.size()) throw usage(sluice::in_quotes(word) + " is too much");
        const Element& element = elements[next];
        if (rest) {
            arguments.rest.push_back(word);
            continue;
        }
        ++next;
        arguments.values[element.name] =
            element.kind == Element::Kind::choice ? resolve_word(word, element.words, "such word") : word;
    }
    for (const Element& element : elements) {
        if (element.optional || element.kind == Element::Kind::word) continue;
        const bool there =
            element.kind == Element::Kind::rest ? !arguments.rest.empty() : arguments.has(element.name);
        if (!there) throw usage(element.name + " is missing");
    }
    return arguments;
}

Arguments Grammar::match(std::span<const std::string> words) const {
    const Narrowed found = narrow(words, true);
    return take(found.commands.front(), std::min(found.at, words.size()), words, found.by_word);
}

Grammar::Next Grammar::next(std::span<const std::string> words) const {
    Next next;
    const Narrowed found = narrow(words, false);
    const auto offer = [&](const Element& element) {
        if (element.kind == Element::Kind::word || has_key(element))
            next.words.push_back(element.name);
        else if (element.kind == Element::Kind::choice)
            next.words.insert(next.words.end(), element.words.begin(), element.words.end());
        else
            next.places.push_back(element.name);
    };
    if (found.at >= words.size()) {
        next.words = words_at(found.commands, found.at);
        for (const std::size_t command : found.commands)
            if (found.at < patterns_[command].size() &&
                patterns_[command][found.at].kind != Element::Kind::word)
                offer(patterns_[command][found.at]);
        return next;
    }
    const auto& elements = patterns_[found.commands.front()];
    std::size_t at = found.at;
    for (std::size_t i = found.at; i < words.size(); ++i) {
        const std::string key = key_said(words[i], elements, false);
        if (key.empty()) {
            while (at < elements.size() && has_key(elements[at])) ++at;
            if (at < elements.size() && elements[at].kind != Element::Kind::rest) ++at;
            continue;
        }
        if (is_flag(elements, key) || ++i < words.size()) continue;
        for (const Element& element : elements)
            if (element.kind == Element::Kind::pair && element.name == key)
                next.places.push_back(element.place);
        return next;
    }
    bool value_offered = false;
    for (std::size_t i = found.at; i < elements.size(); ++i) {
        const bool key = has_key(elements[i]);
        if (!key && (i < at || value_offered)) continue;
        value_offered |= !key;
        offer(elements[i]);
    }
    return next;
}

}  // namespace sluice::ctl
