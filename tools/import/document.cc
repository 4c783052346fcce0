#include "tools/import/document.hh"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/text/controls.hh"

namespace sluice::import {
namespace {

constexpr std::string_view white = " \t\r\n";

// Bytes of the character at the front, 0 when it is none (RFC 3629).
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t n = 1; n < length; ++n)
        if ((byte(n) & 0xC0U) != 0x80) return 0;
    const unsigned second = byte(1);
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool surrogate = first == 0xED && second > 0x9F;
    const bool beyond = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

// The later of two members of one name holds.
void put(Item& map, std::unique_ptr<Item> member) {
    if (const auto known = map.index.find(member->name); known != map.index.end()) {
        known->second->repeated = member->place;
        map.index.erase(known);  // its key is the earlier node's
    }
    map.index.emplace(member->name, member.get());
    map.members.push_back(std::move(member));
}

}  // namespace

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

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

const Item* Item::find(std::string_view key) const {
    const auto found = index.find(key);
    return found == index.end() ? nullptr : found->second;
}

std::string Item::path() const {
    std::vector<std::string_view> names;
    for (const Item* node = this; node->parent != nullptr; node = node->parent) names.push_back(node->name);
    std::string out;
    for (const std::string_view part : std::ranges::reverse_view(names)) append_item(out, ".", part);
    return out;
}

std::vector<const Item*> Item::entries() const {
    std::vector<const Item*> held;
    for (const auto& member : members)
        if (member->repeated.line == 0) held.push_back(member.get());
    return held;
}

std::string ReadError::text(std::string_view file) const {
    std::string out(file);
    if (place.line != 0) out += fmt::format(":{}:{}", place.line, place.column);
    if (!path.empty()) out += ": " + path;
    out += ": " + wrong;
    if (!remedy.empty()) out += "; do: " + remedy;
    // A path has names of the file, which may have any character.
    return without_controls(out);
}

SourcePlace place_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const std::size_t line_start = before.rfind('\n') + 1;
    return {static_cast<unsigned>(std::count(before.begin(), before.end(), '\n') + 1),
            static_cast<unsigned>(before.size() - line_start + 1)};
}

std::size_t invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character(text.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return text.npos;
}

Item& Builder::add(Item::Kind kind, SourcePlace place) {
    if (++nodes_ > max_nodes)
        throw ReadError{place, {}, fmt::format("the file has more than {} values", max_nodes), {}};
    auto made = std::make_unique<Item>();
    Item& node = *made;
    node.kind = kind;
    node.place = place;
    last_ = &node;
    if (open_.empty()) {
        if (root_) throw ReadError{place, {}, "a second document begins", "keep one document in the file"};
        root_ = std::move(made);
        return node;
    }
    Item& parent = *open_.back();
    node.parent = &parent;
    if (parent.is_map()) {
        node.name = std::exchange(key_, {});
        node.place = key_place_;
        has_key_ = false;
        put(parent, std::move(made));
    } else {
        node.name = std::to_string(parent.members.size());
        parent.members.push_back(std::move(made));
    }
    return node;
}

void Builder::key(std::string name, SourcePlace place) {
    key_ = tidy_key(name);
    key_place_ = place;
    has_key_ = true;
}

bool Builder::wants_key() const { return !open_.empty() && open_.back()->is_map() && !has_key_; }

void Builder::word(std::string text, SourcePlace place) { add(Item::Kind::word, place).word = trimmed(text); }

void Builder::null(SourcePlace place) { add(Item::Kind::null, place); }

void Builder::open(Item::Kind kind, SourcePlace place) {
    if (open_.size() >= max_depth)
        throw ReadError{place, {}, fmt::format("nested deeper than {}", max_depth), {}};
    open_.push_back(&add(kind, place));
}

void Builder::close() {
    last_ = open_.back();
    open_.pop_back();
}

bool Builder::is_open(const Item* node) const {
    return std::find(open_.begin(), open_.end(), node) != open_.end();
}

void Builder::copy(const Item& node, SourcePlace place) {
    if (node.kind == Item::Kind::null) return null(place);
    if (node.kind == Item::Kind::word) return word(node.word, place);
    open(node.kind, place);
    for (const auto& member : node.members) {
        if (node.is_map()) key(member->name, place);
        copy(*member, place);
    }
    close();
}

void adopt(Item& parent, std::unique_ptr<Item> member) {
    member->parent = &parent;
    const auto known = parent.index.find(member->name);
    if (known == parent.index.end() || !known->second->is_map() || !member->is_map())
        return put(parent, std::move(member));
    Item& before = *known->second;
    for (auto& below : member->members) {
        if (below->repeated.line == 0) {
            adopt(before, std::move(below));
            continue;
        }
        below->parent = &before;
        before.members.push_back(std::move(below));
    }
}

void take_away(Item& from, const Item& what) {
    for (const auto& named : what.members) {
        const auto found = from.index.find(named->name);
        if (found == from.index.end()) continue;
        Item* node = found->second;
        if (!named->members.empty()) {
            take_away(*node, *named);
            continue;
        }
        from.index.erase(found);
        std::erase_if(from.members, [&](const auto& member) { return member.get() == node; });
    }
}

std::unique_ptr<Item> Builder::take() { return std::move(root_); }

}  // namespace sluice::import
