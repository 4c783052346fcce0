#include "control/fabric/schedule/goal_tokens.hh"

#include <algorithm>

#include "control/config/schema/values.hh"

namespace sluice::fabric::goal {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) > 127; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

template <class Part>
std::size_t length_of(std::string_view text, Part is_part) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_part) - text.begin());
}

}  // namespace

bool Tokens::next_line() {
    if (!lines_.next()) return false;
    rest_ = lines_.text();
    scan();
    return true;
}

Token Tokens::take() {
    const Token token = token_;
    scan();
    return token;
}

// Spaces and comments; one of /* may have begun in a line before.
void Tokens::skip_blanks() {
    constexpr std::string_view blanks = " \t\v\f\r";
    while (true) {
        if (comment_) {
            const std::size_t end = rest_.find("*/");
            if (end != rest_.npos) comment_.reset();
            rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 2);
        }
        rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
        if (!is_comment(rest_)) return;
        if (rest_[1] == '/') return rest_.remove_prefix(rest_.size());
        comment_ = SourcePlace{line(), static_cast<unsigned>(rest_.data() - lines_.text().data() + 1)};
        rest_.remove_prefix(2);
    }
}

void Tokens::scan() {
    skip_blanks();
    token_ = {Token::Kind::end, {}, {line(), static_cast<unsigned>(lines_.text().size() - rest_.size() + 1)}};
    if (rest_.empty()) return;
    const bool is_negative = rest_[0] == '-';
    std::size_t length = length_of(rest_.substr(is_negative ? 1 : 0), is_digit) + (is_negative ? 1 : 0);
    token_.kind = Token::Kind::number;
    if (length == (is_negative ? 1 : 0)) {
        token_.kind = is_letter(rest_[0]) ? Token::Kind::word : Token::Kind::sign;
        length = token_.kind == Token::Kind::word
                     ? length_of(rest_, is_word_part)
                     : std::max<std::size_t>(length_of(rest_, is_beyond_ascii), 1);
    }
    token_.text = rest_.substr(0, length);
    rest_.remove_prefix(length);
}

}  // namespace sluice::fabric::goal
