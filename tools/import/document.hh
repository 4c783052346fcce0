// A file of another switch, read: maps, lists and words with their places, whatever syntax it came in. White
// space around a word or a part of a key is gone.
//
// Everything about the file is hostile: its length, depth and number of values are bounded before they cost
// memory, invalid UTF-8 is refused, and an alias of YAML counts as often as it is used. Words are kept as
// they are written: "on", 3 and "3" are text. Which of its nodes have been accounted for is kept here, too
// (account.hh).
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/config/schema/source_place.hh"

namespace sluice::import {

// What a text is, before anybody reads it: how it is written, and whose it is (formats.cc).
enum class Source : unsigned char { sonic, cumulus, eos, nxos };
enum class Syntax : unsigned char { json, yaml, commands, statements };

struct SourceHelp {
    std::string_view word, name;
};
// By Source: of the command line, and for a sentence.
inline constexpr std::array known_sources{SourceHelp{"sonic", "SONiC"},
                                          SourceHelp{"cumulus", "Cumulus Linux"},
                                          SourceHelp{"eos", "Arista EOS"}, SourceHelp{"nxos", "Cisco NX-OS"}};
inline const SourceHelp& help_of(Source source) { return known_sources[static_cast<unsigned>(source)]; }

// The formats that can be read, for a sentence.
inline constexpr std::string_view readable_formats =
    "SONiC's config_db.json, Cumulus Linux's configuration as nv config show -o yaml or -o commands "
    "prints it, or the running-config of Arista EOS or Cisco NX-OS";

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Without a byte order mark, and without what a terminal has around a text that was pasted from it: prompts,
// the command that printed it, the answers between commands. They are blanks then, so that places hold.
std::string without_terminal(std::string text);

Syntax syntax_of(std::string_view text);

// The maker of a text that is neither JSON nor NVUE's, by how its lines begin. Nothing: it is unknown.
struct Maker {
    std::string_view name;         // "Arista EOS"
    std::optional<Source> source;  // absent: it cannot be read
    SourcePlace place{};           // of the line that says most
    std::string line;
    std::string remedy{};  // where it cannot be read, and something else can be made of it
    // Another maker whose lines are there, too: the text is refused.
    std::string_view other{};
    SourcePlace other_place{};
    std::string other_line{};
};
std::optional<Maker> maker_of(std::string_view text);

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
    // The members that hold: not those whose key comes again.
    std::vector<const Item*> entries() const;

    std::map<std::string_view, Item*> index;  // of a map's members, by name
};

struct ReadError {
    SourcePlace place;
    std::string path;  // may be empty
    std::string wrong;
    std::string remedy;  // may be empty

    // Returns `file:line:column: path: wrong; do: remedy`.
    std::string text(std::string_view file) const;
};

using Document = tl::expected<std::unique_ptr<Item>, ReadError>;

// `text` is UTF-8.
Document read_json(const std::string& text);
Document read_yaml(const std::string& text);
// A file of `nv set` commands, as `nv config show -o commands` prints them: {"set": ...}, as the YAML of the
// same configuration, but that a value is a key without members.
Document read_commands(const std::string& text);
// Statements of EOS or NX-OS (statements.hh): each is a map of those of its body, in the order of the file;
// two of one name are two.
Document read_statements(const std::string& text);

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

// Texts cut up, without the white space that people and scripts leave around a value.
std::string_view trimmed(std::string_view text);
// In small letters, of ASCII.
std::string lower(std::string_view text);
// "3, 4" at ',': {"3", "4"}; parts that are empty are left out.
std::vector<std::string_view> split(std::string_view text, char at);
// "a|b|c" at the last '|': {"a|b", "c"}; without one: {text, ""}.
std::pair<std::string_view, std::string_view> split_last(std::string_view text, char at);
// "Ethernet0 | 3, 4" as "Ethernet0|3,4".
std::string tidy_key(std::string_view key);

// Where the byte at `offset` stands.
SourcePlace place_at(std::string_view text, std::size_t offset);
// The offset of the first byte that is not UTF-8, or npos.
std::size_t invalid_utf8(std::string_view text);

}  // namespace sluice::import
