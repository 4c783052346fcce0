// A file of another switch, read: maps, lists and words with their places, whatever syntax it came in. White
// space around a word or a part of a key is gone.
//
// Everything about the file is hostile: its length, depth and number of values are bounded before they cost
// memory, invalid UTF-8 is refused, and an alias of YAML counts as often as it is used. Words are kept as
// they are written: "on", 3 and "3" are text. Which of its nodes have been accounted for is kept here, too
// (account.hh).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/source_place.hh"

namespace sluice::import {

constexpr std::size_t max_file_bytes = 16U << 20;
constexpr std::size_t max_nodes = 500'000;  // of a document, aliases counted as often as they are used
constexpr unsigned max_depth = 32;

struct Item {
    enum class Kind : unsigned char { null, word, list, map };

    Kind kind = Kind::null;
    std::string name;  // in its map; its index in a list
    std::string word;
    SourcePlace place;     // of its key, where it has one
    SourcePlace repeated;  // line 0, or where its key comes once more: the later one holds
    const Item* parent = nullptr;
    std::vector<std::unique_ptr<Item>> members;  // in the order of the file
    mutable bool accounted = false;

    bool is_map() const { return kind == Kind::map; }
    bool is_word() const { return kind == Kind::word; }
    // Null when there is none.
    const Item* find(std::string_view key) const;
    std::string path() const;  // "PORT.Ethernet0.speed"

    std::map<std::string_view, Item*> index;  // of a map's members, by name
};

struct ReadError {
    SourcePlace place;
    std::string path;  // may be empty
    std::string wrong;
    std::string remedy;  // may be empty

    // One line: `file:line:column: path: wrong; do: remedy`.
    std::string text(std::string_view file) const;
};

using Document = tl::expected<std::unique_ptr<Item>, ReadError>;

Document read_json(const std::string& text);
Document read_yaml(const std::string& text);

// Makes a document from what a parser meets, in the order of the file. Throws ReadError beyond a bound.
class Builder {
  public:
    void key(std::string name, SourcePlace place);
    void word(std::string text, SourcePlace place);
    void null(SourcePlace place);
    void open(Item::Kind kind, SourcePlace place);
    void close();
    // A copy of a subtree, at this place: an alias.
    void copy(const Item& node, SourcePlace place);
    // The value that was added or opened last.
    const Item* last() const { return last_; }
    bool is_open(const Item* node) const;
    bool wants_key() const;
    std::unique_ptr<Item> take();

  private:
    Item& add(Item::Kind kind, SourcePlace place);

    std::unique_ptr<Item> root_;
    Item* last_ = nullptr;
    std::vector<Item*> open_;
    std::string key_;
    SourcePlace key_place_;
    bool has_key_ = false;
    std::size_t nodes_ = 0;
};

// `member` becomes one of `parent`, a map. Of two maps of one name the members come together; else the later
// one holds, and the earlier is marked as repeated.
void adopt(Item& parent, std::unique_ptr<Item> member);
// Takes away all that `what` names: its members without anything below, at their places below `from`.
void take_away(Item& from, const Item& what);

// Where the byte at `offset` stands.
SourcePlace place_at(std::string_view text, std::size_t offset);
// The offset of the first byte that is no UTF-8, or npos.
std::size_t invalid_utf8(std::string_view text);

}  // namespace sluice::import
