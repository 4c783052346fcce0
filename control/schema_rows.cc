#include "control/schema_rows.hh"

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

const toml::table* want_table(const toml::node& node, Context& context, std::string_view example) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
        context.refuse(node.source(), show(node) + " is not a section", "a table",
                       fmt::format("write its keys under [{}{}]", context.path(), example));
    return table;
}

bool refuse_unknown_key(const toml::key& key, const std::vector<std::string>& known, Context& context) {
    if (context.full()) return context.refuse(key.source(), {}, {}, {}), false;
    const Context::Inside inside(context, key.str());
    const std::string near = nearest_name(key.str(), known);
    std::string allowed;
    for (const std::string& name : known) append_item(allowed, ", ", name);
    context.refuse(key.source(), quoted(key.str()) + " is not a known key", allowed,
                   near.empty() ? "correct its name or leave it out" : fmt::format("write {}", near));
    return false;
}

bool refuse_missing_key(const toml::table& table, const std::string& name, const std::string& example,
                        Context& context) {
    context.refuse(table.source(), fmt::format("the key {} is missing", quoted(name)), {},
                   fmt::format("add for example {} = {}", name, example));
    return false;
}

bool refuse_count(const toml::node& node, std::size_t count, std::size_t limit, Context& context) {
    context.refuse(node.source(), fmt::format("there are {} of them", count),
                   fmt::format("at most {}", limit), fmt::format("leave {} out", count - limit));
    return false;
}

bool refuse_name(const toml::key& key, Context& context) {
    context.refuse(key.source(), quoted(key.str()) + " is not a name", std::string(name_rule), "rename it");
    return false;
}

bool refuse_index(const toml::key& key, std::size_t size, Context& context) {
    context.refuse(key.source(), quoted(key.str()) + " is not an index", fmt::format("0 to {}", size - 1),
                   "correct the number");
    return false;
}

}  // namespace schema
}  // namespace sluice
