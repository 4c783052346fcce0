#include "control/fabric/report/phase_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "control/config/text/json_text.hh"
#include "control/fabric/report/fabric_report.hh"
#include "control/report/figures/figures.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_rows.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// The part at `path` between two moments: counters are differences.
Json between(const Json& before, const Json& after, std::string_view path) {
    const auto leaf = [](const Figure& figure, const Json& now, const Json* then) -> Json {
        if (figure.kind != FigureKind::counter || then == nullptr || !then->is_number() || !now.is_number())
            return now;
        return now.get<std::int64_t>() - then->get<std::int64_t>();
    };
    return difference(&before, after, find_node(phase_figures_tree(), path), leaf);
}

Json flow_between(const Json& before, const Json& after, const roce::FlowStatistics& statistics,
                  Duration length) {
    Json flow = between(before, after, "flows.flow");
    flow["throughput_bps"] = bits_per_second(flow["delivered_bytes"].get<std::uint64_t>(), length);
    flow.update(durations_json(statistics));
    return flow;
}

Json link_between(const Json& before, const Json& after, Duration length) {
    Json link = between(before, after, "links.link");
    const double byte_ps = 8e12 / after["speed_bps"].get<double>();
    for (Json& direction : link["directions"]) {
        const auto wire =
            static_cast<double>(direction["bytes"].get<std::uint64_t>() +
                                direction["packets"].get<std::uint64_t>() * wire_overhead_bytes);
        direction["load_ppm"] =
            length.ps == 0
                ? 0
                : static_cast<std::uint64_t>(wire * byte_ps * 1e6 / static_cast<double>(length.ps));
    }
    return link;
}

// Pauses that were in force within the phase.
struct PausesWithin {
    std::uint64_t count = 0, paused_ns = 0, longest_ns = 0;
};

PausesWithin pauses_within(const PauseWatch& watch, std::uint64_t from_ns, std::uint64_t to_ns) {
    PausesWithin within;
    for (const PauseRecord& pause : watch.pauses()) {
        const std::uint64_t begin = std::max(pause.from.ps / 1000, from_ns);
        const std::uint64_t end = pause.until ? std::min(pause.until->ps / 1000, to_ns) : to_ns;
        if (begin >= end) continue;
        ++within.count;
        within.paused_ns += end - begin;
        within.longest_ns = std::max(within.longest_ns, end - begin);
    }
    return within;
}

bool is_nothing(const Json& value) {
    return value == 0 || value == false || (value.is_structured() && value.empty());
}

// Drops members that are zero, false or empty, and lists of such entries; other entries keep their places.
Json shortened(Json value, const Json* whole) {
    if (value.is_object()) {
        Json kept = Json::object();
        for (auto& [name, member] : value.items()) {
            const bool has = whole != nullptr && whole->is_object() && whole->contains(name);
            const Json* other = has ? &(*whole)[name] : nullptr;
            if (member.is_string() && other != nullptr && *other == member) continue;
            if (Json less = shortened(std::move(member), other); !is_nothing(less))
                kept[name] = std::move(less);
        }
        return kept;
    }
    if (!value.is_array()) return value;
    bool any = false;
    for (std::size_t n = 0; n < value.size(); ++n) {
        const bool has = whole != nullptr && whole->is_array() && n < whole->size();
        value[n] = shortened(std::move(value[n]), has ? &(*whole)[n] : nullptr);
        any |= !is_nothing(value[n]);
    }
    return any ? value : Json::array();
}

struct PhaseSource {
    const Fabric& fabric;
    const RunMoment &from, &to;
    const Json &before = from.figures, &after = to.figures;
    Duration length = to.at - from.at;
    PausesWithin pauses = pauses_within(fabric.pauses(), from.at.ps / 1000, to.at.ps / 1000);

    Json flows() const {
        Json list = Json::array();
        for (std::size_t n = 0; n < after["flows"].size(); ++n) {
            roce::FlowStatistics within;
            within.completion_time.set_to_difference(to.flows[n].completion_time,
                                                     from.flows[n].completion_time);
            within.slowdown.set_to_difference(to.flows[n].slowdown, from.flows[n].slowdown);
            list.push_back(flow_between(before["flows"][n], after["flows"][n], within, length));
        }
        return list;
    }
    Json links() const {
        return by_name("links",
                       [&](const Json& was, const Json& is) { return link_between(was, is, length); });
    }
    Json switches() const {
        return by_name("switches", [](const Json& was, const Json& is) {
            Json one = Json::object();
            for (const char* part : {"ledger", "ports"})
                one[part] = between(was[part], is[part], fmt::format("switches.switch.{}", part));
            return one;
        });
    }

  private:
    Json by_name(const char* part, auto between_both) const {
        Json json;
        make_room(json, after[part].size());
        for (const auto& [name, value] : after[part].items())
            json[name] = between_both(before[part][name], value);
        return json;
    }
};

FIGURE_ROWS(phase_figures, PhaseSource, "phases.{phase}") = {
#include "control/report/figures/rows/fabric/phase.def"
};

}  // namespace

void shorten_phase(Json& phase, const Json& whole) {
    for (auto& [name, device] : phase["switches"].items())
        for (auto& [port, figures] : device["ports"].items())
            figures = shortened(std::move(figures), &whole["switches"][name]["ports"][port]);
}

RunMoment moment_of(Fabric& fabric) {
    return {fabric.now(), figures_json(fabric), flow_statistics(fabric), collective_moments(fabric)};
}

Json phase_report(const Fabric& fabric, const RunMoment& from, const RunMoment& to) {
    return json_of(phase_figures, {fabric, from, to});
}

}  // namespace sluice::fabric
