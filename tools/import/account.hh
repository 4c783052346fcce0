// What became of every value of a file, or of a configuration that is written for another switch: one line
// each, those that a person must know first, and a summary.
//
// No value of a file is forgotten: `close` finds those that no importer has spoken of.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/import/document.hh"

namespace sluice::import {

enum class Fate : unsigned char {
    wrong,     // cannot be read: nothing is written unless it is forced
    left_out,  // right there, and of no use here: the rest is written
    assumed,   // taken, or made, on an assumption that the line says
    nothing,   // Sluice has no counterpart
    taken,     // as it is
    unsaid,    // of an export: the other switch has nothing like it, or it cannot be written
    rounded,   // another value stands there
    said,      // as it is, in an export
};

struct FateHelp {
    std::string_view name, sentence;
};
// By Fate.
inline constexpr std::array known_fates{
    FateHelp{"wrong", "it cannot be read: nothing is written, or with --force the rest"},
    FateHelp{"left out",
             "it does not fit Sluice, or what it refers to is missing: the rest is written, with exit "
             "status 1"},
    FateHelp{"assumed", "it is taken, or made, on an assumption that the line says"},
    FateHelp{"no counterpart", "Sluice has nothing like it; the line says why"},
    FateHelp{"taken", "as it is"},
    FateHelp{"cannot be said",
             "of an export: the other switch has nothing like it; the line says what it does"},
    FateHelp{"rounded",
             "of an export: the nearest value there, its error in bytes and per cent, and what it does"},
    FateHelp{"said", "of an export: as it is"},
};

struct Line {
    Fate fate = Fate::taken;
    SourcePlace place;  // line 0: not of one place in the file
    std::string path;
    std::string what;
    std::string remedy{};
};

class Account {
  public:
    // These speak for the node and all below it. A reader may come to a node again, for another port: nothing
    // is told twice, and `taken` only where nothing else has been.
    void taken(const Item& node, std::string what) { add(Fate::taken, node, std::move(what)); }
    void assumed(const Item& node, std::string what) { add(Fate::assumed, node, std::move(what)); }
    void nothing(const Item& node, std::string why) { add(Fate::nothing, node, std::move(why)); }
    void wrong(const Item& node, std::string why, std::string remedy = {}) {
        add(Fate::wrong, node, std::move(why), std::move(remedy));
    }
    void left_out(const Item& node, std::string why, std::string remedy = {}) {
        add(Fate::left_out, node, std::move(why), std::move(remedy));
    }
    // The node alone, without those below it.
    void taken_alone(const Item& node, std::string what) { add_alone(Fate::taken, node, std::move(what)); }
    void assumed_alone(const Item& node, std::string what) {
        add_alone(Fate::assumed, node, std::move(what));
    }
    void wrong_alone(const Item& node, std::string why, std::string remedy) {
        add_alone(Fate::wrong, node, std::move(why), std::move(remedy));
    }
    // Lines of a file that are none of Sluice's business: the node and each one below it that nothing has
    // been told of, under the name of their section, by which the summary counts them.
    void nothing_in(const Item& node, const std::string& section, const std::string& why);
    // The file does not have this value.
    void assumed(std::string path, std::string what) {
        lines_.push_back({Fate::assumed, {}, std::move(path), std::move(what)});
    }

    // A line of an export, for a key of the configuration; the same line again is one.
    void tell(Fate fate, std::string path, std::string what);
    // The lines that `other` has not, by fate; for what a change makes of an export.
    void keep_new(const Account& other);
    void sort();  // by fate and place

    // Every word, null and empty list that no line is about has no counterpart; keys that come twice are
    // told.
    void close(const Item& root);

    std::size_t count(Fate fate) const;
    bool has(Fate fate) const { return count(fate) != 0; }
    const std::vector<Line>& lines() const { return lines_; }  // by fate and place after `close`
    // `FILE:LINE:COLUMN: PATH: FATE: WHAT`, all of them.
    std::string all(std::string_view file) const;
    // The lines of these fates. Those that differ in numbers only are one, with their count; lines taken are
    // a count alone.
    std::string summary(std::string_view file, std::initializer_list<Fate> fates) const;

  private:
    void add(Fate fate, const Item& node, std::string what, std::string remedy = {});
    void add_alone(Fate fate, const Item& node, std::string what, std::string remedy = {});
    void find_rest(const Item& node);

    std::vector<Line> lines_;
    std::set<std::pair<const Item*, std::string>> said_;
    std::set<std::pair<std::string, std::string>> told_;  // by path
};

// A whole number; nothing: `node` is none from `low` to `high`, and told as wrong.
std::optional<std::int64_t> read_number(Account& account, const Item& node, std::int64_t low,
                                        std::int64_t high);

}  // namespace sluice::import
