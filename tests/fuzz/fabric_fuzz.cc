// Any text as a fabric's file: it is refused with a reason, or planned and judged without a fault; commands
// of its events are read. As a scenario its assertions are refused, or judged on a report, its sweep and
// search have points, and so has its [advise]; likewise with the values of each variant.
#include <string>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/fabric/advise/space.hh"
#include "control/fabric/goal/asserts.hh"
#include "control/fabric/goal/goal.hh"
#include "control/fabric/goal/ranking.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/plan/value_range.hh"
#include "control/fabric/report/drawing.hh"
#include "control/fabric/run/commands.hh"
#include "control/fabric/scenario/points.hh"
#include "tests/fuzz/require.hh"

namespace {

// Figures of each kind: numbers, words, flags, lists, nothing.
const nlohmann::ordered_json& sample() {
    static const auto report = [] {
        auto made = nlohmann::ordered_json::parse(R"({
            "verdict": {"lossless": null, "lost_packets": 0, "reasons": [], "interrupted": false},
            "flows": [{"name": "a", "throughput_bps": 0, "completion_ns": {"p99": null}, "delivered_bytes": 7},
                      {"name": "b.c", "throughput_bps": 30000000000, "completion_ns": {"p99": 2500}, "delivered_bytes": 1e19}],
            "switches": {"leaf1": {"ports": {"h1": {"drops": {}, "load_ppm": 500000, "up": true}}}},
            "collectives": [{"name": "a", "straggler": {"host": "h2"}}], "pauses": [], "phases": {}})");
        made["phases"]["a"] = made;
        return made;
    }();
    return report;
}

// Its points are one, or two that differ in nothing.
void judge_goal(const sluice::fabric::FabricConfig& file) {
    using namespace sluice;
    if (!file.scenario.goal) return;
    const auto goal = fabric::Goal::of(file.scenario, "fuzz.toml");
    if (!goal) {
        for (const ConfigError& error : goal.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return;
    }
    for (const ConfigError& error : goal->check(sample(), sample()))
        require(is_one_line(error.text()), "an error is one line", error.text());
    auto told = goal->json();
    told["today"] = nlohmann::ordered_json::object();
    std::vector<nlohmann::ordered_json> rows;
    for (unsigned run = 0; run < 2; ++run)
        rows.push_back({{"run", run},
                        {"seed", 1},
                        {"values", {{"a", std::to_string(run)}}},
                        {"goal", goal->judge(sample())},
                        {"error", nullptr}});
    const fabric::Ranking ranking(told, fabric::judged_points(rows, told));
    require(ranking.candidates().size() != 1, "points that do not differ are judged alike");
    require(ranking.json()["run"] == (ranking.candidates().empty() ? nullptr : nlohmann::ordered_json(0)),
            "the first of equal points is best", ranking.text());
}

void judge_scenario(const sluice::fabric::FabricConfig& file) {
    using namespace sluice;
    std::uint64_t points = file.scenario.vary.seeds;
    for (const auto& axis : file.scenario.vary.axes)
        points = std::min<std::uint64_t>(points, 1000) * axis.values.size();
    if (points < 1000)
        if (const auto made = fabric::sweep_points(file); !made)
            require(is_one_line(made.error()), "why there are no points");
    if (const auto& find = file.scenario.find; find)
        if (const auto range = fabric::ValueRange::parse(find->within); range) range->text(range->low());
    judge_goal(file);
    const auto asserts = fabric::Asserts::of(file.scenario, "fuzz.toml", {});
    if (!asserts) {
        for (const ConfigError& error : asserts.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return;
    }
    for (const ConfigError& error : asserts->check(sample(), sample()))
        require(is_one_line(error.text()), "an error is one line", error.text());
    const auto judged = judge_assertions(asserts->list(), sample());
    require(judged.size() + asserts->left_out() == file.scenario.asserts.size(), "each assertion is judged");
    for (const auto& each : judged)
        require(each["wrong"] == "" || each["met"] == false, "what cannot be judged is false", each.dump());
    assertions_text(judged);
}

// Its points have a value for each key, and so have those beside them.
void judge_advice(const std::string& text) {
    using namespace sluice;
    const auto space = fabric::AdviseSpace::of(text, "fuzz.toml", {});
    if (!space) {
        for (const std::string& error : space.error())
            require(is_one_line(error), "an error is one line", error);
        return;
    }
    const std::size_t keys = space->keys().size();
    require(keys != 0 && !space->starts().empty(), "it has keys, and today's point");
    std::vector<fabric::AdvisePoint> points;
    for (const fabric::AdviseStart& start : space->starts()) points.push_back(start.point);
    for (std::size_t n = 0; n < 4; ++n) points.push_back(space->drawn(n));
    for (const fabric::AdvisePoint& point : points) {
        require(point.size() == keys && space->sets(point).size() == keys, "a value a key");
        for (std::size_t key = 0; key < keys; ++key) {
            space->is_at_edge(point, key);
            for (const bool up : {false, true})
                for (const auto& other : {space->step(point, key, up), space->far(point, key, up)})
                    require(!other || (other->size() == keys && *other != point), "a point beside another");
        }
    }
}

// Each is refused, or the file has its values.
void judge_variants(const std::string& text, const sluice::fabric::FabricConfig& file) {
    using namespace sluice;
    constexpr std::size_t most_read = 4;
    for (std::size_t n = 0; n < std::min(file.scenario.variants.size(), most_read); ++n) {
        const std::string& name = file.scenario.variants[n].name;
        const auto chosen = fabric::parse_fabric(text, "fuzz.toml", {"variant=" + toml_string(name)});
        if (!chosen) {
            for (const ConfigError& error : chosen.error())
                require(is_one_line(error.text()), "an error is one line", error.text());
            continue;
        }
        require(chosen->scenario.variant == name, "the variant is the one that was chosen", name);
        require(chosen->scenario.variants.size() == file.scenario.variants.size(), "no variant is lost");
        judge_scenario(*chosen);
    }
}

constexpr std::uint64_t most_drawn = 20;
constexpr std::size_t small = 60;  // nodes of a fabric that is judged whole: it costs by switch

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string text(reinterpret_cast<const char*>(data), size);
    auto file = fabric::parse_fabric(text, "fuzz.toml");
    if (!file) {
        require(!file.error().empty(), "a refusal says why");
        for (const ConfigError& error : file.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    judge_scenario(*file);
    judge_variants(text, *file);
    // Its space plans the text anew, with workloads, which name files, and drawn flows, of any length.
    const bool has_advice = file->scenario.advise && file->workloads.empty() && file->flows.empty();
    file->workloads.clear();              // they name files of this machine; workload_fuzz reads such lists
    for (FlowConfig& flow : file->flows)  // drawn ones have a list of so many
        if (flow.stop || flow.messages > most_drawn) flow.messages = most_drawn;
    auto plan = fabric::make_plan(std::move(*file));
    if (!plan) {
        for (const ConfigError& error : plan.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    if (const auto asserts = fabric::Asserts::of(plan->file.scenario, "fuzz.toml", {}); asserts)
        for (const ConfigError& error : asserts->check(*plan))
            require(is_one_line(error.text()), "an error is one line", error.text());
    for (const EventConfig& event : plan->file.events) fabric::check_command(*plan, event.command);
    if (plan->topology.nodes.size() > small) return 0;
    if (has_advice) judge_advice(text);
    fabric::svg_of(plan->topology, {});
    for (const fabric::FabricFinding& finding : fabric::judge_plan(*plan, false))
        require(is_one_line(finding.text("fuzz.toml")), "a finding is one line", finding.text("fuzz.toml"));
    return 0;
}
