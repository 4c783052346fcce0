// A record of a CSV as RFC 4180 has it: its values without their quotes, and where each stands.
//
// Readers of lines hand it one line after another; a value in quotes may go on in further lines. Blanks at
// the ends of a value do not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/source_place.hh"

namespace sluice::fabric {

// The one of comma, semicolon and tab that the header has most of; nothing: it has none of them.
std::optional<char> csv_separator(std::string_view header);

class CsvRecord {
  public:
    struct Value {
        std::string_view text;  // valid until the next split
        SourcePlace place;      // of its first character, or of its quote
    };

    void set_separator(char separator) { separator_ = separator; }
    // Takes a line. False: a quote in it is not closed, and the next line goes on with the record.
    bool split(std::string_view line, std::uint32_t number);
    std::size_t size() const { return cells_.size(); }
    Value operator[](std::size_t n) const;
    std::size_t bytes() const { return text_.size(); }  // of all values
    SourcePlace last_place() const { return cells_.back().place; }

  private:
    struct Cell {
        std::size_t begin, size;  // in text_
        SourcePlace place;
    };

    std::string_view current() const { return std::string_view(text_).substr(cells_.back().begin); }
    void begin_cell(SourcePlace place) { cells_.push_back({text_.size(), 0, place}); }
    void end_cell() { cells_.back().size = text_.size() - cells_.back().begin; }

    char separator_ = ',';
    std::string text_;
    std::vector<Cell> cells_;
    bool is_open_ = false;  // within quotes
};

}  // namespace sluice::fabric
