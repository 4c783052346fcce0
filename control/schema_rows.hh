// The rows of the schema: a `Row<Struct>` knows one key or section of a struct and everything that is done
// with it.
//
// Makers, from the inside out: `key` (a member and its type), `group` (a section whose keys lie in the same
// struct), `nested` (a section that is a struct), `indexed` ([queue.N]: an array of structs), `named`
// ([port.NAME]: a map of structs, each started from a base), `list` ([[route]]: a vector of structs).
// Sections nest freely. Private to the schema.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "control/schema.hh"
#include "control/schema_types.hh"

namespace sluice::schema {

template <class Struct>
struct Row {
    KeyInfo info;  // section left empty
    bool required = false;
    bool section = false;
    std::function<bool(const toml::node&, Context&, Struct&)> read;
    // Of a plain key.
    std::function<std::string(const Struct& value, const Struct* base)> print;
    std::function<bool(const Struct&, const Struct&)> same;
    // Of a section: appends what differs from `base` under `header`; describes its keys.
    std::function<void(const Struct& value, const Struct& base, const std::string& header, std::string& out)>
        save;
    std::function<void(const std::string& header, std::vector<KeyInfo>&)> describe;
};

template <class Struct>
using Rows = std::vector<Row<Struct>>;

// Messages that are the same for every struct.
const toml::table* want_table(const toml::node& node, Context& context, std::string_view example);
bool refuse_unknown_key(const toml::key& key, const std::vector<std::string>& known, Context& context);
bool refuse_missing_key(const toml::table& table, const std::string& name, const std::string& example,
                        Context& context);
bool refuse_count(const toml::node& node, std::size_t count, std::size_t limit, Context& context);
bool refuse_name(const toml::key& key, Context& context);
bool refuse_index(const toml::key& key, std::size_t size, Context& context);

// Reads `table` into `out`; keys named in `elsewhere` are another reader's.
template <class Struct>
bool read_rows(const toml::table& table, const Rows<Struct>& rows, Context& context, Struct& out,
               std::span<const std::string_view> elsewhere = {}) {
    const auto is_elsewhere = [&](std::string_view name) {
        return std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end();
    };
    bool good = true;
    for (const Row<Struct>& row : rows) {
        if (is_elsewhere(row.info.name)) continue;
        if (const toml::node* node = table.get(row.info.name); node != nullptr) {
            const Context::Inside inside(context, row.info.name);
            good &= row.read(*node, context, out);
            if (!row.section) context.note_place(*node);
        } else if (row.required) {
            good = refuse_missing_key(table, row.info.name, row.info.fallback, context);
        }
    }
    for (const auto& [key, node] : table) {
        const auto is_key = [&, name = key.str()](const Row<Struct>& row) { return row.info.name == name; };
        if (is_elsewhere(key.str()) || std::any_of(rows.begin(), rows.end(), is_key)) continue;
        std::vector<std::string> known;
        for (const Row<Struct>& row : rows) known.push_back(row.info.name);
        good = refuse_unknown_key(key, known, context);
    }
    return good;
}

// Appends the keys of `value` that differ from `base`, under `[header]`, then its sections. With `always` the
// header is there even if nothing differs; `brackets` are "[" "]" or "[[" "]]".
template <class Struct>
void save_rows(const Rows<Struct>& rows, const Struct& value, const Struct& base, const std::string& header,
               std::string& out, bool always = false, std::string_view open = "[",
               std::string_view close = "]") {
    std::string keys;
    for (const Row<Struct>& row : rows)
        if (!row.section && (row.required || !row.same(value, base)))
            keys += fmt::format("{} = {}\n", row.info.name, row.print(value, &base));
    if (!header.empty() && (always || !keys.empty()))
        out += fmt::format("{}{}{}{}\n", out.empty() ? "" : "\n", open, header, close);
    out += keys;
    for (const Row<Struct>& row : rows)
        if (row.section)
            row.save(value, base, header.empty() ? row.info.name : header + "." + row.info.name, out);
}

template <class Struct>
void describe_rows(const Rows<Struct>& rows, const std::string& header, std::vector<KeyInfo>& out) {
    for (const Row<Struct>& row : rows) {
        if (row.section) continue;
        out.push_back(row.info);
        out.back().section = header;
    }
    for (const Row<Struct>& row : rows)
        if (row.section) row.describe(header.empty() ? row.info.name : header + "." + row.info.name, out);
}

// A key: `member` read and printed as `type`. `fallback` is for defaults that are not a constant; the rest is
// printed from a default-constructed struct.
template <class Struct, class Base, class T>
Row<Struct> key(std::string name, T Base::*member, Type<T> type, std::string sentence,
                std::string fallback = {}) {
    Row<Struct> row;
    if (fallback.empty()) fallback = type.print(Struct{}.*member, nullptr);
    row.info = {{}, std::move(name), type.name, type.allowed, std::move(fallback), std::move(sentence)};
    row.read = [member, read = type.read](const toml::node& node, Context& context, Struct& out) {
        return read(node, context, out.*member);
    };
    row.print = [member, print = type.print](const Struct& value, const Struct* base) {
        return print(value.*member, base != nullptr ? &(base->*member) : nullptr);
    };
    row.same = [member](const Struct& a, const Struct& b) { return a.*member == b.*member; };
    return row;
}

// A key that takes effect only when sluiced starts.
template <class Struct>
Row<Struct> at_start(Row<Struct> row) {
    row.info.restart = true;
    return row;
}

// A key of a member that is a struct, under a name of its own: `green_` and `min` of `green`.
template <class Struct, class Child>
Row<Struct> prefixed(const std::string& prefix, Child Struct::*member, Row<Child> child) {
    Row<Struct> row;
    row.info = child.info;
    row.info.name = prefix + row.info.name;
    row.read = [member, read = child.read](const toml::node& node, Context& context, Struct& out) {
        return read(node, context, out.*member);
    };
    row.print = [member, print = child.print](const Struct& value, const Struct* base) {
        return print(value.*member, base != nullptr ? &(base->*member) : nullptr);
    };
    row.same = [member, same = child.same](const Struct& a, const Struct& b) {
        return same(a.*member, b.*member);
    };
    return row;
}

// A key that must be given.
template <class Struct, class T>
Row<Struct> required_key(std::string name, T Struct::*member, Type<T> type, std::string sentence) {
    Row<Struct> row = key<Struct>(std::move(name), member, type, std::move(sentence), type.example);
    row.required = true;
    return row;
}

template <class Struct>
Row<Struct> section(std::string name, std::string sentence) {
    Row<Struct> row;
    row.info.name = std::move(name);
    row.info.sentence = std::move(sentence);
    row.section = true;
    return row;
}

// [NAME]: keys of the same struct, gathered under a heading.
template <class Struct>
Row<Struct> group(std::string name, Rows<Struct> rows, std::string sentence) {
    Row<Struct> row = section<Struct>(name, std::move(sentence));
    row.read = [rows](const toml::node& node, Context& context, Struct& out) {
        const toml::table* table = want_table(node, context, {});
        return table != nullptr && read_rows(*table, rows, context, out);
    };
    row.save = [rows](const Struct& value, const Struct& base, const std::string& header, std::string& out) {
        save_rows(rows, value, base, header, out);
    };
    row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
        describe_rows(rows, header, out);
    };
    return row;
}

// [NAME]: a struct of its own.
template <class Struct, class Child>
Row<Struct> nested(std::string name, Child Struct::*member, Rows<Child> rows, std::string sentence) {
    Row<Struct> row = section<Struct>(std::move(name), std::move(sentence));
    row.read = [member, rows](const toml::node& node, Context& context, Struct& out) {
        const toml::table* table = want_table(node, context, {});
        return table != nullptr && read_rows(*table, rows, context, out.*member);
    };
    row.save = [member, rows](const Struct& value, const Struct& base, const std::string& header,
                              std::string& out) {
        save_rows(rows, value.*member, base.*member, header, out);
    };
    row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
        describe_rows(rows, header, out);
    };
    return row;
}

// [NAME.N]: one struct of an array, N from 0.
template <class Struct, class Child, std::size_t size>
Row<Struct> indexed(std::string name, std::array<Child, size> Struct::*member, Rows<Child> rows,
                    std::string sentence) {
    Row<Struct> row = section<Struct>(name, std::move(sentence));
    row.read = [member, rows](const toml::node& node, Context& context, Struct& out) {
        const toml::table* table = want_table(node, context, ".3");
        if (table == nullptr) return false;
        bool good = true;
        for (const auto& [index_key, child] : *table) {
            const Context::Inside inside(context, index_key.str());
            const auto index = parse_integer(index_key.str());
            if (!index || *index >= size || fmt::format("{}", *index) != index_key.str()) {
                good = refuse_index(index_key, size, context);
                continue;
            }
            const toml::table* keys = want_table(child, context, {});
            good &= keys != nullptr && read_rows(*keys, rows, context, (out.*member)[*index]);
        }
        return good;
    };
    row.save = [member, rows](const Struct& value, const Struct& base, const std::string& header,
                              std::string& out) {
        for (std::size_t i = 0; i < size; ++i)
            save_rows(rows, (value.*member)[i], (base.*member)[i], fmt::format("{}.{}", header, i), out);
    };
    row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
        describe_rows(rows, header + ".N", out);
    };
    return row;
}

// What a named struct starts from when it is read, and what its text is the difference to when it is saved.
template <class Struct, class Child>
using BaseOf = std::function<Child(const Struct&, const std::string& name, bool saving)>;

// [NAME.CHILD]: a map of structs. The child "default" is read and saved first: others may be based on it.
template <class Struct, class Map>
Row<Struct> named(std::string name, Map Struct::*member, Rows<typename Map::mapped_type> rows,
                  BaseOf<Struct, typename Map::mapped_type> base_of, std::size_t limit,
                  std::string sentence) {
    using Child = typename Map::mapped_type;
    Row<Struct> row = section<Struct>(name, std::move(sentence));
    const auto read_child = [member, rows, base_of](const toml::key& child_key, const toml::node& node,
                                                    Context& context, Struct& out) {
        const Context::Inside inside(context, child_key.str());
        if (!valid_name(child_key.str())) return refuse_name(child_key, context);
        const toml::table* table = want_table(node, context, {});
        if (table == nullptr) return false;
        const std::string child_name(child_key.str());
        Child child = base_of(out, child_name, false);
        if constexpr (requires { child.place; }) child.place = place_of(node.source());
        if (!read_rows(*table, rows, context, child)) return false;
        (out.*member)[child_name] = std::move(child);
        return true;
    };
    row.read = [read_child, limit](const toml::node& node, Context& context, Struct& out) {
        const toml::table* table = want_table(node, context, ".NAME");
        if (table == nullptr) return false;
        if (table->size() > limit) return refuse_count(node, table->size(), limit, context);
        bool good = true;
        for (const bool first : {true, false})
            for (const auto& [child_key, child] : *table)
                if ((child_key.str() == "default") == first)
                    good &= read_child(child_key, child, context, out);
        return good;
    };
    row.save = [member, rows, base_of](const Struct& value, const Struct&, const std::string& header,
                                       std::string& out) {
        static const Struct fresh;  // what it has already needs no heading
        for (const bool first : {true, false})
            for (const auto& [child_name, child] : value.*member)
                if ((child_name == "default") == first)
                    save_rows(rows, child, base_of(value, child_name, true),
                              header + "." + toml_key(child_name), out,
                              !(fresh.*member).contains(child_name));
    };
    row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
        describe_rows(rows, header + ".NAME", out);
    };
    return row;
}

template <class Child>
void append(std::vector<Child>& list, Child child) {
    list.push_back(std::move(child));
}
template <class Set>
void append(CopyOnWrite<Set>& set, typename Set::value_type child) {
    Set& into = set.change();
    into.insert(into.end(), std::move(child));
}
template <class Child>
const std::vector<Child>& children(const std::vector<Child>& list) {
    return list;
}
template <class Set>
const Set& children(const CopyOnWrite<Set>& set) {
    return *set;
}

// [[NAME]]: a vector of structs, or a shared set of them.
template <class Struct, class Children, class Child>
Row<Struct> list(std::string name, Children Struct::*member, Rows<Child> rows, std::size_t limit,
                 std::string sentence) {
    Row<Struct> row = section<Struct>(name, std::move(sentence));
    row.read = [member, rows, limit](const toml::node& node, Context& context, Struct& out) {
        const toml::array* array = node.as_array();
        if (array == nullptr) {
            context.refuse(node.source(), show(node) + " is not a list of tables",
                           fmt::format("[[{}]]", context.path()),
                           fmt::format("write each under a heading [[{}]]", context.path()));
            return false;
        }
        if (array->size() > limit) return refuse_count(node, array->size(), limit, context);
        bool good = true;
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Context::Inside inside(context, i);
            const toml::table* table = want_table((*array)[i], context, {});
            Child child;
            child.place = place_of((*array)[i].source());
            if (table == nullptr || !read_rows(*table, rows, context, child))
                good = false;
            else
                append(out.*member, std::move(child));
        }
        return good;
    };
    row.save = [member, rows](const Struct& value, const Struct&, const std::string& header,
                              std::string& out) {
        static const Child base;
        for (const Child& child : children(value.*member))
            save_rows(rows, child, base, header, out, true, "[[", "]]");
    };
    row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
        describe_rows(rows, header + "[]", out);
    };
    return row;
}

// The whole file.
const Rows<Config>& config_rows();

}  // namespace sluice::schema
