#include "control/report/figures/report_observation.hh"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <vector>

#include "control/report/figures/report_rows.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/path/wire.hh"
#include "dataplane/run/switch.hh"
#include "lib/roce/opcode.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::string_view mode_name(RecordMode mode, bool enabled) {
    if (mode == RecordMode::off) return "off";
    return enabled ? "on" : "ready";
}

Json verdicts_json(const DecisionJoiner& log) {
    Json json = Json::object();
    for (const Verdict verdict :
         {Verdict::sent, Verdict::marked, Verdict::dropped, Verdict::paused, Verdict::unfinished})
        json[std::string(to_string(verdict))] = log.recorded(verdict);
    if (const auto punted = log.recorded(Verdict::punted); punted != 0) json["punted"] = punted;
    return json;
}

struct WhySource {
    const WhyTable::Key& key;
    const Why& why;
    const PortNames& ports;
    Verdict verdict() const { return std::get<Verdict>(key); }
    const std::string& reason() const { return std::get<std::string>(key); }
    const DecisionRecord::Place& place() const { return std::get<DecisionRecord::Place>(key); }
};

FIGURE_ROWS(why_rows, WhySource, "decisions.why.[]") = {
#include "control/report/figures/rows/why.def"
};

struct DecisionsSource {
    const Observation& observation;
    const DecisionJoiner* log;  // null: nothing is ever recorded
    std::string_view state;
};

Json why_json(const DecisionsSource& from) {
    if (from.log == nullptr) return absent();
    Json list = Json::array();
    for (const auto& [key, why] : from.log->why().entries())
        list.push_back(json_of(why_rows, {key, why, from.observation.ports()}));
    return list;
}

FIGURE_ROWS(decision_rows, DecisionsSource, "decisions") = {
#include "control/report/figures/rows/decisions.def"
};

FIGURE_ROWS(mirror_rows, Mirrors::Counts, "mirrors.{mirror}") = {
#include "control/report/figures/rows/mirror.def"
};

struct MicroburstSource {
    const Observation::Burst& kept;
    const Microburst& burst;
    const PortNames& ports;
    Json fed_by() const {
        Json names = Json::array();
        burst.fed_by.for_each([&](PortId port) { names.push_back(ports[port]); });
        return names;
    }
};

FIGURE_ROWS(microburst_rows, MicroburstSource, "microbursts.[]") = {
#include "control/report/figures/rows/microburst.def"
};

constexpr std::array<std::string_view, 2> direction_names{"forward", "backward"};

using Ends = std::array<const WireDirection*, 2>;

Ends ends_of(const RunningSwitch& running, const WireConfig& wire) {
    Ends ends{};
    for (const unsigned end : {0U, 1U})
        ends[end] = running.device().view(*running.find_port(wire.ports[end])).wire();
    return ends;
}

FIGURE_ROWS(direction_rows, WireDirection, "wires.{wire}.{direction}") = {
#include "control/report/figures/rows/wire_direction.def"
};

Json direction_json(const WireDirection& direction) { return json_of(direction_rows, direction); }

struct RuleCounts {
    std::uint64_t matched = 0, acted = 0, passed = 0;
};

FIGURE_ROWS(rule_direction_rows, RuleCounts, "wires.{wire}.rules.{rule}.{direction}") = {
#include "control/report/figures/rows/wire_rule_direction.def"
};

Json rule_direction_json(const WireDirection& direction, std::uint64_t id) {
    RuleCounts counts;
    for (const WireRuleCounters& counters : direction.rules)
        if (counters.id.get() == id)
            counts = {counters.matched.get(), counters.acted.get(), counters.passed.get()};
    return json_of(rule_direction_rows, counts);
}

struct RuleSource {
    const ImpairConfig& rule;
    std::uint64_t id;
    const Ends& ends;
};

FIGURE_ROWS(rule_rows, RuleSource, "wires.{wire}.rules.{rule}") = {
#include "control/report/figures/rows/wire_rule.def"
};

std::string opcode_text(const WireEvent& event) {
    if (event.opcode == cnp_opcode) return "cnp";
    const roce::Operation* operation = roce::find_operation(event.opcode);
    return operation != nullptr ? std::string(operation->name) : std::to_string(event.opcode);
}

struct TracedFrame {
    WireEvent event;
    unsigned end;
    std::string rule;
};

FIGURE_ROWS(trace_rows, TracedFrame, "wires.{wire}.trace.[]") = {
#include "control/report/figures/rows/wire_trace.def"
};

// The last events of both directions, in order of time.
struct WireTrace {
    std::vector<TracedFrame> frames;
    std::uint64_t left_out = 0;
};

WireTrace read_trace(const RunningSwitch& running, const Ends& ends) {
    WireTrace read;
    for (const unsigned end : {0U, 1U}) {
        const auto& trace = ends[end]->trace;
        const std::size_t before = read.frames.size();
        trace.for_each([&](std::uint64_t, const WireEvent& event) {
            read.frames.push_back({event, end, running.wire_rules().name_of(event.rule)});
        });
        read.left_out += trace.total() - (read.frames.size() - before);
    }
    std::ranges::stable_sort(
        read.frames, [](const TracedFrame& a, const TracedFrame& b) { return a.event.at < b.event.at; });
    return read;
}

Json trace_json(const WireTrace& trace) {
    Json list = Json::array();
    for (const TracedFrame& frame : trace.frames) list.push_back(json_of(trace_rows, frame));
    return list;
}

struct WireSource {
    const RunningSwitch& running;
    const std::string& name;
    const WireConfig& wire;
    Ends ends;
    WireTrace trace = read_trace(running, ends);
};

Json rules_json(const WireSource& from) {
    Json rules = Json::object();
    for (const auto& [name, rule] : from.wire.impair)
        rules[name] = json_of(rule_rows, {rule, from.running.wire_rules().id_of(from.name, name), from.ends});
    return rules;
}

FIGURE_ROWS(wire_rows, WireSource, "wires.{wire}") = {
#include "control/report/figures/rows/wire.def"
};

}  // namespace

Json decisions_json(const Observation& observation, const Switch& device) {
    return json_of(decision_rows, {observation, observation.log(),
                                   mode_name(observation.mode(), device.policy().decisions.enabled)});
}

Json mirrors_json(const Mirrors& mirrors) {
    Json json = Json::object();
    for (const Mirrors::Status& mirror : mirrors.status())
        json[mirror.name] = mirror_counts_json(mirror.counts);
    return json;
}

Json mirror_counts_json(const Mirrors::Counts& counts) { return json_of(mirror_rows, counts); }

Json microbursts_json(const Observation& observation) {
    using Burst = Observation::Burst;
    std::vector<const Burst*> sorted;
    for (const Burst& burst : observation.microbursts()) sorted.push_back(&burst);
    std::ranges::sort(sorted, {}, [](const Burst* each) {
        return std::tuple(each->burst.start.ps, each->burst.port, each->burst.queue);
    });
    Json json = Json::array();
    for (const Burst* kept : sorted)
        json.push_back(json_of(microburst_rows, {*kept, kept->burst, observation.ports()}));
    return json;
}

Json wires_json(const RunningSwitch& running) {
    Json json = Json::object();
    for (const auto& [name, wire] : running.config().wires)
        json[name] = json_of(wire_rows, {running, name, wire, ends_of(running, wire)});
    return json;
}

}  // namespace sluice
