#include "control/report/figures/report.hh"

#include <string_view>
#include <vector>

#include "control/config/compile/compile.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_observation.hh"
#include "control/report/figures/report_port.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/verdict.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/kernel_control.hh"
#include "control/switch/running/observation.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "control/switch/running/watchdog.hh"
#include "dataplane/path/port_watchdog.hh"
#include "dataplane/path/stage_meter.hh"
#include "dataplane/path/turn_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/pool_use.hh"
#include "lib/route/port_load.hh"

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
    const KernelTables& tables() const { return kernel.tables(); }
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

// An entry for each queue that can be watched, by port and queue.
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
    // The notice of a class that is no longer changing.
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
    TrimCount trim = trim_count(running);
};

FIGURE_ROWS(switch_rows, SwitchSource, "") = {
#include "control/report/figures/rows/switch.def"
};

FIGURE_ROWS(stage_rows, StageMeter::Use, "workers.{worker}.meter.stages.{stage}") = {
#include "control/report/figures/rows/meter_stage.def"
};

Json stages_json(const StageMeter& meter) {
    Json stages;
    make_room(stages, stage_count);
    for (std::size_t n = 0; n < stage_count; ++n)
        stages[stage_texts[n].name] = json_of(stage_rows, meter.use(static_cast<Stage>(n)));
    return stages;
}

FIGURE_ROWS(meter_rows, StageMeter, "workers.{worker}.meter") = {
#include "control/report/figures/rows/meter.def"
};

// The meter of the present or the last session.
Json meter_json(const StageMeter& meter) {
    return meter.session() == 0 && meter.turns() == 0 ? absent() : json_of(meter_rows, meter);
}

// A worker writes the longest before it counts the length, and this reads lengths first: none is above it.
struct TurnsSource {
    const TurnCounters& turns;
    const Reactions& reactions;
    const StageMeter& meter;
    Json busy_turn_ns = quantiles_json(turns.busy_lengths);
};

FIGURE_ROWS(turn_rows, TurnsSource, "workers.{worker}") = {
#include "control/report/figures/rows/turns.def"
};

struct WorkerSource {
    std::vector<std::string_view> ports;
    WorkerTraffic traffic;
};

FIGURE_ROWS(worker_rows, WorkerSource, "workers.{worker}") = {
#include "control/report/figures/rows/worker.def"
};

LoadBalance mode_of(const RunningSwitch& running, const EcmpGroup& group) {
    return group.load_balance.value_or(running.config().load_balance.mode);
}

// True when some of its packets may be balanced by more than their hash.
bool is_balanced(const RunningSwitch& running, const EcmpGroup& group) {
    if (group.load_balance) return *group.load_balance != LoadBalance::hash;
    return running.device().policy().balance.balances();
}

struct MemberSource {
    RunningSwitch& running;
    const EcmpGroup::Member& member;
};

FIGURE_ROWS(member_rows, MemberSource, "ecmp.{group}.members.{member}") = {
#include "control/report/figures/rows/ecmp_member.def"
};

struct BalanceSource {
    LoadBalance mode;
    BalanceCounts counts;
};

FIGURE_ROWS(balance_rows, BalanceSource, "ecmp.{group}.balance") = {
#include "control/report/figures/rows/ecmp_balance.def"
};

Json balance_json(RunningSwitch& running, const EcmpGroup& group) {
    return json_of(balance_rows, {mode_of(running, group), running.device().balance_counts(group.number)});
}

// The quality of a port for its queues, and the part of its speed that it used of late.
Json quality_json(RunningSwitch& running, PortId port) {
    constexpr std::uint64_t million = 1'000'000;
    const Switch& device = running.device();
    const Policy& policy = device.policy();
    const PortLoad& load = device.load(port);
    const Duration byte_time = policy.ports[port].speed.byte_time();
    const LoadScale& scale = policy.balance.scale;
    const auto interval = static_cast<std::uint64_t>(scale.interval.ps);
    const std::uint64_t busy =
        load.sent_bytes(running.now(), scale) * static_cast<std::uint64_t>(byte_time.ps) / LoadScale::average;
    Json bands = Json::array(), stopped = Json::array();
    std::uint64_t queued = 0;
    for (ClassId queue = 0; queue < classes; ++queue) {
        const LinkQuality quality = device.quality(port, queue, running.now());
        bands.push_back(quality.band());
        if (quality.is_stopped) stopped.push_back(queue);
        queued += load.queued_bytes(queue);
    }
    return {{"up", device.link_up(port)},
            {"load_ppm", std::min(busy * million / interval, million)},
            {"queued_bytes", queued},
            {"bands", std::move(bands)},
            {"stopped_queues", std::move(stopped)}};
}

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

Json workers_json(RunningSwitch& running) {
    Switch& device = running.device();
    Json list = Json::array();
    for (WorkerId id = 0; id < device.worker_count(); ++id) {
        WorkerSource worker{{}, device.traffic(id)};
        for (const PortId port : device.own_ports(id)) worker.ports.push_back(running.port_names()[port]);
        Json json = json_of(worker_rows, worker);
        if (!running.is_virtual())
            add_rows(json, turn_rows, {device.turns(id), *device.reactions(id), device.meter(id)});
        list.push_back(std::move(json));
    }
    return list;
}

Json ecmp_json(RunningSwitch& running) {
    Json json = Json::object();
    for (const EcmpGroup& group : running.routes().ecmp()) {
        Json members = Json::array();
        for (const auto& member : group.members) members.push_back(json_of(member_rows, {running, member}));
        json[group.name] = {{"members", std::move(members)}};
        if (is_balanced(running, group)) json[group.name]["balance"] = balance_json(running, group);
    }
    return json;
}

Json groups_json(RunningSwitch& running) {
    Json json = Json::array();
    const bool known = running.device().policy().balance.active;
    const RemoteQuality* const remote = running.device().policy().balance.remote;
    for (const EcmpGroup& group : running.routes().ecmp()) {
        Json members = Json::array();
        for (const auto& member : group.members) {
            members.push_back(json_of(member_rows, {running, member}));
            if (known) members.back().update(quality_json(running, member.port));
            if (remote != nullptr)
                members.back()["told_bands"] = remote->bands(member.port, group.number, running.now());
        }
        json.push_back({{"group", group.name}, {"number", group.number}});
        json.back().update(balance_json(running, group));
        json.back()["members"] = std::move(members);
    }
    return json;
}

}  // namespace sluice
