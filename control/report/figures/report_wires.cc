#include "control/report/figures/report_wires.hh"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "dataplane/path/wire.hh"
#include "dataplane/run/switch.hh"
#include "lib/roce/opcode.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 2> direction_names{"forward", "backward"};

using Ends = std::array<const WireDirection*, 2>;

Ends ends_of(const RunningSwitch& running, const WireConfig& wire) {
    Ends ends{};
    for (const unsigned end : {0U, 1U})
        ends[end] = running.device().view(*running.find_port(wire.ports[end])).wire();
    return ends;
}

Json direction_json(const WireDirection& direction) {
    const WireReplies& replies = direction.replies;
    return {{"made_packets", direction.made.get()},       {"held_packets", direction.holding.get()},
            {"ack_packets", replies.acks.get()},          {"nak_packets", replies.naks.get()},
            {"rnr_nak_packets", replies.rnr_naks.get()},  {"cnp_packets", replies.cnps.get()},
            {"repeated_packets", replies.repeated.get()}, {"untracked_packets", replies.untracked.get()}};
}

Json rule_json(const ImpairConfig& rule, std::uint64_t id, const Ends& ends) {
    Json json = {{"do", to_string(rule.action)}};
    for (const unsigned end : {0U, 1U}) {
        std::uint64_t matched = 0, acted = 0, passed = 0;
        for (const WireRuleCounters& counters : ends[end]->rules)
            if (counters.id.get() == id) {
                matched = counters.matched.get();
                acted = counters.acted.get();
                passed = counters.passed.get();
            }
        json[direction_names[end]] = {
            {"matched_packets", matched}, {"acted_packets", acted}, {"passed_packets", passed}};
    }
    return json;
}

std::string opcode_text(const WireEvent& event) {
    if (event.opcode == cnp_opcode) return "cnp";
    const roce::Operation* operation = roce::find_operation(event.opcode);
    return operation != nullptr ? std::string(operation->name) : std::to_string(event.opcode);
}

Json event_json(const WireEvent& event, unsigned end, const std::string& rule) {
    Json json = {
        {"at_ns", event.at.ps / 1000},   {"direction", direction_names[end]}, {"rule", rule},
        {"do", to_string(event.action)}, {"frame_bytes", event.frame_bytes},  {"done", !event.passed}};
    if (event.roce) {
        json["opcode"] = opcode_text(event);
        json["qp"] = event.qp;
        json["psn"] = event.psn;
    }
    return json;
}

// The last events of both directions, in order of time.
Json trace_json(const RunningSwitch& running, const Ends& ends, std::uint64_t& left_out) {
    struct At {
        WireEvent event;
        unsigned end;
    };
    std::vector<At> all;
    left_out = 0;
    for (const unsigned end : {0U, 1U}) {
        const auto& trace = ends[end]->trace;
        const std::size_t before = all.size();
        trace.for_each([&](std::uint64_t, const WireEvent& event) { all.push_back({event, end}); });
        left_out += trace.total() - (all.size() - before);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const At& a, const At& b) { return a.event.at < b.event.at; });
    Json list = Json::array();
    for (const At& at : all)
        list.push_back(event_json(at.event, at.end, running.wire_rules().name_of(at.event.rule)));
    return list;
}

}  // namespace

Json wires_json(const RunningSwitch& running) {
    Json json = Json::object();
    for (const auto& [name, wire] : running.config().wires) {
        const Ends ends = ends_of(running, wire);
        Json rules = Json::object();
        for (const auto& [rule_name, rule] : wire.impair)
            rules[rule_name] = rule_json(rule, running.wire_rules().id_of(name, rule_name), ends);
        std::uint64_t left_out = 0;
        Json trace = trace_json(running, ends, left_out);
        Json& one = json[name] = {{"ports", wire.ports}, {"pfc", wire.passes_pfc ? "pass" : "end"}};
        for (const unsigned end : {0U, 1U}) one[direction_names[end]] = direction_json(*ends[end]);
        one["rules"] = std::move(rules);
        one["trace"] = std::move(trace);
        one["trace_left_out"] = left_out;
    }
    return json;
}

}  // namespace sluice
