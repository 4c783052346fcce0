#include "control/fabric/report/fabric_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/report/schedule_report.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/verdict.hh"
#include "dataplane/ports/port_counters.hh"
#include "lib/pfc/pfc_honor.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// `from` behind the members of `to`; update() copies it.
Json extended(Json to, Json from) {
    make_room(to, to.size() + from.size());
    for (auto& [key, value] : from.items()) to[key] = std::move(value);
    return to;
}

struct LedgerSource : Fabric::Ledger {
    Fabric::Losses losses;
};

FIGURE_ROWS(ledger_figures, LedgerSource, "ledger") = {
#include "control/report/figures/rows/fabric/ledger.def"
};

Json ledger_json(const Fabric& fabric) { return json_of(ledger_figures, {fabric.ledger(), fabric.losses()}); }

// The verdict on all switches and cables.
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

// The use of a group of links that share their load, as of one link.
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

struct LinkSource {
    const Fabric& fabric;
    LinkId id;
    Time now;
    const Link& link = fabric.plan().topology.links[id];
    const Node& node(const LinkEnd& end) const { return fabric.plan().topology.nodes[end.node]; }
};

struct DirectionSource {
    const LinkSource& of;
    unsigned end;
    const LinkEnd& sender = of.link.ends[end];
    const LinkEnd& receiver = of.link.ends[1 - end];
    const Node& from = of.node(sender);
    const Node& to = of.node(receiver);
    WireLosses lost = of.fabric.wire_losses(of.id, 1 - end);
    const LinkEnd& counted = from.is_host ? receiver : sender;  // at a switch
    const FabricSwitch& device = of.fabric.switches()[of.fabric.plan().switch_of[counted.node]];
    PortView port = device.running->device().view(device.ports->id_of(counted.port));
    std::uint64_t packets = count(&Traffic::packets);
    std::uint64_t bytes = count(&Traffic::bytes);

    std::uint64_t count(Counter Traffic::*what) const {
        if (!from.is_host) return (port.counters().tx.*what).get();
        return port.received([&](const ReceiveCounters& queue) { return (queue.rx.*what).get(); });
    }
    std::uint64_t load_ppm() const {
        if (of.now.ps == 0) return 0;
        const std::uint64_t wire = bytes + packets * wire_overhead_bytes;
        const double capacity =
            static_cast<double>(of.now.ps) / static_cast<double>(of.link.speed.byte_time().ps);
        return static_cast<std::uint64_t>(static_cast<double>(wire) * 1e6 / capacity);
    }
    Json paused_ns() const {
        Json paused = Json::object();
        for (ClassId n = 0; n < classes; ++n) {
            const Duration time = from.is_host ? of.fabric.host(sender.node).paused_time(n, of.now)
                                               : port.honor().paused_time(n, of.now);
            if (time.ps != 0) paused[std::to_string(n)] = ns(time);
        }
        return paused;
    }
};

FIGURE_ROWS(direction_figures, DirectionSource, "links.{link}.directions.{direction}") = {
#include "control/report/figures/rows/fabric/link_direction.def"
};

Json directions_json(const LinkSource& link) {
    return {json_of(direction_figures, {link, 0}), json_of(direction_figures, {link, 1})};
}

FIGURE_ROWS(link_figures, LinkSource, "links.{link}") = {
#include "control/report/figures/rows/fabric/link.def"
};

Json links_json(const Fabric& fabric) {
    Json json;
    const auto& links = fabric.plan().topology.links;
    make_room(json, links.size());
    for (LinkId id = 0; id < links.size(); ++id)
        json[links[id].name] = json_of(link_figures, {fabric, id, fabric.now()});
    return json;
}

FIGURE_ROWS(flow_name_figures, std::string, "flows.{flow}") = {
#include "control/report/figures/rows/fabric/flow.def"
};

Json flows_json(const Fabric& fabric) {
    Json list = Json::array();
    Json by_name = sluice::flows_json(fabric.plan().world(), fabric.hosts(), fabric.now());
    for (auto& [name, flow] : by_name.items())
        list.push_back(extended(json_of(flow_name_figures, name), std::move(flow)));
    return list;
}

FIGURE_ROWS(host_figures, FabricSwitch, "hosts.{host}") = {
#include "control/report/figures/rows/fabric/host.def"
};

Json hosts_json(const Fabric& fabric) {
    Json json;
    make_room(json, fabric.plan().topology.nodes.size());
    const ToldSymptoms told = symptoms_among(fabric);
    for (const FabricSwitch& each : fabric.switches()) {
        Json behind = sluice::hosts_json(*each.running, told);
        for (auto& [name, host] : behind.items())
            json[name] = extended(json_of(host_figures, each), std::move(host));
    }
    return json;
}

FIGURE_ROWS(tier_figures, Node, "switches.{switch}") = {
#include "control/report/figures/rows/fabric/switch.def"
};

Json switches_json(Fabric& fabric, Json (*report_of)(RunningSwitch&)) {
    Json json;
    make_room(json, fabric.switches().size());
    for (FabricSwitch& each : fabric.switches())
        json[each.plan->name] = extended(json_of(tier_figures, fabric.plan().topology.nodes[each.plan->node]),
                                         report_of(*each.running));
    return json;
}

struct FabricEventSource {
    const FabricEvent& event;
};

FIGURE_ROWS(event_figures, FabricEventSource, "events.[]") = {
#include "control/report/figures/rows/any_event.def"
};

Json events_json(const Fabric& fabric) {
    Json events = Json::array();
    for (const FabricEvent& event : fabric.events()) events.push_back(json_of(event_figures, {event}));
    return events;
}

FIGURE_ROWS(pauses_figures, Fabric, "") = {
#include "control/report/figures/rows/fabric/pauses.def"
};

struct HeadSource {
    const Fabric& fabric;
    bool is_interrupted;
    const FabricConfig& file = fabric.plan().file;
};

FIGURE_ROWS(head_figures, HeadSource, "") = {
#include "control/report/figures/rows/fabric/head.def"
};

// The first members of a report.
Json head_json(const Fabric& fabric, bool is_interrupted) {
    Json report;
    make_room(report, 32);  // those that come later, too: the report is copied where they do not fit
    add_rows(report, head_figures, {fabric, is_interrupted});
    return report;
}

// The cable by which each neighbor of a switch is reached.
std::map<IpAddress, LinkId> neighbors_of(const FabricPlan& plan, NodeId node) {
    std::map<IpAddress, LinkId> neighbors;
    for (const LinkId id : plan.topology.nodes[node].links) {
        const auto& ends = plan.topology.links[id].ends;
        const unsigned far = ends[0].node == node ? 1 : 0;
        if (!plan.topology.nodes[ends[far].node].is_host) neighbors[plan.addresses.address(id, far)] = id;
    }
    return neighbors;
}

struct BalanceSource {
    const SwitchPlan& self;
    unsigned tier;
    std::vector<std::string> links{};
    std::vector<double> loads{};
};

// Null: there is no load.
Json permille_or_null(FigureFunction function, const std::vector<double>& loads) {
    if (std::ranges::all_of(loads, [](double load) { return load == 0; })) return nullptr;
    return static_cast<std::uint64_t>(std::llround(fold(function, loads) * 1000));
}

FIGURE_ROWS(balance_figures, BalanceSource, "balance.{group}") = {
#include "control/report/figures/rows/fabric/balance.def"
};

Json group_json(const FabricPlan& plan, const SwitchPlan& self, const std::set<LinkId>& members,
                const Json& links) {
    BalanceSource source{self, plan.topology.nodes[self.node].tier};
    for (const LinkId id : members) {
        const Link& link = plan.topology.links[id];
        const unsigned from = link.ends[0].node == self.node ? 0 : 1;
        source.links.push_back(link.name);
        source.loads.push_back(links[link.name]["directions"][from]["load_ppm"].get<double>());
    }
    return json_of(balance_figures, source);
}

// An entry for every set of cables among which a switch chooses by the plan's first routes, the most uneven
// first. `links`: of the report; the load of other routes on these cables counts, too.
Json balance_json(const FabricPlan& plan, const Json& links) {
    std::vector<Json> groups;
    for (const SwitchPlan& self : plan.switches) {
        const auto neighbors = neighbors_of(plan, self.node);
        std::set<std::set<LinkId>> seen;
        for (const RouteConfig& route : *self.config.routes) {
            std::set<LinkId> members;
            for (const auto& via : route.via)
                if (const auto found = neighbors.find(via.address); found != neighbors.end())
                    members.insert(found->second);
            if (members.size() > 1 && seen.insert(members).second)
                groups.push_back(group_json(plan, self, members, links));
        }
    }
    const auto unevenness = [](const Json& group) {
        return group["max_over_mean_permille"].is_null() ? 0
                                                         : group["max_over_mean_permille"].get<unsigned>();
    };
    std::ranges::stable_sort(groups, std::greater(), unevenness);
    return groups;
}

}  // namespace

std::vector<roce::FlowStatistics> flow_statistics(const Fabric& fabric) {
    return sluice::flow_statistics(fabric.plan().world(), fabric.hosts());
}

Json figures_json(Fabric& fabric) {
    Json report;
    make_room(report, 8);
    report["ledger"] = ledger_json(fabric);
    report["hosts"] = hosts_json(fabric);
    report["flows"] = flows_json(fabric);
    report["collectives"] = collectives_json(fabric);
    report["links"] = links_json(fabric);
    report["switches"] = switches_json(fabric, sluice::make_report);
    return report;
}

Json make_overview(Fabric& fabric) {
    Json report = head_json(fabric, false);
    report["ledger"] = ledger_json(fabric);
    report["flows"] = flows_json(fabric);
    report["collectives"] = collectives_json(fabric);
    report["schedules"] = schedules_json(fabric);
    report["links"] = links_json(fabric);
    report["balance"] = balance_json(fabric.plan(), report["links"]);
    report["switches"] = switches_json(fabric, make_short_report);
    report["events"] = events_json(fabric);
    return report;
}

Json make_report(Fabric& fabric, bool interrupted) {
    Json report = extended(head_json(fabric, interrupted), figures_json(fabric));
    report["balance"] = balance_json(fabric.plan(), report["links"]);
    add_rows(report, pauses_figures, fabric);
    report["events"] = events_json(fabric);
    return report;
}

}  // namespace sluice::fabric
