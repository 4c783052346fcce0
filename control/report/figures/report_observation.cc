#include "control/report/figures/report_observation.hh"

#include <algorithm>
#include <tuple>

#include "control/report/figures/report_rows.hh"
#include "dataplane/run/switch.hh"

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
    std::sort(sorted.begin(), sorted.end(), [](const Burst* a, const Burst* b) {
        return std::tuple(a->burst.start.ps, a->burst.port, a->burst.queue) <
               std::tuple(b->burst.start.ps, b->burst.port, b->burst.queue);
    });
    Json json = Json::array();
    for (const Burst* kept : sorted)
        json.push_back(json_of(microburst_rows, {*kept, kept->burst, observation.ports()}));
    return json;
}

}  // namespace sluice
