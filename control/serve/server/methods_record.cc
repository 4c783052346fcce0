// Why: from the recorders, and from decision records: those that were made last. Which of these are made the
// command `decisions` says.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/route_changes.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/recorded_report.hh"
#include "control/report/figures/report_observation.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/methods.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/observation.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

Json list(Api& api, RpcClient&, RpcParameters& parameters) {
    constexpr std::uint64_t usual = 20;
    const std::uint64_t last = parameters.integer_or("last", 1, DecisionJoiner::max_latest, usual);
    const DecisionJoiner* log = api.running().observation().log();
    if (log == nullptr)
        throw RpcError{RpcCode::not_now,
                       "nothing is recorded",
                       {{"do",
                         "write record = \"ready\" under [decisions], start the switch, and say: "
                         "decisions on"}}};
    const auto& latest = log->latest();
    const CaptureTimeline* timeline = api.is_virtual() ? &api.running().surroundings().timeline() : nullptr;
    const std::size_t count = std::min<std::size_t>(last, latest.size());
    Json records = Json::array();
    for (auto at = latest.end() - static_cast<std::ptrdiff_t>(count); at != latest.end(); ++at) {
        const PortNames& ports = api.running().port_names();
        Json record = Json::parse(json_line(*at, ports, timeline));
        record["sentence"] = explain(*at, ports, nullptr);
        records.push_back(std::move(record));
    }
    return {{"recorded", log->recorded()}, {"records", std::move(records)}};
}

// "h1" or "h1.3"; a port's name may have dots of its own.
WhyPlace place_of(const RunningSwitch& running, const std::string& text) {
    WhyPlace place{running.find_port(text), {}, {}};
    if (place.port) return place;
    const std::size_t dot = text.rfind('.');
    if (dot != std::string::npos && dot + 2 == text.size() && text.back() >= '0' && text.back() <= '7') {
        place.port = running.find_port(std::string_view(text).substr(0, dot));
        place.number = static_cast<ClassId>(text.back() - '0');
    }
    if (!place.port)
        throw wrong_parameter("at", fmt::format("there is no port {}", sluice::in_quotes(text)),
                              {{"allowed", "a port, or a port and a class from 0 to 7: h1.3"}});
    return place;
}

Json why_at(RunningSwitch& running, const WhyPlace& place, std::uint64_t last) {
    const Recorded recorded = take_recorded(running);
    const std::uint32_t entries = running.config().decisions.recorder;
    Json answer = {{"recorder", entries}, {"now_ns", recorded.now.ps / 1000}};
    std::size_t left_out = 0;
    const auto whys = explain_recorded(recorded, place, last, left_out);
    answer["left_out"] = left_out;
    answer["entries"] = recorded_json(recorded, whys);
    return answer;
}

std::uint64_t last_of(RpcParameters& parameters) {
    constexpr std::uint64_t usual = 20, most = 1000;
    return parameters.integer_or("last", 1, most, usual);
}

Json why_show(Api& api, RpcClient&, RpcParameters& parameters) {
    const WhyPlace place = parameters.has("at") ? place_of(api.running(), parameters.text("at")) : WhyPlace{};
    const std::uint64_t last = last_of(parameters);
    return why_at(api.running(), place, last);
}

FlowFilter filter_of(const FlowQuestion& question, bool with_source) {
    FlowFilter filter;
    filter.destination = host_prefix(question.destination);
    if (with_source) filter.source = host_prefix(question.source);
    if (question.source_port != 0) filter.source_port = question.source_port;
    if (question.destination_port != 0) filter.destination_port = question.destination_port;
    filter.destination_qp = question.queue_pair;
    return filter;
}

// The last records of a flow's packets that were dropped or marked.
Json recorded_packets(const RunningSwitch& running, const FlowFilter& filter, std::uint64_t last) {
    Json list = Json::array();
    const DecisionJoiner* log = running.observation().log();
    if (log == nullptr) return list;
    for (auto at = log->latest().rbegin(); at != log->latest().rend() && list.size() < last; ++at) {
        const Verdict verdict = at->verdict();
        if (!at->arrived || !filter.matches(at->arrived->flow)) continue;
        if (verdict != Verdict::dropped && verdict != Verdict::marked) continue;
        Json record = {{"source", "decisions"},
                       {"verdict", to_string(verdict)},
                       {"reason", reason_of(*at)},
                       {"port", running.port_names()[at->key.port]},
                       {"sequence", at->key.sequence},
                       {"at_ns", at->end.ps / 1000},
                       {"sentence", explain(*at, running.port_names(), nullptr)}};
        list.push_back(std::move(record));
    }
    std::reverse(list.begin(), list.end());
    return list;
}

Json why_flow(Api& api, RpcClient&, RpcParameters& parameters) {
    const bool with_source = parameters.has("source");
    const FlowQuestion question = flow_question(parameters);
    const std::uint64_t last = last_of(parameters);
    RunningSwitch& running = api.running();
    const FlowAnswer way = look_up(running, question);
    WhyPlace place;
    place.to = running.find_port(way.taken);
    if (with_source) {  // it comes in where the answer goes out
        FlowQuestion back = question;
        std::swap(back.source, back.destination);
        std::swap(back.source_port, back.destination_port);
        place.port = running.find_port(look_up(running, back).taken);
    }
    Json answer = why_at(running, place, last);
    if (!place.to) {  // it waits nowhere
        auto& entries = answer["entries"].get_ref<Json::array_t&>();
        std::erase_if(entries, [](const Json& entry) { return entry["verdict"] != "dropped"; });
    }
    answer["way"] = {{"from", place.port ? Json(running.port_names()[*place.port]) : Json(nullptr)},
                     {"to", place.to ? Json(way.taken) : Json(nullptr)},
                     {"sentence", way.why}};
    for (Json& packet : recorded_packets(running, filter_of(question, with_source), last))
        answer["entries"].push_back(std::move(packet));
    return answer;
}

Json mirror_show(Api& api, RpcClient&, RpcParameters&) {
    Json list = Json::array();
    for (const Mirrors::Status& mirror : api.running().mirrors().status()) {
        Json on = Json::array();
        const MirrorConfig& said = mirror.config;
        for (const MirrorEvent event : mirror.config.on) on.push_back(to_string(event));
        Json& one = list.emplace_back(Json{{"name", mirror.name},
                                           {"enabled", mirror.config.enabled},
                                           {"on", std::move(on)},
                                           {said.collector      ? "collector"
                                            : said.file.empty() ? "fifo"
                                                                : "file",
                                            said.collector ? print_address(*said.collector) : said.path()},
                                           {"state", mirror.config.enabled ? mirror.state : "stopped"}});
        one.update(mirror_counts_json(mirror.counts));
    }
    return {{"mirrors", std::move(list)}};
}

}  // namespace

std::span<const RpcMethod> record_methods() {
    static const std::vector<RpcMethod> methods{
        {"decisions.list", reads, list, "last?: NUMBER", "{recorded: NUMBER, records: [OBJECT]}",
         "The last decision records, 20 or as many as wanted of 1000, as in their file."},
        {"mirror.show", reads, mirror_show, "", "{mirrors: [OBJECT]}",
         "The mirrors: what they show, where it goes, what is wrong with that, and their counts."},
        {"why.flow", reads, why_flow,
         "destination: ADDRESS, source?: ADDRESS, protocol?: NUMBER, sport?: NUMBER, dport?: NUMBER, "
         "qp?: NUMBER, last?: NUMBER",
         "{recorder: NUMBER, now_ns: NUMBER, left_out: NUMBER, entries: [OBJECT], way: OBJECT}",
         "The same on the way that such a packet takes now."},
        {"why.show", reads, why_show, "at?: PLACE, last?: NUMBER",
         "{recorder: NUMBER, now_ns: NUMBER, left_out: NUMBER, entries: [OBJECT]}",
         "Why senders were paused, packets dropped and queues held up, at a port or a class of it "
         "(h1.3), as the recorder has it: one entry a cause, the 20 worst, or as many as wanted."},
    };
    return methods;
}

}  // namespace sluice
