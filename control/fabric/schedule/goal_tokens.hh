// The words, numbers and signs of a text of GOAL, line by line and without its comments. Private to its
// reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "control/config/schema/source_place.hh"
#include "control/fabric/workload/text_lines.hh"

namespace sluice::fabric::goal {

struct Token {
    enum class Kind : std::uint8_t { end, word, number, sign };  // end: of the line, and of a statement
    Kind kind = Kind::end;
    std::string_view text;  // valid until the next line; of a number perhaps with a minus
    SourcePlace place;

    bool is(std::string_view wanted) const { return text == wanted; }  // the end has no text
};

class Tokens {
  public:
    explicit Tokens(TextLines::Source source) : lines_(std::move(source)) {}
    bool next_line();
    const Token& peek() const { return token_; }
    Token take();
    std::uint32_t line() const { return lines_.number(); }
    const TextLines::Wrong& wrong() const { return lines_.wrong(); }
    // Where a comment begins that does not end.
    std::optional<SourcePlace> open_comment() const { return comment_; }

  private:
    void skip_blanks();
    void scan();

    TextLines lines_;
    std::string_view rest_;  // of the line, behind the token
    Token token_;
    std::optional<SourcePlace> comment_;
};

// The text begins a comment: // or /*.
inline bool is_comment(std::string_view text) { return text.starts_with("//") || text.starts_with("/*"); }

}  // namespace sluice::fabric::goal
