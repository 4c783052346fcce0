// [advise] and [advise.range] of a fabric's file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "control/fabric/plan/fabric_rows.hh"
#include "control/fabric/plan/value_range.hh"

namespace sluice::fabric {
namespace {

using schema::Context;
using schema::Rows;

constexpr std::uint32_t min_advise_seeds = 5, max_advise_seeds = 50;
constexpr std::uint64_t max_advise_runs = 100'000;

constexpr std::array advise_groups{std::pair{AdviseConfig::Group::wred, std::string_view("wred")},
                                   std::pair{AdviseConfig::Group::alpha, std::string_view("alpha")},
                                   std::pair{AdviseConfig::Group::dcqcn, std::string_view("dcqcn")}};

schema::Type<AdviseConfig::Group> advise_group() {
    std::vector<std::pair<std::string, AdviseConfig::Group>> words;
    for (const auto& [group, name] : advise_groups) words.emplace_back(name, group);
    return schema::word(std::move(words));
}

// Keys of headroom: a search finds less than the worst case needs, however many seeds it takes.
bool is_headroom(std::string_view path) {
    const std::string_view key = path.substr(path.rfind('.') + 1);
    return key == "xoff" || key == "shared_headroom" || key == "small_xoff";
}

// Empty: it may be a path of [advise.range]; or the reason why not, and what to do.
std::pair<std::string, std::string> wrong_with(std::string_view path) {
    if (is_headroom(path))
        return {"is headroom, of which a search finds less than the worst case needs",
                "leave it out: the answer has the computed xoff beside today's"};
    if (is_about_the_sweep(path)) return {"says nothing of a run", "name another path"};
    if (path == "seed")
        return {"is not a value to choose: each point runs with several seeds", "write seeds"};
    if (path.find('=') != path.npos) return {"has a = in it", "write the path alone, before the ="};
    return {};
}

// The values of a key. False: the context has the error.
bool read_range(const std::string& path, const toml::node& node, Context& context, AdviseConfig& advise) {
    const auto refuse = [&](std::string wrong, std::string remedy = {}) {
        return context.refuse(node.source(), std::move(wrong),
                              "a range such as \"100KB..1600KB\", or a list of values", std::move(remedy));
    };
    if (auto [wrong, remedy] = wrong_with(path); !wrong.empty())
        return context.refuse(node.source(), fmt::format("{} {}", in_quotes(path), wrong), {},
                              std::move(remedy));
    if (advise.ranges.size() == AdviseConfig::max_keys)
        return context.refuse(
            node.source(),
            fmt::format("{} is one key too many: at most {}", in_quotes(path), AdviseConfig::max_keys), {},
            "leave the keys out that matter least");
    AdviseConfig::Range range{path, {}, {}, schema::place_of(node.source())};
    if (const auto* text = node.as_string()) {
        const auto parsed = ValueRange::parse(text->get());
        if (!parsed) return refuse(parsed.error());
        range.range = text->get();
    } else if (const toml::array* list = node.as_array()) {
        if (list->size() < 2)
            return refuse(fmt::format("{} has {}, so there is nothing to choose", schema::show(node),
                                      list->empty() ? "no value" : "one value"),
                          "write two values or more, or leave the key out");
        if (list->size() > AdviseConfig::max_values)
            return refuse(fmt::format("the list has {} values", list->size()),
                          fmt::format("write at most {}", AdviseConfig::max_values));
        std::set<std::string> known;
        for (const toml::node& value : *list) {
            if (value.is_table() || value.is_array())
                return refuse(schema::show(value) + " is not a value", "write a number, a word or a size");
            range.values.push_back(set_text(value));
            if (!known.insert(range.values.back()).second)
                return refuse(range.values.back() + " is in the list twice", "leave one of them out");
        }
    } else {
        return refuse(schema::show(node) + " is neither a range nor a list");
    }
    advise.ranges.push_back(std::move(range));
    return true;
}

}  // namespace

std::string_view to_string(AdviseConfig::Group group) {
    return std::ranges::find(advise_groups, group, [](const auto& each) { return each.first; })->second;
}

Rows<AdviseConfig> advise_rows() {
    using A = AdviseConfig;
    Rows<A> rows;
    rows.key("groups", &A::groups,
             schema::optional_or(schema::list_of(advise_group(), advise_groups.size()), "auto"),
             "Keys that may change. wred: min, max and probability of the profile of lossless queues; alpha: "
             "dynamic_th of lossless priority groups; dcqcn: rate_ai, rate_hai, increase_timer and "
             "byte_counter of hosts. \"auto\": all that the file has, or none beside [advise.range].");
    rows.key("seeds", &A::seeds, schema::integer<std::uint32_t>(min_advise_seeds, max_advise_seeds),
             "Runs of a point at most, each with another seed; and of the seeds that the search does not "
             "see.");
    rows.key("runs", &A::runs, schema::integer_64(1, max_advise_runs),
             "Runs in all: half for the search, the others for the evidence.");
    return rows;
}

SchemaSection advise_range_section() {
    KeyInfo key;
    key.name = "PATH";
    key.type = "range";
    key.allowed = fmt::format("\"LOW..HIGH\", with xN and log as in [vary], or a list of 2 to {} values",
                              AdviseConfig::max_values);
    key.fallback = "none";
    key.sentence = fmt::format(
        "Values of a key that may change, beside those of groups; {} keys in all. A range of sizes, rates or "
        "times has steps of the square root of 2, one of integers each of them. Of a path "
        "`switch.leaf*.KEY` each switch that matches has the same value. No path is a headroom.",
        AdviseConfig::max_keys);
    return {"[advise.range]", {std::move(key)}};
}

bool read_advise(const toml::table& table, Context& context, AdviseConfig& advise) {
    static constexpr std::array<std::string_view, 1> elsewhere{"range"};
    bool good = advise_rows().read(table, context, advise, elsewhere);
    const toml::node* ranges = table.get("range");
    if (ranges == nullptr) return good;
    const Context::Inside inside(context, "range");
    const toml::table* paths = schema::want_table(*ranges, context, {});
    if (paths == nullptr) return false;
    for_each_path(*paths, context, [&](const std::string& path, const toml::node& value) {
        good &= read_range(path, value, context, advise);
    });
    return good;
}

}  // namespace sluice::fabric
