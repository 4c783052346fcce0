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
    if (context.full()) return context.refuse(key.source(), {}, {}, {});
    const Context::Inside inside(context, key.str());
    std::vector<std::string> known;
    for (const Row& row : rows) known.push_back(row.info.name);
    const std::string near = nearest_name(key.str(), known);
    return context.refuse(key.source(), in_quotes(key.str()) + " is not a known key",
                          fmt::format("{}", fmt::join(known, ", ")),
                          near.empty() ? "correct its name or leave it out" : fmt::format("write {}", near));
}

bool refuse_count(const toml::node& node, std::size_t count, std::size_t limit, Context& context) {
    return context.refuse(node.source(), fmt::format("there are {} of them", count),
                          fmt::format("at most {}", limit), fmt::format("leave {} out", count - limit));
}

}  // namespace

bool Listing::wants(std::string_view path) const {
    const auto holds = [](std::string_view outer, std::string_view inner) {
        return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '.');
    };
    return wanted.empty() || holds(path, wanted) || holds(wanted, path);
}

void Listing::add(const Place& section, const std::string& name, std::string value) {
    if (toml == nullptr) return values.push_back({section.section, section.path_of(name), std::move(value)});
    if (section.section != open) add_header(section.section);
    *toml += fmt::format("{} = {}\n", name, value);
}

void Listing::add_header(const std::string& section, std::string_view begin, std::string_view end) {
    if (toml == nullptr) return;
    open = section;
    *toml += fmt::format("{}{}{}{}\n", toml->empty() ? "" : "\n", begin, section, end);
}

std::string Place::path_of(std::string_view name) const {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

Place Place::below(std::string_view name) const {
    return {section.empty() ? toml_key(name) : fmt::format("{}.{}", section, toml_key(name)), path_of(name)};
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
        const std::string& name = row.info.name;
        if (is_elsewhere(name)) continue;
        if (const toml::node* node = table.get(name); node != nullptr) {
            const Context::Inside inside(context, name);
            good &= row.read(*node, context, object);
            if (!row.is_section()) context.note_place(*node);
        } else if (row.required) {
            good = context.refuse(table.source(), fmt::format("the key {} is missing", in_quotes(name)), {},
                                  fmt::format("add for example {} = {}", name, row.info.fallback));
        }
    }
    for (const auto& [key, node] : table) {
        const auto is_key = [name = key.str()](const Row& row) { return row.info.name == name; };
        if (!is_elsewhere(key.str()) && std::none_of(rows_.begin(), rows_.end(), is_key))
            good = refuse_unknown_key(key, *this, context);
    }
    return good;
}

void AnyRows::describe(const std::string& header, std::vector<KeyInfo>& out) const {
    for (const Row& row : rows_) {
        if (row.is_section()) {
            row.describe(header.empty() ? row.info.name : header + "." + row.info.name, out);
        } else {
            out.push_back(row.info);
            out.back().section = header;
        }
    }
}

void AnyRows::list_values(const void* object, const void* base, const Place& place, Listing& out) const {
    for (const Row& row : rows_) {
        const std::string& name = row.info.name;
        if (row.is_section()) {
            const Place at = place.below(name);
            if (out.wants(at.path)) row.list(object, base, at, out);
        } else if (base == nullptr || (out.toml != nullptr && row.required) || !row.same(object, base)) {
            if (out.wants(place.path_of(name))) out.add(place, name, row.print(object, base));
        }
    }
}

Row& AnyRows::add(std::string_view name, std::string_view sentence) {
    Row& row = rows_.emplace_back();
    row.info.name = name;
    row.info.sentence = sentence;
    return row;
}

Row& AnyRows::add_nested(std::string_view name, std::size_t offset, AnyRows rows, std::string_view sentence) {
    Row& row = add(name, sentence);
    const auto shared = std::make_shared<const AnyRows>(std::move(rows));
    row.read = [offset, shared](const toml::node& node, Context& context, void* out) {
        const toml::table* table = want_table(node, context, {});
        return table != nullptr && shared->read(*table, context, member_at<void>(out, offset));
    };
    row.list = [offset, shared](const void* value, const void* base, const Place& place, Listing& out) {
        shared->list_values(member_at<void>(value, offset), member_at<void>(base, offset), place, out);
    };
    row.describe = [shared](const std::string& header, std::vector<KeyInfo>& out) {
        shared->describe(header, out);
    };
    return row;
}

void AnyRows::add_indexed(std::string_view name, std::size_t offset, std::size_t stride, std::size_t count,
                          AnyRows rows, std::string_view sentence) {
    Row& row = add(name, sentence);
    const auto shared = std::make_shared<const AnyRows>(std::move(rows));
    row.read = [=](const toml::node& node, Context& context, void* out) {
        const toml::table* table = want_table(node, context, ".3");
        if (table == nullptr) return false;
        bool good = true;
        for (const auto& [index_key, child] : *table) {
            const Context::Inside inside(context, index_key.str());
            const auto index = parse_integer(index_key.str());
            if (!index || *index >= count || fmt::format("{}", *index) != index_key.str()) {
                good = context.refuse(index_key.source(), in_quotes(index_key.str()) + " is not an index",
                                      fmt::format("0 to {}", count - 1), "correct the number");
                continue;
            }
            const toml::table* keys = want_table(child, context, {});
            good &= keys != nullptr &&
                    shared->read(*keys, context, member_at<void>(out, offset + *index * stride));
        }
        return good;
    };
    row.list = [=](const void* value, const void* base, const Place& place, Listing& out) {
        for (std::size_t i = 0; i < count; ++i) {
            const Place below = place.below(std::to_string(i));
            const std::size_t at = offset + i * stride;
            if (out.wants(below.path))
                shared->list_values(member_at<void>(value, at), member_at<void>(base, at), below, out);
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
        if (!valid_name(key.str()))
            return context.refuse(key.source(), in_quotes(key.str()) + " is not a name",
                                  std::string(name_rule), "rename it");
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
    if (array == nullptr)
        return context.refuse(node.source(), show(node) + " is not a list of tables",
                              fmt::format("[[{}]]", context.path()),
                              fmt::format("write each under a heading [[{}]]", context.path()));
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
