#include "control/config/schema/toml_text.hh"
#include "control/config/text/controls.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sluice {
namespace {

constexpr TomlBounds usual_bounds;

std::string_view line_at(std::string_view text, unsigned line) {
    while (--line > 0 && !text.empty()) {
        const std::size_t end = text.find('\n');
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return text.substr(0, text.find('\n'));
}

std::string_view without_space(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const std::size_t first = std::min(line.find_first_not_of(" \t\r"), line.size());
    const std::size_t last = line.find_last_not_of(" \t\r");
    return last == line.npos ? std::string_view{} : line.substr(first, last + 1 - first);
}

// The first line that reads like `line`, or 0.
unsigned first_line_like(std::string_view text, unsigned line) {
    const std::string_view wanted = without_space(line_at(text, line));
    for (unsigned n = 1; n < line; ++n) {
        const std::size_t end = text.find('\n');
        if (without_space(text.substr(0, end)) == wanted) return n;
        if (end == text.npos) return 0;
        text.remove_prefix(end + 1);
    }
    return 0;
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

}  // namespace

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

std::optional<TomlExcess> excess_of(std::string_view text, const TomlBounds& bounds) {
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
            lists.size() > bounds.lists)
            return TomlExcess{line, "there are too many lists of tables", bounds.lists};
        if (c != ' ' && c != '\t') line_begins = c == '\n';
        if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
        if (c == '\n') ++line;
        if (dots >= bounds.key_parts)
            return TomlExcess{line, "a dotted key has too many parts", bounds.key_parts};
        if (all_dots > bounds.dots)
            return TomlExcess{line, "there are too many dots in keys and headers", bounds.dots};
        ++at;
    }
    return std::nullopt;
}

tl::expected<toml::table, ConfigError> parse_toml(std::string_view text, std::string_view file) {
    const auto failed = [&](ConfigError error) { return tl::unexpected<ConfigError>(std::move(error)); };
    if (const auto excess = excess_of(text, usual_bounds))
        return failed({std::string(file),
                       {excess->line, 1},
                       {},
                       excess->what,
                       fmt::format("at most {}", excess->limit),
                       "shorten it"});
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        return failed(syntax_error(error, text, file));
    }
}

}  // namespace sluice
