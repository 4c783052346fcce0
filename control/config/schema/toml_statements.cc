#include "control/config/schema/toml_statements.hh"

#include <algorithm>

#include "control/config/schema/toml_text.hh"

namespace sluice {
namespace {

class StatementReader {
  public:
    explicit StatementReader(std::string_view text) : text_(text) {}

    // False at the end, or where it gives up: then `gave_up`.
    bool next(TomlStatement& out) {
        if (!skip_to_statement()) return false;
        out = {};
        out.begin = line_begin_;
        return text_[at_] == '[' ? read_header(out) : read_key_value(out);
    }
    bool gave_up() const { return gave_up_; }

  private:
    bool give_up() {
        gave_up_ = true;
        return false;
    }
    bool is_at(std::string_view word) const { return text_.substr(at_).starts_with(word); }
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r", at_), text_.size()); }
    void skip_line() {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == text_.npos ? text_.size() : end + 1;
    }

    bool skip_to_statement() {
        while (at_ < text_.size()) {
            line_begin_ = at_;
            skip_blanks();
            if (at_ == text_.size()) return false;
            if (text_[at_] != '\n' && text_[at_] != '#') return true;
            skip_line();
        }
        return false;
    }

    // A dotted key, its parts without their quotes.
    bool read_path(std::string& path) {
        while (true) {
            skip_blanks();
            if (at_ == text_.size()) return give_up();
            std::size_t begin = at_, end;
            if (text_[at_] == '"' || text_[at_] == '\'') {
                at_ = end_of_toml_string(text_, at_);
                if (at_ > text_.size() || at_ - begin < 2) return give_up();
                end = at_ - 1;
                ++begin;
            } else {
                end = at_ = std::min(text_.find_first_of(" \t\r\n.=]#", at_), text_.size());
            }
            const std::string_view part = text_.substr(begin, end - begin);
            if (part.empty() || part.find('\\') != part.npos) return give_up();
            if (!path.empty()) path += '.';
            path += part;
            key_end_ = at_;
            skip_blanks();
            if (!is_at(".")) return true;
            ++at_;
        }
    }

    bool read_header(TomlStatement& out) {
        const bool list = is_at("[[");
        out.kind = list ? TomlStatement::Kind::list_item : TomlStatement::Kind::section;
        at_ += list ? 2 : 1;
        if (!read_path(out.path)) return false;
        section_ = out.section = out.path;
        skip_line();
        out.end = at_;
        return true;
    }

    bool read_key_value(TomlStatement& out) {
        out.kind = TomlStatement::Kind::key;
        out.section = out.path = section_;
        out.key_begin = at_;
        if (!read_path(out.path)) return false;
        out.key_end = key_end_;
        if (!is_at("=")) return give_up();
        ++at_;
        skip_blanks();
        out.value_begin = at_;
        if (!skip_value()) return give_up();
        out.value_end = at_;
        skip_line();
        out.end = at_;
        return true;
    }

    bool skip_value() {
        unsigned depth = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                at_ = std::min(end_of_toml_string(text_, at_), text_.size());
                if (depth == 0) return true;
            } else if (c == '[' || c == '{') {
                ++depth, ++at_;
            } else if (c == ']' || c == '}') {
                if (depth == 0) return false;
                ++at_;
                if (--depth == 0) return true;
            } else if (depth != 0 && c == '#') {
                skip_line();
            } else if (depth == 0) {  // a number, a boolean, a date
                at_ = std::min(text_.find_first_of("\n#", at_), text_.size());
                while (text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t' || text_[at_ - 1] == '\r') --at_;
                return true;
            } else {
                ++at_;
            }
        }
        return depth == 0;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    std::size_t key_end_ = 0;
    std::string section_;
    bool gave_up_ = false;
};

}  // namespace

std::optional<std::vector<TomlStatement>> toml_statements(std::string_view text) {
    std::vector<TomlStatement> statements;
    StatementReader reader(text);
    for (TomlStatement statement; reader.next(statement);) statements.push_back(statement);
    if (reader.gave_up()) return std::nullopt;
    return statements;
}

}  // namespace sluice
