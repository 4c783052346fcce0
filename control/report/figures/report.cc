#include "control/report/figures/report.hh"

#include "control/config/compile/compile.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/group_report.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_observation.hh"
#include "control/report/figures/report_port.hh"
#include "control/report/figures/report_wires.hh"
#include "control/report/figures/verdict.hh"
#include "control/report/figures/workers.hh"
#include "control/switch/kernel/kernel_control.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/pool_use.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json ledger_json(const Ledger& ledger) {
    return {{"rx", ledger.rx},
            {"injected", ledger.injected},
            {"generated", ledger.generated},
            {"tx", ledger.tx},
            {"dropped", ledger.dropped},
            {"punted", ledger.punted},
            {"consumed", ledger.consumed},
            {"queued", ledger.queued},
            {"balanced", ledger.balanced()}};
}

// The kernel's part of the switch.
Json kernel_json(const KernelControl& kernel, Switch& device) {
    const KernelMirror& mirror = kernel.mirror();
    std::uint64_t lost = 0;
    for (unsigned w = 0; w < device.worker_count(); ++w)
        if (const auto* ring = device.unresolved(static_cast<WorkerId>(w))) lost += ring->lost.get();
    return {{"routes", mirror.tables().routes()},
            {"routes_elsewhere", mirror.tables().routes_elsewhere()},
            {"throws", mirror.tables().throws()},
            {"routes_by_tos", mirror.tables().routes_by_tos()},
            {"routes_by_source", mirror.tables().routes_by_source()},
            {"rules", mirror.tables().rules()},
            {"neighbors", mirror.tables().neighbors()},
            {"refused", kernel.refused()},
            {"asks", kernel.asks()},
            {"asks_lost", lost},
            {"overruns", mirror.overruns()},
            {"resyncs", mirror.resyncs()}};
}

Json pools_json(RunningSwitch& running) {
    Json json = Json::object();
    const auto bytes = [cell = running.config().cell_bytes](auto cells) {
        return static_cast<std::uint64_t>(cells) * cell;
    };
    for (const EffectivePool& pool : running.qos().pools) {
        const bool ingress = pool.direction == PoolDirection::ingress;
        Switch& device = running.device();
        const PoolUse& use = ingress ? device.ingress_use(pool.index) : device.egress_use(pool.index);
        json[pool.name] = {{"direction", ingress ? "ingress" : "egress"},
                           {"size_bytes", bytes(pool.size_cells)},
                           {"shared_bytes", bytes(pool.shared_cells)},
                           {"used_bytes", bytes(use.shared.get())},
                           {"watermark_bytes", bytes(use.shared_watermark.persistent())},
                           {"user_watermark_bytes", bytes(use.shared_watermark.user())},
                           {"headroom_size_bytes", bytes(pool.headroom_cells)},
                           {"headroom_used_bytes", bytes(use.headroom.get())},
                           {"headroom_watermark_bytes", bytes(use.headroom_watermark.persistent())},
                           {"user_headroom_watermark_bytes", bytes(use.headroom_watermark.user())}};
    }
    return json;
}

// The switch's time 0 on the captures' clock, and the time left out of their gaps: from `at_ns` on the stamp
// is stamp_ns + (time - at_ns).
Json captures_json(const CaptureTimeline& timeline) {
    constexpr std::size_t most_gaps = 1000;
    Json gaps = Json::array();
    for (std::size_t i = 1; i < timeline.pieces().size() && i <= most_gaps; ++i)
        gaps.push_back({{"at_ns", timeline.pieces()[i].at_ns},
                        {"stamp_ns", timeline.pieces()[i].first_ns},
                        {"removed_ns", timeline.pieces()[i - 1].removed_ns()}});
    return {{"origin_ns", timeline.origin_ns()},
            {"shortened_gaps", timeline.shortened_gaps()},
            {"removed_ns", timeline.removed_ns()},
            {"gaps", std::move(gaps)}};
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
    Json json = {{"at_ns", event.at.ps / 1000}, {"kind", event.kind}, {"text", event.text}};
    if (event.link)
        json.update({{"port", running.port_names()[event.link->port]},
                     {"cause", to_string(event.link->is_up() ? event.link->before : event.link->cause)},
                     {"lasted_ns", event.link->lasted.ps / 1000}});
    if (event.watchdog)
        json.update({{"port", running.port_names()[event.watchdog->port]},
                     {"queue", event.watchdog->queue},
                     {"action", event.watchdog->action},
                     {"passed_packets", event.watchdog->passed},
                     {"dropped_packets", event.watchdog->dropped}});
    if (event.of_class) {
        json.update(
            {{"port", running.port_names()[event.of_class->port]}, {"priority", event.of_class->priority}});
        if (!event.of_class->begins)
            json.update({{"lossless", event.of_class->lossless}, {"lost_packets", event.of_class->lost}});
    }
    return json;
}

Json make_short_report(RunningSwitch& running) {
    Switch& device = running.device();
    return {{"verdict", verdict_json(judge_run(running), running.is_interrupted())},
            {"ledger", ledger_json(running.is_live() ? device.counted() : device.ledger())}};
}

Json make_report(RunningSwitch& running) {
    Switch& device = running.device();
    Json report;
    make_room(report, 24);
    report["clock"] = running.is_virtual() ? "virtual" : "real";
    report["seed"] = running.config().seed;
    report["end_ns"] = running.now().ps / 1000;
    const RunVerdict verdict = judge_run(running);
    report["lossless"] = verdict.reasons.empty();
    report["verdict"] = verdict_json(verdict, running.is_interrupted());
    report["ledger"] = ledger_json(running.is_live() ? device.counted() : device.ledger());
    make_room(report["ports"], device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id)
        report["ports"][running.port_names()[id]] = port_json(running, id);
    report["hosts"] = hosts_json(running);
    report["flows"] = flows_json(running);
    report["wires"] = wires_json(running);
    report["pools"] = pools_json(running);
    // Under the virtual clock a report says nothing that depends on the number of workers.
    if (running.is_virtual()) report["captures"] = captures_json(running.timeline());
    if (!running.is_virtual()) report["workers"] = workers_json(running);
    report["watchdog"] = watchdog_json(device, running.port_names());
    report["decisions"] = decisions_json(running.observation(), device);
    if (Json mirrors = mirrors_json(running.mirrors()); !mirrors.empty())
        report["mirrors"] = std::move(mirrors);
    report["microbursts"] = microbursts_json(running.observation());
    report["microbursts_left_out"] = running.observation().microbursts_left_out();
    report["ecmp"] = ecmp_json(running);
    if (running.kernel() != nullptr) report["kernel"] = kernel_json(*running.kernel(), device);
    report["events"] = Json::array();
    for (const SwitchEvent& event : running.event_log())
        report["events"].push_back(event_json(running, event));
    report["events_lost"] = running.event_log().lost();
    return report;
}

}  // namespace sluice
