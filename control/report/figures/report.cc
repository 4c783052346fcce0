#include "control/report/figures/report.hh"

#include "control/config/compile/compile.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/group_report.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_observation.hh"
#include "control/report/figures/report_port.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/report_wires.hh"
#include "control/report/figures/verdict.hh"
#include "control/report/figures/workers.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/kernel_control.hh"
#include "control/switch/running/observation.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "control/switch/running/watchdog.hh"
#include "dataplane/path/port_watchdog.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/pool_use.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

FIGURE_ROWS(ledger_rows, Ledger, "ledger") = {
#include "control/report/figures/rows/ledger.def"
};

Json ledger_json(RunningSwitch& running) {
    Switch& device = running.device();
    return json_of(ledger_rows, running.clock().is_live() ? device.counted() : device.ledger());
}

struct KernelSource {
    const KernelControl& kernel;
    std::uint64_t asks_lost = 0;
    const KernelTables& tables() const { return kernel.mirror().tables(); }
};

FIGURE_ROWS(kernel_rows, KernelSource, "kernel") = {
#include "control/report/figures/rows/kernel.def"
};

// The kernel's part of the switch.
Json kernel_json(RunningSwitch& running) {
    if (running.surroundings().kernel() == nullptr) return absent();
    KernelSource source{*running.surroundings().kernel()};
    for (unsigned w = 0; w < running.device().worker_count(); ++w)
        if (const auto* ring = running.device().unresolved(static_cast<WorkerId>(w)))
            source.asks_lost += ring->lost.get();
    return json_of(kernel_rows, source);
}

struct PoolSource {
    const EffectivePool& pool;
    const PoolUse& use;
    std::uint64_t cell_bytes;
    std::uint64_t bytes(std::uint64_t cells) const { return cells * cell_bytes; }
};

FIGURE_ROWS(pool_rows, PoolSource, "pools.{pool}") = {
#include "control/report/figures/rows/pool.def"
};

Json pools_json(RunningSwitch& running) {
    Json json = Json::object();
    Switch& device = running.device();
    for (const EffectivePool& pool : running.qos().pools) {
        const bool ingress = pool.direction == PoolDirection::ingress;
        const PoolUse& use = ingress ? device.ingress_use(pool.index) : device.egress_use(pool.index);
        json[pool.name] = json_of(pool_rows, {pool, use, running.config().cell_bytes});
    }
    return json;
}

struct GapSource {
    const CaptureTimeline::Piece& piece;
    const CaptureTimeline::Piece& before;
};

FIGURE_ROWS(gap_rows, GapSource, "captures.gaps.[]") = {
#include "control/report/figures/rows/capture_gap.def"
};

Json gaps_json(const CaptureTimeline& timeline) {
    constexpr std::size_t max_gaps = 1000;
    const auto& pieces = timeline.pieces();
    Json gaps = Json::array();
    for (std::size_t i = 1; i < pieces.size() && i <= max_gaps; ++i)
        gaps.push_back(json_of(gap_rows, {pieces[i], pieces[i - 1]}));
    return gaps;
}

// The switch's time 0 on the captures' clock, and the time left out of their gaps: from `at_ns` on the stamp
// is stamp_ns + (time - at_ns).
FIGURE_ROWS(capture_rows, CaptureTimeline, "captures") = {
#include "control/report/figures/rows/captures.def"
};

struct WatchdogSource {
    const std::string& port;
    unsigned queue;
    const WatchdogSettings& settings;
    const WatchdogCounters& counters;
};

FIGURE_ROWS(watchdog_rows, WatchdogSource, "watchdog.{port,queue}") = {
#include "control/report/figures/rows/watchdog.def"
};

// One entry a queue that can be watched, by port and queue.
Json watchdog_json(const RunningSwitch& running) {
    const Switch& device = running.device();
    Json list = Json::array();
    for (PortId id = 0; id < device.port_count(); ++id) {
        const WatchdogPolicy& policy = device.policy().ports[id].watchdog;
        for_each_class(policy.candidates, [&](ClassId n) {
            list.push_back(json_of(watchdog_rows, {running.port_names()[id], n, policy.settings,
                                                   device.view(id).watchdog().counters[n]}));
        });
    }
    return list;
}

Json ports_json(RunningSwitch& running) {
    Json json;
    const Switch& device = running.device();
    make_room(json, device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id)
        json[running.port_names()[id]] = port_json(running, id);
    return json;
}

struct EventSource {
    const RunningSwitch& running;
    const SwitchEvent& event;
    Json port() const {
        const auto name = [&](const auto& notice) { return running.port_names()[notice.port]; };
        if (event.link() != nullptr) return name(*event.link());
        return event.watchdog() != nullptr ? Json(name(*event.watchdog())) : if_there(event.of_class(), name);
    }
    // Of a class that is no longer on its way.
    const ClassNotice* ended_class() const {
        const ClassNotice* notice = event.of_class();
        return notice != nullptr && !notice->begins ? notice : nullptr;
    }
};

FIGURE_ROWS(event_rows, EventSource, "events.[]") = {
#include "control/report/figures/rows/event.def"
};

Json events_json(const RunningSwitch& running) {
    Json list = Json::array();
    for (const SwitchEvent& event : running.events()) list.push_back(event_json(running, event));
    return list;
}

struct SwitchSource {
    RunningSwitch& running;
    RunVerdict verdict;
};

FIGURE_ROWS(switch_rows, SwitchSource, "") = {
#include "control/report/figures/rows/switch.def"
};

}  // namespace

Json configuration_json(std::vector<ConfigChange> asked) {
    Json::object_t values;
    values.reserve(asked.size());
    for (ConfigChange& each : asked)
        values.emplace_back(std::move(each.path), std::move(each.to));  // each comes once
    return values;
}

Json event_json(const RunningSwitch& running, const SwitchEvent& event) {
    return json_of(event_rows, {running, event});
}

Json make_short_report(RunningSwitch& running) {
    return {{"verdict", verdict_json(judge_run(running), running.clock().is_interrupted())},
            {"ledger", ledger_json(running)}};
}

Json make_report(RunningSwitch& running) { return json_of(switch_rows, {running, judge_run(running)}); }

}  // namespace sluice
