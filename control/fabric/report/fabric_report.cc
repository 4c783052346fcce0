#include "control/fabric/report/fabric_report.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/fabric/plan/host_path.hh"
#include "control/fabric/report/balance.hh"
#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/report/timeline.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/verdict.hh"
#include "dataplane/ports/port_counters.hh"
#include "lib/pfc/pfc_honor.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// Moves the members of `from` behind those of `to`; update() copies them.
void add_to(Json& to, Json from) {
    make_room(to, to.size() + from.size());
    for (auto& [key, value] : from.items()) to[key] = std::move(value);
}

Json ledger_json(const Fabric& fabric) {
    const Fabric::Ledger ledger = fabric.ledger();
    Json by_place = Json::object();
    for (const auto& [place, reasons] : fabric.losses())
        for (const auto& [reason, frames] : reasons) by_place[place][reason] = frames;
    return {{"sent", ledger.sent},
            {"made", ledger.made},
            {"added", ledger.added},
            {"delivered", ledger.delivered},
            {"consumed", ledger.consumed},
            {"dropped", ledger.dropped},
            {"punted", ledger.punted},
            {"missed", ledger.missed},
            {"overrun", ledger.overrun},
            {"lost_on_wire", ledger.lost_on_wire},
            {"lost_into_cut", ledger.lost_into_cut},
            {"lost_by_fault", ledger.lost_by_fault},
            {"queued", ledger.queued},
            {"on_wire", ledger.on_wire},
            {"balanced", ledger.balanced()},
            {"dropped_by", std::move(by_place)}};
}

// Of all switches and cables: a lossless packet that is lost anywhere is lost.
RunVerdict judge_fabric(const Fabric& fabric) {
    RunVerdict verdict;
    verdict.counts_each_switch = true;
    for (const FabricSwitch& each : fabric.switches()) {
        const RunVerdict own = judge_run(*each.running);
        verdict.lossless_packets += own.lossless_packets;
        verdict.lost_packets += own.lost_packets;
        verdict.missed_packets += own.missed_packets;
        for (const std::string& reason : own.reasons)
            verdict.reasons.push_back(fmt::format("{}: {}", each.plan->name, reason));
    }
    const auto& links = fabric.plan().topology.links;
    for (LinkId id = 0; id < links.size(); ++id) {
        const std::uint64_t here = fabric.lossless_lost(id);
        verdict.lost_packets += here;
        if (here != 0)
            verdict.reasons.push_back(fmt::format("{}: {} lost on the cable or at its host", links[id].name,
                                                  print_count(here, "lossless packet")));
    }
    return verdict;
}

// Of a group of links that share what they carry: as of one.
LinkUse use_of(const Fabric& fabric, const PathHop& hop) {
    LinkUse sum;
    for (const LinkId id : hop.links) {
        const Link& link = fabric.plan().topology.links[id];
        const unsigned from = link.ends[0].node == hop.from ? 0 : 1;
        const bool is_host = fabric.plan().topology.nodes[hop.from].is_host;
        const LinkEnd& end = link.ends[is_host ? 1 - from : from];
        const FabricSwitch& at = fabric.switches()[fabric.plan().switch_of[end.node]];
        const PortId port = at.ports->id_of(end.port);
        const LinkUse use = is_host ? received_on(*at.running, port) : sent_on(*at.running, port);
        sum.speed.bits_per_second += use.speed.bits_per_second;
        sum.wire_bytes += use.wire_bytes;
    }
    return sum;
}

ToldSymptoms symptoms_among(const Fabric& fabric) {
    const FabricPlan& plan = fabric.plan();
    std::vector<ReportedHost> hosts;
    for (const FabricSwitch& each : fabric.switches())
        for (const auto& [name, host] : each.running->config().hosts)
            hosts.push_back({name, &host, &fabric.host(plan.nodes.at(name))});
    return transfer_symptoms(hosts, [&](const std::string& from, const std::string& to) {
        LinkUse busiest{Rate{1}, 0};
        for (const PathHop& hop : hops_between(plan, plan.nodes.at(from), plan.nodes.at(to)))
            busiest = busier(use_of(fabric, hop), busiest);
        return busiest;
    });
}

// The frames that one end of a link has sent, and how long the other has paused it.
Json direction_json(const Fabric& fabric, const Link& link, unsigned from, Time now) {
    const LinkEnd& sender = link.ends[from];
    const LinkEnd& receiver = link.ends[1 - from];
    const Node& node = fabric.plan().topology.nodes[sender.node];
    Json json = {{"from", node.name}, {"to", fabric.plan().topology.nodes[receiver.node].name}};
    std::uint64_t packets = 0, bytes = 0;
    Json paused = Json::object();
    const auto add_paused = [&](ClassId n, Duration time) {
        if (time.ps != 0) paused[std::to_string(n)] = time.ps / 1000;
    };
    if (node.is_host) {
        const FabricSwitch& leaf = fabric.switches()[fabric.plan().switch_of[sender.node]];
        const PortView port = leaf.running->device().view(leaf.ports->id_of(receiver.port));
        packets = port.received([](const ReceiveCounters& queue) { return queue.rx.packets.get(); });
        bytes = port.received([](const ReceiveCounters& queue) { return queue.rx.bytes.get(); });
        const HostPort& host = fabric.host(sender.node);
        for (ClassId n = 0; n < classes; ++n) add_paused(n, host.paused_time(n, now));
    } else {
        const FabricSwitch& self = fabric.switches()[fabric.plan().switch_of[sender.node]];
        const PortView port = self.running->device().view(self.ports->id_of(sender.port));
        packets = port.counters().tx.packets.get();
        bytes = port.counters().tx.bytes.get();
        for (ClassId n = 0; n < classes; ++n) add_paused(n, port.honor().paused_time(n, now));
    }
    const std::uint64_t wire = bytes + packets * wire_overhead_bytes;
    const double capacity = static_cast<double>(now.ps) / static_cast<double>(link.speed.byte_time().ps);
    json["packets"] = packets;
    json["bytes"] = bytes;
    json["load_ppm"] =
        now.ps == 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(wire) * 1e6 / capacity);
    json["paused_ns"] = std::move(paused);
    return json;
}

Json links_json(const Fabric& fabric, Time now) {
    Json json;
    const auto& links = fabric.plan().topology.links;
    make_room(json, links.size());
    for (LinkId id = 0; id < links.size(); ++id) {
        const Link& link = links[id];
        Json one = {
            {"speed_bps", link.speed.bits_per_second},
            {"cable_m", link.cable_m},
            {"cut", fabric.is_cut(id)},
            {"directions", {direction_json(fabric, link, 0, now), direction_json(fabric, link, 1, now)}}};
        for (unsigned from = 0; from < 2; ++from) {
            const WireLosses lost = fabric.wire_losses(id, 1 - from);
            one["directions"][from]["lost_on_wire"] = lost.on_wire;
            one["directions"][from]["lost_into_cut"] = lost.into_cut;
        }
        json[link.name] = std::move(one);
    }
    return json;
}

// The flows of the file, as sluiced's report wants them.
Config world_of(const Fabric& fabric) {
    Config world;
    world.flows = fabric.plan().file.flows;
    return world;
}

std::vector<const HostPort*> hosts_of(const Fabric& fabric) {
    std::vector<const HostPort*> hosts;
    for (NodeId node = 0; node < fabric.plan().topology.nodes.size(); ++node)
        if (fabric.plan().topology.nodes[node].is_host) hosts.push_back(&fabric.host(node));
    return hosts;
}

Json flows_json(const Fabric& fabric, Time now) {
    Json list = Json::array();
    Json by_name = sluice::flows_json(world_of(fabric), hosts_of(fabric), now);
    for (auto& [name, flow] : by_name.items()) {
        Json one = {{"name", name}};
        add_to(one, std::move(flow));
        list.push_back(std::move(one));
    }
    return list;
}

Json events_json(const Fabric& fabric) {
    Json events = Json::array();
    for (const FabricEvent& event : fabric.events())
        events.push_back({{"at_ns", event.at.ps / 1000}, {"kind", event.kind}, {"text", event.text}});
    return events;
}

// What a report begins with.
Json head_json(const Fabric& fabric, bool interrupted) {
    Json report;
    make_room(report, 24);
    const FabricConfig& file = fabric.plan().file;
    report["fabric"] = file.file.substr(file.file.rfind('/') + 1);
    report["name"] = file.scenario.name;
    report["question"] = file.scenario.question;
    report["seed"] = file.seed;
    report["end_ns"] = fabric.now().ps / 1000;
    report["verdict"] = verdict_json(judge_fabric(fabric), interrupted);
    return report;
}

}  // namespace

std::vector<roce::FlowStatistics> flow_statistics(const Fabric& fabric) {
    return sluice::flow_statistics(world_of(fabric), hosts_of(fabric));
}

Json figures_json(Fabric& fabric) {
    const Time now = fabric.now();
    Json report;
    make_room(report, 8);
    report["ledger"] = ledger_json(fabric);
    make_room(report["hosts"], fabric.plan().topology.nodes.size());
    const ToldSymptoms told = symptoms_among(fabric);
    for (const FabricSwitch& each : fabric.switches()) {
        Json behind = hosts_json(*each.running, told);
        for (auto& [name, host] : behind.items()) {
            Json one = {{"switch", each.plan->name}};
            add_to(one, std::move(host));
            report["hosts"][name] = std::move(one);
        }
    }
    report["flows"] = flows_json(fabric, now);
    report["collectives"] = collectives_json(fabric);
    report["links"] = links_json(fabric, now);
    make_room(report["switches"], fabric.switches().size());
    for (FabricSwitch& each : fabric.switches()) {
        Json one = {{"tier", fabric.plan().topology.nodes[each.plan->node].tier}};
        add_to(one, sluice::make_report(*each.running));
        report["switches"][each.plan->name] = std::move(one);
    }
    return report;
}

Json make_overview(Fabric& fabric) {
    Json report = head_json(fabric, false);
    report["ledger"] = ledger_json(fabric);
    report["flows"] = flows_json(fabric, fabric.now());
    report["collectives"] = collectives_json(fabric);
    report["links"] = links_json(fabric, fabric.now());
    report["balance"] = balance_json(fabric.plan(), report["links"]);
    make_room(report["switches"], fabric.switches().size());
    for (FabricSwitch& each : fabric.switches()) {
        Json one = {{"tier", fabric.plan().topology.nodes[each.plan->node].tier}};
        add_to(one, make_short_report(*each.running));
        report["switches"][each.plan->name] = std::move(one);
    }
    report["events"] = events_json(fabric);
    return report;
}

Json make_report(Fabric& fabric, bool interrupted) {
    Json report = head_json(fabric, interrupted);
    add_to(report, figures_json(fabric));
    report["balance"] = balance_json(fabric.plan(), report["links"]);
    report["pauses"] = pauses_json(fabric);
    report["pauses_left_out"] =
        fabric.pauses().pauses().size() + fabric.pauses().left_out() - report["pauses"].size();
    report["pause_trees"] = pause_trees_json(fabric);
    report["pause_cycles"] = pause_cycles_json(fabric);
    report["pause_timeline"] = timeline_json(fabric);
    report["events"] = events_json(fabric);
    return report;
}

}  // namespace sluice::fabric
