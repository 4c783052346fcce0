#include "control/config/schema/schema_rows.hh"

#include <memory>
#include <numeric>
#include <utility>

namespace sluice {

namespace {

// Letters to insert, delete, change or swap with the next to come from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
    constexpr std::size_t longest = 40;  // longer than every key and name: nothing is near
    if (name.size() > longest) return {};
    std::string nearest;
    std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance >= best || distance >= candidate.size()) continue;
        best = distance;
        nearest = candidate;
    }
    return nearest;
}

namespace schema {
namespace {

bool refuse_unknown_key(const toml::key& key, const AnyRows& rows, Context& context) {
    if (context.full()) return context.refuse(key.source(), {}, {}, {}), false;
    const Context::Inside inside(context, key.str());
    std::vector<std::string> known;
    for (const Row& row : rows) known.push_back(row.info.name);
    const std::string near = nearest_name(key.str(), known);
    std::string allowed;
    for (const std::string& name : known) append_item(allowed, ", ", name);
    context.refuse(key.source(), in_quotes(key.str()) + " is not a known key", allowed,
                   near.empty() ? "correct its name or leave it out" : fmt::format("write {}", near));
    return false;
}

bool refuse_missing_key(const toml::table& table, const std::string& name, const std::string& example,
                        Context& context) {
    context.refuse(table.source(), fmt::format("the key {} is missing", in_quotes(name)), {},
                   fmt::format("add for example {} = {}", name, example));
    return false;
}

bool refuse_count(const toml::node& node, std::size_t count, std::size_t limit, Context& context) {
    context.refuse(node.source(), fmt::format("there are {} of them", count),
                   fmt::format("at most {}", limit), fmt::format("leave {} out", count - limit));
    return false;
}

bool refuse_name(const toml::key& key, Context& context) {
    context.refuse(key.source(), in_quotes(key.str()) + " is not a name", std::string(name_rule),
                   "rename it");
    return false;
}

bool refuse_index(const toml::key& key, std::size_t size, Context& context) {
    context.refuse(key.source(), in_quotes(key.str()) + " is not an index", fmt::format("0 to {}", size - 1),
                   "correct the number");
    return false;
}

std::size_t bytes_between(const void* object, const void* member) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(member) -
                                    static_cast<const std::byte*>(object));
}

void* at(void* object, std::size_t offset) { return static_cast<std::byte*>(object) + offset; }
const void* at(const void* object, std::size_t offset) {
    return object == nullptr ? nullptr : static_cast<const std::byte*>(object) + offset;
}

}  // namespace

bool Listing::wants(std::string_view path) const {
    const auto holds = [](std::string_view outer, std::string_view inner) {
        return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '.');
    };
    return wanted.empty() || holds(path, wanted) || holds(wanted, path);
}

const toml::table* want_table(const toml::node& node, Context& context, std::string_view example) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
        context.refuse(node.source(), show(node) + " is not a section", "a table",
                       fmt::format("write its keys under [{}{}]", context.path(), example));
    return table;
}

bool AnyRows::read(const toml::table& table, Context& context, void* object,
                   std::span<const std::string_view> elsewhere) const {
    const auto is_elsewhere = [&](std::string_view name) {
        return std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end();
    };
    bool good = true;
    for (const Row& row : rows_) {
        if (is_elsewhere(row.info.name)) continue;
        if (const toml::node* node = table.get(row.info.name); node != nullptr) {
            const Context::Inside inside(context, row.info.name);
            good &= row.read(*node, context, object);
            if (!row.section) context.note_place(*node);
        } else if (row.required) {
            good = refuse_missing_key(table, row.info.name, row.info.fallback, context);
        }
    }
    for (const auto& [key, node] : table) {
        const auto is_key = [name = key.str()](const Row& row) { return row.info.name == name; };
        if (!is_elsewhere(key.str()) && std::none_of(rows_.begin(), rows_.end(), is_key))
            good = refuse_unknown_key(key, *this, context);
    }
    return good;
}

void AnyRows::save(const void* object, const void* base, const std::string& header, std::string& out,
                   bool always, std::string_view open, std::string_view close) const {
    std::string keys;
    for (const Row& row : rows_)
        if (!row.section && (row.required || !row.same(object, base)))
            keys += fmt::format("{} = {}\n", row.info.name, row.print(object, base));
    if (!header.empty() && (always || !keys.empty()))
        out += fmt::format("{}{}{}{}\n", out.empty() ? "" : "\n", open, header, close);
    out += keys;
    for (const Row& row : rows_)
        if (row.section)
            row.save(object, base, header.empty() ? row.info.name : header + "." + row.info.name, out);
}

void AnyRows::describe(const std::string& header, std::vector<KeyInfo>& out) const {
    for (const Row& row : rows_) {
        if (row.section) continue;
        out.push_back(row.info);
        out.back().section = header;
    }
    for (const Row& row : rows_)
        if (row.section) row.describe(header.empty() ? row.info.name : header + "." + row.info.name, out);
}

void AnyRows::list_values(const void* object, const void* base, const Listing::Place& place,
                          Listing& out) const {
    for (const Row& row : rows_) {
        if (row.section ? !row.list : base != nullptr && row.same(object, base)) continue;
        const Listing::Place at_row = place.below(row.info.name);
        if (!out.wants(at_row.path)) continue;
        if (row.section)
            row.list(object, base, at_row, out);
        else
            out.values.push_back({place.section, at_row.path, row.print(object, base)});
    }
}

Row& AnyRows::add_key(std::string_view name, const void* object, const void* member, const AnyType& type,
                      std::string_view sentence, std::string fallback) {
    if (fallback.empty()) fallback = type.print(member, nullptr);
    Row& row = rows_.emplace_back();
    row.info = {{}, std::string(name), type.name, type.allowed, std::move(fallback), std::string(sentence)};
    const std::size_t offset = bytes_between(object, member);
    row.read = [offset, read = type.read](const toml::node& node, Context& context, void* out) {
        return read(node, context, at(out, offset));
    };
    row.print = [offset, print = type.print](const void* value, const void* base) {
        return print(at(value, offset), at(base, offset));
    };
    row.same = [offset, same = type.same](const void* a, const void* b) {
        return same(at(a, offset), at(b, offset));
    };
    return row;
}

Row& AnyRows::add_section(std::string_view name, std::string_view sentence) {
    Row& row = rows_.emplace_back();
    row.info.name = name;
    row.info.sentence = sentence;
    row.section = true;
    return row;
}

void AnyRows::add_nested(std::string_view name, const void* object, const void* member, AnyRows rows,
                         std::string_view sentence) {
    Row& row = add_section(name, sentence);
    const auto shared = std::make_shared<const AnyRows>(std::move(rows));
    const std::size_t offset = bytes_between(object, member);
    row.read = [offset, shared](const toml::node& node, Context& context, void* out) {
        const toml::table* table = want_table(node, context, {});
        return table != nullptr && shared->read(*table, context, at(out, offset));
    };
    row.save = [offset, shared](const void* value, const void* base, const std::string& header,
                                std::string& out) {
        shared->save(at(value, offset), at(base, offset), header, out);
    };
    row.list = [offset, shared](const void* value, const void* base, const Listing::Place& place,
                                Listing& out) {
        shared->list_values(at(value, offset), at(base, offset), place, out);
    };
    row.describe = [shared](const std::string& header, std::vector<KeyInfo>& out) {
        shared->describe(header, out);
    };
}

void AnyRows::add_indexed(std::string_view name, const void* object, const void* member, std::size_t stride,
                          std::size_t count, AnyRows rows, std::string_view sentence) {
    Row& row = add_section(name, sentence);
    const auto shared = std::make_shared<const AnyRows>(std::move(rows));
    const std::size_t offset = bytes_between(object, member);
    row.read = [=](const toml::node& node, Context& context, void* out) {
        const toml::table* table = want_table(node, context, ".3");
        if (table == nullptr) return false;
        bool good = true;
        for (const auto& [index_key, child] : *table) {
            const Context::Inside inside(context, index_key.str());
            const auto index = parse_integer(index_key.str());
            if (!index || *index >= count || fmt::format("{}", *index) != index_key.str()) {
                good = refuse_index(index_key, count, context);
                continue;
            }
            const toml::table* keys = want_table(child, context, {});
            good &= keys != nullptr && shared->read(*keys, context, at(out, offset + *index * stride));
        }
        return good;
    };
    row.save = [=](const void* value, const void* base, const std::string& header, std::string& out) {
        for (std::size_t i = 0; i < count; ++i)
            shared->save(at(value, offset + i * stride), at(base, offset + i * stride),
                         fmt::format("{}.{}", header, i), out);
    };
    row.list = [=](const void* value, const void* base, const Listing::Place& place, Listing& out) {
        for (std::size_t i = 0; i < count; ++i) {
            const Listing::Place below = place.below(std::to_string(i));
            if (out.wants(below.path))
                shared->list_values(at(value, offset + i * stride), at(base, offset + i * stride), below,
                                    out);
        }
    };
    row.describe = [shared](const std::string& header, std::vector<KeyInfo>& out) {
        shared->describe(header + ".N", out);
    };
}

bool read_named(
    const toml::node& node, Context& context, std::size_t limit,
    const std::function<bool(const std::string& name, const toml::node&, const toml::table&)>& read_child) {
    const toml::table* table = want_table(node, context, ".NAME");
    if (table == nullptr) return false;
    if (table->size() > limit) return refuse_count(node, table->size(), limit, context);
    bool good = true;
    const auto read_one = [&](const toml::key& key, const toml::node& child) {
        const Context::Inside inside(context, key.str());
        if (!valid_name(key.str())) return refuse_name(key, context);
        const toml::table* keys = want_table(child, context, {});
        return keys != nullptr && read_child(std::string(key.str()), child, *keys);
    };
    for (const bool first : {true, false})
        for (const auto& [key, child] : *table)
            if ((key.str() == "default") == first) good &= read_one(key, child);
    return good;
}

bool read_list(const toml::node& node, Context& context, std::size_t limit,
               const std::function<bool(const toml::node&, const toml::table&)>& read_child) {
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
        good &= table != nullptr && read_child((*array)[i], *table);
    }
    return good;
}

}  // namespace schema
}  // namespace sluice
