#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/controls.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sluice {
namespace {

// Bounds that toml++ lacks: "a.a.a.a..." overflows its stack, and it compares each table that a dot makes,
// and each list of tables, with all others. The largest switch, 256 ports with every queue and group named,
// has a third of these dots.
constexpr unsigned max_key_parts = 16;  // of a dotted key ("a.b.c" has 3)
constexpr unsigned max_dots = 32'768;   // outside strings and comments
constexpr unsigned max_lists = 64;      // different [[headers]]

std::string_view without_space(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const std::size_t first = std::min(line.find_first_not_of(" \t\r"), line.size());
    const std::size_t last = line.find_last_not_of(" \t\r");
    return last == line.npos ? std::string_view{} : line.substr(first, last + 1 - first);
}

unsigned first_line_like(std::string_view text, unsigned line) {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at <= text.size() && lines.size() < line;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(without_space(text.substr(at, end - at)));
        at = end + 1;
    }
    if (lines.empty()) return 0;
    const auto found = std::find(lines.begin(), lines.end(), lines.back());
    return found + 1 == lines.end() ? 0 : static_cast<unsigned>(found - lines.begin()) + 1;
}

ConfigError syntax_error(const toml::parse_error& error, std::string_view text, std::string_view file) {
    ConfigError out;
    out.file = file;
    out.place = {error.source().begin.line, error.source().begin.column};
    out.wrong = without_controls(error.description(), ' ');
    out.remedy = "correct the TOML at this place";
    if (out.wrong.find("cannot redefine existing") == out.wrong.npos) return out;
    const unsigned first = first_line_like(text, out.place.line);
    out.remedy = "give each key and section once: rename this one or merge the two";
    if (first != 0)
        out.remedy = fmt::format("it is on line {} already: rename this one or merge the two", first);
    return out;
}

// End of the string that starts with a quote at `at`: after its closing quote, or where it breaks off.
std::size_t end_of_toml_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
    const bool multi_line = text.substr(at, 3) == triple;
    at += multi_line ? 3 : 1;
    while (at < text.size()) {
        if (quote == '"' && text[at] == '\\') {
            at += 2;
        } else if (multi_line && text.substr(at, 3) == triple) {
            at += 3;
            // Up to two quotes may stand before the closing three.
            for (int extra = 0; extra < 2 && at < text.size() && text[at] == quote; ++extra) ++at;
            return at;
        } else if (!multi_line && (text[at] == quote || text[at] == '\n')) {
            return at + 1;
        } else {
            ++at;
        }
    }
    return text.size();
}

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

std::optional<TomlExcess> excess_of(std::string_view text) {
    unsigned line = 1, dots = 0, all_dots = 0;
    bool line_begins = true;
    std::set<std::string_view> lists;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            const std::size_t end = std::min(end_of_toml_string(text, at), text.size());
            line += static_cast<unsigned>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                     text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
            at = end;
            continue;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '.') ++dots, ++all_dots;
        if (line_begins && text.substr(at, 2) == "[[" &&
            lists.insert(text.substr(at, text.find_first_of("]\n", at) - at)).second &&
            lists.size() > max_lists)
            return TomlExcess{line, "there are too many lists of tables", max_lists};
        if (c != ' ' && c != '\t') line_begins = c == '\n';
        if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
        if (c == '\n') ++line;
        if (dots >= max_key_parts) return TomlExcess{line, "a dotted key has too many parts", max_key_parts};
        if (all_dots > max_dots)
            return TomlExcess{line, "there are too many dots in keys and headers", max_dots};
        ++at;
    }
    return std::nullopt;
}

tl::expected<toml::table, ConfigError> parse_toml(std::string_view text, std::string_view file) {
    if (const auto excess = excess_of(text))
        return tl::unexpected(ConfigError{std::string(file),
                                          {excess->line, 1},
                                          {},
                                          excess->what,
                                          fmt::format("at most {}", excess->limit),
                                          "shorten it"});
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        return tl::unexpected(syntax_error(error, text, file));
    }
}

std::optional<toml::table> parse_toml_value(std::string_view text, bool may_be_text) {
    auto document = parse_toml(fmt::format("value = {}", text), "value");
    if (document && document->size() == 1) return std::move(*document);
    return may_be_text ? parse_toml_value(toml_string(text), false) : std::nullopt;
}

std::vector<std::pair<std::string, std::int64_t>> toml_table_entries(std::string_view text) {
    std::vector<std::pair<std::string, std::int64_t>> entries;
    if (!text.starts_with('{')) return entries;
    const auto document = parse_toml_value(text, false);
    const toml::table* table = document ? document->get("value")->as_table() : nullptr;
    if (table == nullptr) return entries;
    for (const auto& [key, node] : *table)
        if (const auto* number = node.as_integer()) entries.emplace_back(key.str(), number->get());
    return entries;
}

std::optional<std::vector<TomlStatement>> toml_statements(std::string_view text) {
    std::vector<TomlStatement> statements;
    StatementReader reader(text);
    for (TomlStatement statement; reader.next(statement);) statements.push_back(statement);
    if (reader.gave_up()) return std::nullopt;
    return statements;
}

}  // namespace sluice
