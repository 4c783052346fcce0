#include "control/report/figures/report_observation.hh"

#include <algorithm>
#include <tuple>

#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::string_view mode_name(RecordMode mode, bool enabled) {
    if (mode == RecordMode::off) return "off";
    return enabled ? "on" : "ready";
}

}  // namespace

Json decisions_json(const Observation& observation, const Switch& device) {
    const DecisionLog* log = observation.log();
    const PortNames& ports = observation.ports();
    Json json = {{"state", mode_name(observation.mode(), device.policy().decisions.enabled)}};
    if (!log) return json;
    json["recorded"] = log->recorded();
    for (const Verdict verdict :
         {Verdict::sent, Verdict::marked, Verdict::dropped, Verdict::paused, Verdict::unfinished})
        json["verdicts"][std::string(to_string(verdict))] = log->recorded(verdict);
    if (const auto punted = log->recorded(Verdict::punted); punted != 0) json["verdicts"]["punted"] = punted;
    json["lost"] = observation.decisions_lost();
    json["given_up"] = log->given_up();
    json["why"] = Json::array();
    for (const auto& [key, why] : log->why().entries()) {
        const auto& [verdict, reason, place] = key;
        Json entry = {{"verdict", to_string(verdict)}, {"reason", reason}, {"port", ports[place.port]}};
        if (place.at != DecisionRecord::At::port)
            entry[place.at == DecisionRecord::At::queue ? "queue" : "group"] = place.number;
        entry["count"] = why.count;
        Json first = {{"port", ports[why.first.port]}};
        if (verdict != Verdict::paused) first["sequence"] = why.first.sequence;
        first["at_ns"] = why.first_at.ps / 1000;
        entry["first"] = std::move(first);
        entry["sentence"] = why.sentence;
        json["why"].push_back(std::move(entry));
    }
    json["why_left_out"] = log->why().left_out();
    return json;
}

Json mirrors_json(const Mirrors& mirrors) {
    Json json = Json::object();
    for (const Mirrors::Status& mirror : mirrors.status())
        json[mirror.name] = mirror_counts_json(mirror.counts);
    return json;
}

Json mirror_counts_json(const Mirrors::Counts& counts) {
    return {{"mirrored_packets", counts.mirrored},
            {"suppressed_packets", counts.suppressed},
            {"lost_packets", counts.lost}};
}

Json microbursts_json(const Observation& observation) {
    using Burst = Observation::Burst;
    const PortNames& ports = observation.ports();
    std::vector<const Burst*> sorted;
    for (const Burst& burst : observation.microbursts()) sorted.push_back(&burst);
    std::sort(sorted.begin(), sorted.end(), [](const Burst* a, const Burst* b) {
        return std::tuple(a->burst.start.ps, a->burst.port, a->burst.queue) <
               std::tuple(b->burst.start.ps, b->burst.port, b->burst.queue);
    });
    Json json = Json::array();
    for (const Burst* kept : sorted) {
        const Microburst& burst = kept->burst;
        Json fed_by = Json::array();
        burst.fed_by.for_each([&](PortId port) { fed_by.push_back(ports[port]); });
        json.push_back({{"port", ports[burst.port]},
                        {"queue", burst.queue},
                        {"start_ns", burst.start.ps / 1000},
                        {"length_ns", burst.length.ps / 1000},
                        {"ended", kept->ended},
                        {"threshold_bytes", kept->threshold_bytes},
                        {"peak_bytes", kept->peak_bytes},
                        {"peak_at_ns", burst.peak_at.ps / 1000},
                        {"marked_packets", burst.marked},
                        {"dropped_packets", burst.dropped},
                        {"fed_by", std::move(fed_by)}});
    }
    return json;
}

}  // namespace sluice
