#include <algorithm>
#include <memory>
#include <sstream>

#include "control/config/schema/words.hh"
#include "control/fabric/plan/fabric_rows.hh"
#include "control/fabric/plan/value_range.hh"
#include "control/fabric/plan/variants.hh"

namespace sluice::fabric {
namespace {

using schema::Context;
using schema::Rows;

constexpr std::size_t max_axes = 16;
constexpr std::size_t max_values = 10'000;

void read_axis(const toml::node& node, Context& context, const std::string& path, VaryConfig& vary) {
    const auto refuse = [&](std::string wrong) {
        context.refuse(node.source(), schema::show(node) + " " + std::move(wrong),
                       "a list of values, or a range such as \"100KB..1600KB x5 log\"", {});
    };
    if (vary.axes.size() == max_axes) return refuse("is one path too many");
    VaryConfig::Axis axis{path, {}};
    if (const toml::array* list = node.as_array()) {
        if (list->empty() || list->size() > max_values) return refuse("is empty, or too long");
        for (const toml::node& value : *list) axis.values.push_back(set_text(value));
    } else if (const auto* text = node.as_string()) {
        const auto range = ValueRange::parse(text->get());
        if (!range) return refuse("is not a range: " + range.error());
        for (const std::uint64_t value : range->points()) axis.values.push_back(range->text(value));
    } else {
        return refuse("is not a list");
    }
    vary.axes.push_back(std::move(axis));
}

// The axis of variants: "all", or a list of names.
void read_variants(const toml::node& node, Context& context, ScenarioConfig& scenario) {
    const auto refuse = [&](std::string wrong) {
        context.refuse(node.source(), schema::show(node) + " " + std::move(wrong),
                       "\"all\", or a list of names of [[variant]]", {});
    };
    VaryConfig::Axis axis{std::string(variant_path), {}};
    const std::vector<std::string> known = variant_names(scenario.variants);
    if (known.empty()) return refuse("names variants, and there is no [[variant]]");
    const toml::array* list = node.as_array();
    if (list == nullptr && node.value<std::string_view>() != "all") return refuse("is not a list of names");
    if (list != nullptr && list->empty()) return refuse("is empty");
    std::vector<std::string> names = list == nullptr ? known : std::vector<std::string>();
    if (list != nullptr)
        for (const toml::node& each : *list) {
            const auto name = each.value<std::string>();
            if (!name || std::ranges::find(known, *name) == known.end())
                return refuse(
                    fmt::format("has {}, and the variants are: {}", schema::show(each), joined(known, ", ")));
            if (std::ranges::find(names, *name) != names.end())
                return refuse(fmt::format("has {} twice", schema::show(each)));
            names.push_back(*name);
        }
    for (const std::string& name : names) axis.values.push_back(toml_string(name));
    scenario.vary.axes.push_back(std::move(axis));
}

schema::Type<std::string> expression_text(std::string example) {
    return schema::text("an expression", 1, 1024, std::move(example));
}
schema::Type<std::string> phase_text() { return schema::text("a phase's name", 0, 32, "incast"); }

using PathUse = std::function<void(const std::string& path, const toml::node& node)>;

void each_below(const toml::table& table, Context& context, const std::string& path, const PathUse& use) {
    std::vector<std::pair<const toml::key*, const toml::node*>> members;
    for (const auto& [key, value] : table) members.emplace_back(&key, &value);
    std::ranges::stable_sort(members, {}, [](const auto& member) {
        const toml::source_position& at = member.first->source().begin;
        return std::pair(at.line, at.column);
    });
    for (const auto& [key, value] : members) {
        const Context::Inside inside(context, key->str());
        const std::string below =
            path.empty() ? std::string(key->str()) : path + "." + std::string(key->str());
        if (const toml::table* child = value->as_table())
            each_below(*child, context, below, use);
        else
            use(below, *value);
    }
}

// An expression of [goal]: its text, or a table with its phase.
schema::Type<GoalConfig::Entry> goal_entry(const char* key, std::string example) {
    const auto rows = std::make_shared<Rows<GoalConfig::Entry>>();
    rows->required("that", &GoalConfig::Entry::that, expression_text(example), "");
    rows->key("phase", &GoalConfig::Entry::phase, phase_text(), "");
    schema::Type<GoalConfig::Entry> type{
        "expression", "an expression, or {that = EXPRESSION, phase = NAME}", toml_string(example), {}, {}};
    type.read = [self = type, rows, key](const toml::node& node, Context& context, GoalConfig::Entry& entry) {
        entry.key = key;
        entry.place = schema::place_of(node.source());
        if (const toml::table* table = node.as_table()) return rows->read(*table, context, entry);
        if (!node.is_string()) return self.refuse(node, context, "is not an expression");
        return expression_text({}).read(node, context, entry.that);
    };
    type.print = [](const GoalConfig::Entry& entry, const GoalConfig::Entry*) {
        if (entry.phase.empty()) return toml_string(entry.that);
        return fmt::format("{{that = {}, phase = {}}}", toml_string(entry.that), toml_string(entry.phase));
    };
    return type;
}

}  // namespace

void for_each_path(const toml::table& table, Context& context, const PathUse& use) {
    each_below(table, context, {}, use);
}

std::string set_text(const toml::node& node) {
    if (const auto* string = node.as_string()) return toml_string(string->get());
    std::ostringstream out;
    node.visit([&](const auto& value) {
        if constexpr (toml::is_table<decltype(value)>)
            out << toml::toml_formatter(value, toml::format_flags::none);
        else
            out << value;
    });
    return out.str();
}

bool is_about_the_sweep(std::string_view path) {
    const std::string_view section = path.substr(0, path.find('.'));
    return section == "vary" || section == "find" || section == "goal" || section == "advise" ||
           section == variant_path;
}

Rows<PhaseConfig> phase_rows() {
    using P = PhaseConfig;
    Rows<P> rows;
    rows.required("name", &P::name, schema::name("a phase's name"), "Its name.");
    rows.key("from", &P::from, schema::time({}, max_time, "1ms"), "Its first moment.");
    rows.key("to", &P::to, schema::optional_or(schema::time({}, max_time, "5ms"), "end"),
             "Its last moment; \"end\": that of the run.");
    return rows;
}

Rows<AssertConfig> assert_rows() {
    using A = AssertConfig;
    Rows<A> rows;
    rows.required("that", &A::that, expression_text("verdict.lossless"),
                  "Expression over the paths of the report: [FUNCTION] PATH [ratio to PHASE] [OP VALUE].");
    rows.key("phase", &A::phase, phase_text(), "Phase whose figures are meant; empty: the whole run.");
    rows.key("variant", &A::variant, schema::text("a variant's name", 0, 64, "trim"),
             "[[variant]] for which it must hold, and is judged; empty: whatever runs.");
    rows.key("why", &A::why, schema::text("a sentence", 0, 1024, "nothing may be lost"),
             "Sentence that is printed when it is false.");
    return rows;
}

Rows<FindConfig> find_rows() {
    using F = FindConfig;
    Rows<F> rows;
    const auto path = schema::text("a path of the file", 0, 1024, "switch.default.buffer.size");
    rows.key("least", &F::least, path, "Path of the file whose least value is looked for.");
    rows.key("most", &F::most, path, "Path of the file whose most value is looked for.");
    rows.required("within", &F::within, schema::text("a range", 1, 128, "100KB..1600KB"),
                  "Range of its values.");
    rows.key("such_that", &F::such_that, schema::text("an expression", 0, 1024, "verdict.lossless"),
             "Expression that is to hold; empty: every assertion.");
    rows.key("precision", &F::precision, schema::text("a value", 0, 64, "1KB"),
             "How far the runs beside the answer are apart at most; empty: 1 % of the range.");
    return rows;
}

Rows<GoalConfig> goal_rows() {
    using G = GoalConfig;
    Rows<G> rows;
    rows.key("keep", &G::keep,
             schema::list_of(goal_entry("goal.keep", "verdict.lossless"), GoalConfig::max_keep),
             "What must hold in every run of a point: expressions as an assertion has them.");
    rows.required(
        "least", &G::least,
        schema::list_of(goal_entry("goal.least", "max flows.*.slowdown_permille.p99"), GoalConfig::max_least),
        "What should be small, up to four figures without a comparison: the first decides, the next among "
        "points that it does not tell apart.");
    rows.key("tolerance", &G::tolerance, schema::per_cent(),
             "Two points are not told apart by a figure that differs by so much at most; it is 7 % at least "
             "for a quantile of time spent in queues, whose buckets are 6 % wide.");
    return rows;
}

void read_vary(const toml::node& node, Context& context, ScenarioConfig& scenario) {
    VaryConfig& vary = scenario.vary;
    const toml::table* table = schema::want_table(node, context, {});
    if (table == nullptr) return;
    vary.place = schema::place_of(node.source());
    const auto read_count = [&](const char* name, std::uint64_t most, auto& into) {
        const toml::node* value = table->get(name);
        if (value == nullptr) return;
        const Context::Inside inside(context, name);
        std::uint64_t count = 1;
        if (schema::integer_64(1, most).read(*value, context, count)) into = count;
    };
    read_count("sample", 1'000'000, vary.sample);
    read_count("seeds", 10'000, vary.seeds);
    for_each_path(*table, context, [&](const std::string& path, const toml::node& value) {
        if (path == variant_path)
            read_variants(value, context, scenario);
        else if (path != "sample" && path != "seeds")
            read_axis(value, context, path, vary);
    });
}

void check_scenario_keys(ScenarioConfig& scenario, Context& context, const toml::table& document) {
    std::ranges::stable_sort(scenario.phases, {}, &PhaseConfig::from);
    const auto refuse = [&](const char* section, std::string wrong, std::string remedy,
                            std::optional<std::size_t> index = {}) {
        const Context::Inside inside(context, section);
        const toml::node* node = document.get(section);
        if (const toml::array* list = node == nullptr || !index ? nullptr : node->as_array();
            list != nullptr && *index < list->size())
            node = list->get(*index);
        context.refuse(node == nullptr ? document.source() : node->source(), std::move(wrong), {},
                       std::move(remedy));
    };
    for (std::size_t n = 0; n < scenario.phases.size(); ++n) {
        const PhaseConfig& phase = scenario.phases[n];
        if (phase.to && *phase.to <= phase.from)
            refuse("phase", fmt::format("phase {} ends before it begins", phase.name), "write a later `to`");
        for (std::size_t m = 0; m < n; ++m) {
            const PhaseConfig& before = scenario.phases[m];
            if (before.name == phase.name)
                refuse("phase", fmt::format("two phases are called {}", phase.name), "rename one");
            if (!before.to || *before.to > phase.from)
                refuse("phase", fmt::format("phase {} begins before {} ends", phase.name, before.name),
                       "let one end where the next begins");
        }
    }
    const auto check_phase = [&](const char* section, const AssertConfig& each,
                                 std::optional<std::size_t> index) {
        if (!each.phase.empty() && std::ranges::none_of(scenario.phases, [&](const PhaseConfig& phase) {
                return phase.name == each.phase;
            }))
            refuse(section, fmt::format("there is no phase {}", in_quotes(each.phase)),
                   "write a [[phase]] of that name", index);
    };
    const std::vector<std::string> variants = variant_names(scenario.variants);
    for (std::size_t n = 0; n < scenario.asserts.size(); ++n) {
        check_phase("assert", scenario.asserts[n], n);
        if (const std::string& name = scenario.asserts[n].variant;
            !name.empty() && std::ranges::find(variants, name) == variants.end())
            refuse("assert", fmt::format("there is no variant {}", in_quotes(name)),
                   "write a [[variant]] of that name", n);
    }
    for (std::size_t n = 0; n < variants.size(); ++n)
        if (std::find(variants.begin(), variants.begin() + static_cast<std::ptrdiff_t>(n), variants[n]) !=
            variants.begin() + static_cast<std::ptrdiff_t>(n))
            refuse("variant", fmt::format("two variants are called {}", variants[n]), "rename one", n);
    if (scenario.goal) {
        for (const auto* list : {&scenario.goal->keep, &scenario.goal->least})
            for (const GoalConfig::Entry& each : *list) check_phase("goal", each, {});
        if (scenario.goal->least.empty())
            refuse("goal", "least is empty, so there is no best point",
                   "write a figure, as least = [\"max flows.*.slowdown_permille.p99\"]");
        if (scenario.find) refuse("goal", "there is [find], too: a search has such_that", "write two files");
    }
    if (scenario.advise)
        for (const char* other : {"vary", "find"})
            if (document.get(other) != nullptr)
                refuse("advise", fmt::format("there is [{}], too: advice chooses its own points", other),
                       "write two files");
    for (const VaryConfig::Axis& axis : scenario.vary.axes) {
        if (is_about_the_sweep(axis.path) && axis.path != variant_path)
            refuse("vary", fmt::format("{} says nothing of a run", in_quotes(axis.path)),
                   "name another path");
        for (const VariantConfig& each : scenario.variants)
            if (varies_variants(scenario.vary) &&
                std::ranges::find(each.sets, axis.path, &VariantConfig::Set::path) != each.sets.end())
                refuse("vary",
                       fmt::format("{} is an axis, and variant {} sets it, too", in_quotes(axis.path),
                                   each.name),
                       "leave one of them out");
        if (axis.path == "seed" && scenario.vary.seeds != 1)
            refuse("vary", "the seed is an axis, and there are seeds, too", "leave one of them out");
    }
    if (!scenario.find) return;
    if (!scenario.vary.axes.empty() || scenario.vary.sample || scenario.vary.seeds != 1)
        refuse("find", "there is [vary], too: a search is not a sweep", "write two files");
    const FindConfig& find = *scenario.find;
    if (find.least.empty() == find.most.empty())
        refuse("find", "wants one of least and most", "write least = PATH, or most = PATH");
    const auto range = ValueRange::parse(find.within);
    if (!range) refuse("find", "within: " + range.error(), "write for example within = \"100KB..1600KB\"");
    if (range && range->has_steps())
        refuse(
            "find",
            fmt::format("within {}: a search takes no steps, and halves the range", in_quotes(find.within)),
            "write both ends alone, and how fine the answer is as precision");
    if (is_about_the_sweep(find.path()))
        refuse("find", fmt::format("{} says nothing of a run", in_quotes(find.path())), "name another path");
    if (range && !find.precision.empty())
        if (const auto precision = range->value(find.precision); !precision || *precision == 0)
            refuse(
                "find",
                fmt::format("precision {} is not a distance in the range's unit", in_quotes(find.precision)),
                "write one as the ends of the range are written");
    if (find.such_that.empty() && scenario.asserts.empty())
        refuse("find", "nothing is to hold: such_that is empty, and there is no [[assert]]",
               "write such_that");
}

}  // namespace sluice::fabric
