// `nv set` commands as a document: each word below the one before, so that the last one of a line is a key
// without anything below it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/import/document.hh"

namespace sluice::import {
namespace {

Item& below(Item& parent, std::string_view name, SourcePlace place) {
    if (const auto found = parent.index.find(name); found != parent.index.end()) return *found->second;
    auto made = std::make_unique<Item>();
    Item& node = *made;
    node.kind = Item::Kind::map;
    node.name = name;
    node.place = place;
    adopt(parent, std::move(made));
    return node;
}

// The last command that sets a key holds: makes `name` the last of few.
void put_last(Item& parent, std::string_view name) {
    constexpr std::size_t few = 16;
    auto& members = parent.members;
    if (members.size() > few) return;
    const auto at = std::find_if(members.begin(), members.end(),
                                 [&](const auto& member) { return member->name == name; });
    if (at != members.end()) std::rotate(at, at + 1, members.end());
}

constexpr std::string_view blank = " \t\r";

std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blank));
    line.remove_prefix(word.size());
    return word;
}

}  // namespace

Document read_commands(const std::string& text) {
    auto root = std::make_unique<Item>();
    root->kind = Item::Kind::map;
    Item& set = below(*root, "set", {});
    std::string_view rest = text;
    std::size_t nodes = 0;
    for (unsigned number = 1; !rest.empty(); ++number) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        const std::string_view whole = line;
        const std::string_view first = take_word(line);
        if (first.empty() || first.starts_with('#')) continue;
        const auto place = [&] {
            return SourcePlace{number, static_cast<unsigned>(whole.size() - line.size() + 1)};
        };
        const std::string_view verb = take_word(line);
        if (first != "nv" || (verb != "set" && verb != "unset"))
            return tl::unexpected(
                ReadError{{number, 1}, {}, "is not a command of nv set", "leave the line out"});
        Item unset;
        Item* node = verb == "set" ? &set : &unset;
        Item* above = node;
        unsigned depth = 0;
        for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
            if (++depth > max_depth || ++nodes > max_nodes)
                return tl::unexpected(ReadError{place(), {}, "too many words", {}});
            const SourcePlace here{number, place().column - static_cast<unsigned>(word.size())};
            above = std::exchange(node, &below(*node, word, here));
        }
        if (verb == "unset")
            take_away(set, unset);
        else if (node->members.empty())
            put_last(*above, node->name);
    }
    return root;
}

}  // namespace sluice::import
