
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/route_changes.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace {

using StatementKind = TomlStatement::Kind;
using TomlStatements = std::vector<TomlStatement>;
using EditValues = std::map<std::string, ConfigValue, NaturalOrder>;  // by path
using TableEntries = std::map<std::string, std::int64_t, NaturalOrder>;

EditValues edit_values(const Config& config, bool whole) {
    EditValues values;
    for (ConfigValue& value : config_values(config, {}, whole)) {
        const std::string path = value.path;
        values.emplace(path, std::move(value));
    }
    return values;
}

bool same_value(const EditValues& a, const EditValues& b, const std::string& path) {
    const auto in_a = a.find(path), in_b = b.find(path);
    return in_a != a.end() && in_b != b.end() && in_a->second.value == in_b->second.value;
}

TableEntries table_entries(std::string_view text) {
    const auto entries = toml_table_entries(text);
    return {entries.begin(), entries.end()};
}

// The entries that a file names or needs, with the values of `all`.
std::string table_text(std::string_view named, std::string_view needed, std::string_view all) {
    const TableEntries values = table_entries(all);
    TableEntries wanted = table_entries(named);
    wanted.merge(table_entries(needed));
    std::string out;
    for (const auto& [key, old] : wanted)
        if (const auto value = values.find(key); value != values.end())
            append_item(out, ", ", fmt::format("\"{}\" = {}", key, value->second));
    return fmt::format("{{{}}}", out);
}

// Replacements of pieces of a text, made together.
class TextEdit {
  public:
    explicit TextEdit(std::string_view text) : text_(text) {}
    void replace(std::size_t begin, std::size_t end, std::string with) {
        pieces_.push_back({begin, end, false, std::move(with)});
    }
    // Lines at one place keep the order of the calls; sections come last.
    void insert(std::size_t at, std::string lines) { replace(at, at, std::move(lines)); }
    void insert_section(std::size_t at, std::string lines) {
        pieces_.push_back({at, at, true, std::move(lines)});
    }
    std::string result() {
        std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
            return std::pair(a.begin, a.is_section) < std::pair(b.begin, b.is_section);
        });
        std::string out;
        std::size_t at = 0;
        for (const Piece& piece : pieces_) {
            out += text_.substr(at, piece.begin - at);
            if (piece.begin == piece.end && !out.empty() && out.back() != '\n') out += '\n';
            out += piece.with;
            at = piece.end;
        }
        return out += text_.substr(at);
    }

  private:
    struct Piece {
        std::size_t begin, end;
        bool is_section;
        std::string with;
    };
    std::string_view text_;
    std::vector<Piece> pieces_;
};

// The configuration of the present text.
struct Present {
    Config config;
    TomlStatements statements;
};

std::optional<Present> present(std::string_view text) {
    auto config = parse_config(text, "");
    auto statements = toml_statements(text);
    if (!config || !statements) return std::nullopt;
    return Present{std::move(*config), std::move(*statements)};
}

// Replaces each value in the text that differs from `wanted`.
std::optional<std::string> with_stated_values(std::string_view text, const Config& wanted) {
    const auto now = present(text);
    if (!now) return std::nullopt;
    const EditValues before = edit_values(now->config, true), after = edit_values(wanted, true);
    const EditValues needed = edit_values(wanted, false);
    TextEdit edit(text);
    for (const TomlStatement& statement : now->statements) {
        if (statement.kind != StatementKind::key) continue;
        const std::string path = usual_path(statement.path);
        const std::string parent = path.substr(0, std::min(path.rfind('.'), path.size()));
        if (const auto value = after.find(path); value != after.end()) {
            if (same_value(before, after, path)) continue;
            std::string with = value->second.value;
            if (with.starts_with('{')) {
                const auto need = needed.find(path);
                with = table_text(
                    text.substr(statement.value_begin, statement.value_end - statement.value_begin),
                    need == needed.end() ? "{}" : need->second.value, with);
            }
            edit.replace(statement.value_begin, statement.value_end, std::move(with));
        } else if (const auto table = after.find(parent);
                   table != after.end() && !same_value(before, after, parent)) {
            const TableEntries entries = table_entries(table->second.value);
            const auto entry = entries.find(path.substr(parent.size() + 1));
            if (entry != entries.end())
                edit.replace(statement.value_begin, statement.value_end, std::to_string(entry->second));
        }
    }
    return edit.result();
}

std::size_t parts_in_common(std::string_view a, std::string_view b) {
    std::size_t parts = 0;
    for (std::size_t n = 0; n <= std::min(a.size(), b.size()); ++n) {
        const bool end_a = n == a.size() || a[n] == '.', end_b = n == b.size() || b[n] == '.';
        if (end_a && end_b) ++parts;
        if (n == a.size() || n == b.size() || a[n] != b[n]) break;
    }
    return parts;
}

// After the comment that the text begins with, if a blank line follows it, else at its beginning.
std::size_t after_first_comment(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1) + 1;
    return at < text.size() && text[at] == '\n' ? at + 1 : 0;
}

// Adds keys to their section, or a new section behind the one whose path has most parts in common.
void add_to_section(TextEdit& edit, std::string_view text, const TomlStatements& statements,
                    const std::string& path, const std::string& header,
                    const std::vector<const ConfigValue*>& values) {
    std::size_t last_of_section = 0, behind = text.size(), most_common = 1;
    std::string prefix;  // of a dotted key that stands under another header
    bool found = false;
    for (const TomlStatement& statement : statements) {
        const bool is_key = statement.kind == StatementKind::key;
        const std::string of =
            is_key ? statement.path.substr(0, std::min(statement.path.rfind('.'), statement.path.size()))
                   : statement.path;
        if (statement.kind == StatementKind::list_item ||
            (is_key && path.empty() && !statement.section.empty()))
            continue;
        const bool here = path.empty() ? is_key && statement.path.find('.') == std::string::npos
                                       : usual_path(of + ".x") == path + ".x";
        if (here) {
            const std::string_view key =
                text.substr(statement.key_begin, statement.key_end - statement.key_begin);
            prefix = is_key && statement.section != of ? key.substr(0, key.rfind('.') + 1) : "";
            last_of_section = statement.end;
            found = true;
        }
        const std::size_t common = parts_in_common(statement.section, path);
        if (!statement.section.empty() && common > most_common) behind = statement.end, most_common = common;
        if (!statement.section.empty() && common == most_common && common > 1) behind = statement.end;
    }
    std::string lines;
    for (const ConfigValue* value : values)
        lines += fmt::format("{}{} = {}\n", prefix, value->key(), value->value);
    if (found)
        edit.insert(last_of_section, lines);
    else if (path.empty())
        edit.insert(after_first_comment(text), lines + "\n");
    else
        edit.insert_section(behind, fmt::format("\n[{}]\n{}", header, lines));
}

// Adds the values of `wanted` that the text lacks: those that are bases of others, or all.
std::optional<std::string> with_missing_values(std::string_view text, const Config& wanted, bool bases_only) {
    const auto now = present(text);
    if (!now) return std::nullopt;
    const EditValues before = edit_values(now->config, true), after = edit_values(wanted, true);
    std::map<std::string, std::vector<const ConfigValue*>, NaturalOrder> missing;  // by path of the section
    const EditValues needed = edit_values(wanted, false);
    for (const auto& [path, value] : needed) {
        const bool starts_from_another = path.starts_with("port.") ||
                                         (path.starts_with("host.") && !path.starts_with("host.default.")) ||
                                         (path.starts_with("map.") && !path.starts_with("map.default."));
        if ((bases_only && starts_from_another) || same_value(before, after, path)) continue;
        missing[path.substr(0, path.rfind('.') == path.npos ? 0 : path.rfind('.'))].push_back(&value);
    }
    TextEdit edit(text);
    for (const auto& [path, values] : missing)
        add_to_section(edit, text, now->statements, path, values.front()->section, values);
    return edit.result();
}

// Routes and neighbors, each a block of lines under its header.
class ListEdit {
  public:
    ListEdit(std::string_view text, const TomlStatements& statements) : edit_(text), text_(text) {
        for (std::size_t n = 0; n < statements.size(); ++n) {
            const TomlStatement& header = statements[n];
            if (header.kind != StatementKind::list_item) continue;
            std::size_t end = header.end;
            for (std::size_t next = n + 1;
                 next < statements.size() && statements[next].kind == StatementKind::key; ++next)
                end = statements[next].end;
            note(header, {header.begin, end});
        }
    }
    void change(const RouteChanges::Route& route) {
        Config one;
        if (route.now) add(one, *route.now);
        change(routes_, print_prefix(route.prefix), to_toml(one), last_route_);
    }
    void change(const RouteChanges::Neighbor& neighbor) {
        Config one;
        if (neighbor.now) add(one, *neighbor.now);
        change(neighbors_, name_of(neighbor.at), to_toml(one), last_neighbor_);
    }
    std::string result() { return edit_.result(); }

  private:
    struct Block {
        std::size_t begin, end;
    };
    using Blocks = std::map<std::string, Block>;

    void note(const TomlStatement& header, const Block& block) {
        if (header.path == "event") return;
        const auto config = parse_config(text_.substr(block.begin, block.end - block.begin), "");
        if (!config) return;
        for (const RouteConfig& route : *config->routes)
            routes_[print_prefix(route.prefix)] = block, last_route_ = block.end;
        for (const NeighborConfig& neighbor : *config->neighbors)
            neighbors_[name_of(neighbor.key())] = block, last_neighbor_ = block.end;
    }
    static std::string name_of(const NeighborKey& key) { return print_next_hop(key.address, key.port); }
    void change(const Blocks& blocks, const std::string& name, const std::string& lines,
                std::optional<std::size_t> last) {
        const auto found = blocks.find(name);
        if (found == blocks.end()) return edit_.insert(last.value_or(text_.size()), "\n" + lines);
        auto [begin, end] = found->second;
        if (lines.empty() && text_.substr(0, begin).ends_with("\n\n")) --begin;
        edit_.replace(begin, end, lines);
    }

    TextEdit edit_;
    std::string_view text_;
    Blocks routes_, neighbors_;
    std::optional<std::size_t> last_route_, last_neighbor_;
};

std::optional<std::string> with_lists_of(std::string_view text, const Config& wanted) {
    const auto now = present(text);
    if (!now) return std::nullopt;
    const RouteChanges changes = route_changes(now->config, wanted);
    if (changes.routes.empty() && changes.neighbors.empty()) return std::string(text);
    ListEdit edit(text, now->statements);
    for (const RouteChanges::Neighbor& neighbor : changes.neighbors) edit.change(neighbor);
    for (const RouteChanges::Route& route : changes.routes) edit.change(route);
    return edit.result();
}

}  // namespace

std::optional<std::string> edited(std::string_view text, const Config& wanted) {
    auto out = with_stated_values(text, wanted);
    if (out) out = with_missing_values(*out, wanted, true);
    if (out) out = with_missing_values(*out, wanted, false);
    if (out) out = with_lists_of(*out, wanted);
    if (!out) return std::nullopt;
    const auto read = parse_config(*out, "");
    return read && *read == wanted ? out : std::nullopt;
}

}  // namespace sluice
