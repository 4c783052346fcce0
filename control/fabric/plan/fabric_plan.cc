#include "control/fabric/plan/fabric_plan.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/compile/compile.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/drawn_flows.hh"
#include "control/fabric/plan/plan_names.hh"
#include "dataplane/base/described.hh"
#include "dataplane/base/packet_pool.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_named = 1'000'000;
constexpr std::uint64_t max_steps = 4'000'000;  // of hosts in collectives
constexpr std::size_t fib_tables = 256;         // the least
constexpr std::array<std::string_view, 5> of_topology{"device", "speed", "cable", "mac", "address"};

class Planner : PlanNames {
  public:
    Planner(FabricPlan& plan, const Stage& stage)
        : PlanNames(plan), plan_(plan), file_(plan.file), stage_(stage) {}

    std::vector<ConfigError> plan() {
        if (!make_topology()) return std::move(errors());
        for (NodeId node = 0; node < plan_.topology.nodes.size(); ++node)
            plan_.nodes.emplace(plan_.topology.nodes[node].name, node);
        for (NodeId node = 0; node < plan_.topology.nodes.size(); ++node)
            if (plan_.topology.nodes[node].is_host) plan_.hosts.push_back(node);
        plan_.addresses = AddressPlan(plan_.topology);
        check_names();
        expand_flows();
        if (!place_jobs(plan_, *this)) return std::move(errors());
        expand_collectives();
        read_workloads(plan_, *this, stage_);
        if (errors().empty()) make_switches();
        if (errors().empty()) {
            for (std::size_t n = 0; n < plan_.collectives.size(); ++n) check_collective(n);
            check_workloads(plan_, *this);
        }
        return std::move(errors());
    }

  private:
    bool make_topology() {
        if (file_.topology && (!file_.nodes.empty() || !file_.links.empty())) {
            refuse({}, "topology", "the file has nodes or links of its own, too", "leave one out");
            return false;
        }
        if (!file_.topology && file_.nodes.empty()) {
            refuse({}, "topology", "there is none", "write [topology] with a kind, or [[node]] and [[link]]");
            return false;
        }
        auto made = file_.topology ? fabric::make_topology(*file_.topology)
                                   : fabric::make_topology(file_.nodes, file_.links);
        if (!made) {
            refuse({}, {}, made.error(), {});
            return false;
        }
        plan_.topology = std::move(*made);
        return true;
    }

    void check_names() {
        for (const auto& [name, config] : file_.switches)
            if (!is(name, false)) unknown(place_of(config), "switch." + config_key(name), name, false);
        for (const auto& [name, host] : file_.hosts)
            if (!is(name, true)) unknown(host.place, "host." + config_key(name), name, true);
    }
    static SourcePlace place_of(const Config& config) {
        return config.source.places.empty() ? SourcePlace{} : config.source.places.begin()->second;
    }

    void expand_flows() {
        for (std::size_t n = 0; n < file_.flows.size(); ++n) {
            FlowConfig& flow = file_.flows[n];
            const std::string path = fmt::format("flow[{}]", n);
            const bool is_random = !is("random", true) && take_random(flow);
            const bool is_drawn = is_random || flow.incast || flow.every;
            if (is_drawn) drawn_.push_back({static_cast<std::uint32_t>(n), is_random});
            flow.from = expand(flow.from, flow.place, path + ".from");
            flow.to = expand(flow.to, flow.place, path + ".to");
            named_ += flow.from.size() + flow.to.size();
            if (named_ > max_named)
                return refuse(flow.place, path,
                              fmt::format("flows name more than {} hosts in all", max_named),
                              "write fewer flows");
            if (!is_drawn &&
                !count_pairs(std::uint64_t{flow.qps} * flow.from.size() * flow.to.size(), flow.place, path))
                return;
        }
        if (errors().empty()) errors() = draw_flows(plan_, drawn_);
    }

    void expand_collectives() {
        for (const FlowConfig& flow : file_.flows) know(flow.name);
        for (std::size_t n = 0; n < file_.collectives.size(); ++n) {
            CollectiveConfig& each = file_.collectives[n];
            const std::string path = fmt::format("collective[{}]", n);
            if (each.name.empty()) each.name = to_string(each.kind);
            if (!take_name(each.name, each.place, path)) return;
            each.hosts = expand(each.hosts, each.place, path + ".hosts");
            if (!errors().empty()) return;
            job_of(plan_, n, &JobPlan::collectives).hosts = each.hosts;
            if (std::string wrong = order_ranks(each, file_.seed); !wrong.empty())
                return refuse(each.place, path, wrong);
            steps_ += std::uint64_t{each.steps} * each.hosts.size();
            if (steps_ > max_steps)
                return refuse(each.place, path,
                              fmt::format("collectives have more than {} steps of hosts in all", max_steps),
                              "write fewer steps");
            const roce::CollectiveSettings& settings = each;
            const auto flow = static_cast<std::uint32_t>(file_.flows.size());
            CollectivePlan plan{settings, flow, each.hosts, {}, each.control_class};
            const bool has_control = each.control_bytes != 0;
            std::uint64_t pairs = 0;
            for (std::uint32_t rank = 0; rank < each.ranks; ++rank)
                for (const roce::Strand& strand : roce::strands_of(settings, rank))
                    pairs += (each.queue_pairs + (has_control ? 1U : 0U)) * strand.targets.size();
            if (!count_pairs(pairs, each.place, path)) return;
            file_.flows.push_back(flow_of(each));
            if (has_control) {
                plan.control_flow = flow + 1;
                file_.flows.push_back(control_flow_of(each));
                if (!take_name(file_.flows.back().name, each.place, path)) return;
            }
            plan_.collectives.push_back(std::move(plan));
        }
    }

    void check_collective(std::size_t n) {
        const std::optional<ClassId> tc = plan_.collectives[n].control_class;
        if (!tc) return;
        for (const std::string& host : plan_.collectives[n].hosts)
            if (!check_class(plan_, plan_.nodes.at(host), *tc, file_.collectives[n].place,
                             fmt::format("collective[{}].control_class", n), *this, {},
                             "map a DSCP to it there, or write another class"))
                return;
    }

    void make_switches() {
        plan_.switch_of.resize(plan_.topology.nodes.size());
        for (NodeId node = 0; node < plan_.topology.nodes.size(); ++node) {
            if (plan_.topology.nodes[node].is_host) continue;
            stage_("switches", node, plan_.topology.nodes.size());
            plan_.switch_of[node] = plan_.switches.size();
            for (const LinkId link : plan_.topology.nodes[node].links)
                if (const NodeId other = plan_.topology.links[link].beyond(node).node;
                    plan_.topology.nodes[other].is_host)
                    plan_.switch_of[other] = plan_.switches.size();
            plan_.switches.push_back({plan_.topology.nodes[node].name, node, make_switch(node)});
        }
        if (!errors().empty()) return;
        auto routes = routes_without(plan_, {}, stage_);
        for (std::size_t n = 0; n < routes.size(); ++n)
            for (RouteConfig& route : routes[n]) add(plan_.switches[n].config, std::move(route));
    }

    Config make_switch(NodeId node) {
        const Node& self = plan_.topology.nodes[node];
        Config config = file_.switch_config(self.name);
        config.seed = file_.seed;
        if (config.source.find("hash_seed").line == 0)
            config.hash_seed = scramble(file_.seed ^ (std::uint64_t{node} << 32));
        if (config.source.find("fib.ipv4_tables").line == 0) config.fib.ipv4_tables = fib_tables;
        if (config.source.find("fib.ipv6_tables").line == 0) config.fib.ipv6_tables = fib_tables;
        std::set<std::string> own;
        for (const LinkId id : self.links) {
            const Link& link = plan_.topology.links[id];
            const unsigned here = link.end_at(node);
            const std::string& name = link.ends[here].port;
            own.insert(name);
            PortConfig& port = config.ports.try_emplace(name, config.port_defaults).first->second;
            refuse_said(config, self.name, name);
            port.speed = link.speed;
            port.cable_m = link.cable_m;
            port.mac = plan_.addresses.mac(id, here);
            port.address = {plan_.addresses.interface(id, here)};
            const Node& other = plan_.topology.nodes[link.beyond(node).node];
            if (other.is_host)
                add_host(config, other.name, name, id, 1 - here);
            else
                add(config, NeighborConfig{plan_.addresses.address(id, 1 - here),
                                           name,
                                           plan_.addresses.mac(id, 1 - here),
                                           {},
                                           {}});
        }
        for (const auto& [name, port] : config.ports)
            if (!own.contains(name)) {
                std::string known;
                for (const std::string& each : own) append_item(known, ", ", each);
                refuse(port.place, fmt::format("switch.{}.port.{}", config_key(self.name), config_key(name)),
                       "the switch has no such port", "write one of " + known);
            }
        config.host_defaults = file_.host_default;
        add_host_neighbors(config);
        sort_config(config);
        return config;
    }

    // A port's keys that the topology decides.
    void refuse_said(const Config& config, const std::string& self, const std::string& port) {
        for (const std::string_view key : of_topology) {
            const std::string path = fmt::format("port.{}.{}", config_key(port), key);
            if (const SourcePlace place = config.source.find(path); place.line != 0)
                refuse(place, fmt::format("switch.{}.{}", config_key(self), path), "the topology decides it",
                       "write it in [topology] or [[link]], or leave it out");
        }
    }

    void add_host(Config& config, const std::string& name, const std::string& port, LinkId link,
                  unsigned end) {
        const auto said = file_.hosts.find(name);
        HostConfig host = said == file_.hosts.end() ? file_.host_default : said->second;
        host.port = port;
        host.address = plan_.addresses.address(link, end);
        host.mac = plan_.addresses.mac(link, end);
        config.hosts[name] = std::move(host);
    }

    FabricPlan& plan_;
    FabricConfig& file_;
    const Stage& stage_;
    std::vector<DrawnFlow> drawn_;
    std::size_t named_ = 0;    // hosts, by flows
    std::uint64_t steps_ = 0;  // of hosts in collectives
};

}  // namespace

tl::expected<FabricPlan, std::vector<ConfigError>> make_plan(FabricConfig file, const Stage& stage) {
    FabricPlan plan;
    plan.asked = keys_asked(file);
    plan.file = std::move(file);
    auto errors = Planner(plan, stage).plan();
    if (!errors.empty()) return tl::unexpected<std::vector<ConfigError>>(std::move(errors));
    return plan;
}

std::vector<const JobPlan*> FabricPlan::jobs_of_flows() const {
    std::vector<const JobPlan*> made(file.flows.size());
    for (const JobPlan& job : jobs) {
        for (const std::size_t n : job.collectives) made[collectives[n].flow] = &job;
        for (const std::size_t n : job.workloads) made[workloads[n].flow] = &job;
    }
    return made;
}

const std::string& FabricPlan::host_of(std::uint32_t collective, std::uint32_t rank) const {
    if (collective < collectives.size()) return collectives[collective].hosts[rank];
    const auto behind = std::ranges::upper_bound(schedules, collective, {}, &SchedulePlan::first_group);
    const SchedulePlan& schedule = *(behind - 1);
    return schedule.hosts[schedule.groups[collective - schedule.first_group].ranks[rank]];
}

PortId FabricPlan::port_id(const LinkEnd& end) const {
    const auto& ports = switch_at(end.node).config.ports;
    return static_cast<PortId>(std::distance(ports.begin(), ports.find(end.port)));
}

std::map<std::string, HostPortSpec> FabricPlan::host_specs() const {
    HostPlaces places;
    std::vector<EffectiveQos> qos;
    qos.reserve(switches.size());
    for (const SwitchPlan& each : switches) {
        qos.push_back(effective_qos(each.config));
        for (const auto& [name, host] : each.config.hosts)
            places.emplace(name, HostPlace{&host, &each.config, &qos.back(), *host.mac, file.seed});
    }
    const auto path = [this](const FlowConfig& flow, const std::string& from, const std::string& to) {
        return path_between(*this, flow, nodes.at(from), nodes.at(to));
    };
    const std::vector<std::string> names = topology.names(true);
    std::vector<ListPlan> lists;
    for (const WorkloadPlan& each : workloads)
        if (!each.schedule) lists.push_back({each.flow, names, each.list.flows, each.list.joins});
    return sluice::host_specs(places, file.flows, path, collectives, lists, schedules);
}

// A buffer holds a cell, so that the frames of a full switch have theirs even when faults make them whole.
std::uint32_t packet_bytes_of(const FabricPlan& plan) {
    const bool described = std::ranges::all_of(plan.switches, [](const SwitchPlan& each) {
        return std::ranges::all_of(each.config.hosts,
                                   [](const auto& host) { return host.second.describes_payload; });
    });
    std::uint32_t most = 0;
    for (const SwitchPlan& each : plan.switches)
        most = std::max(most, described && !each.config.packet_buffer_bytes
                                  ? std::max(described_room, each.config.cell_bytes)
                                  : packet_buffer_bytes(each.config));
    return most;
}

// A switch may fill its buffer, and cables hold as many of the smallest frames as are under way.
std::uint64_t packets_of(const FabricPlan& plan, unsigned threads) {
    const std::uint32_t room = packet_bytes_of(plan);
    const std::uint64_t segments = (roce::max_packet_bytes + room - 1) / room;
    std::uint64_t packets = std::uint64_t{2} * packet_cache * threads;
    for (const SwitchPlan& each : plan.switches) {
        const PacketDemand demand = packet_demand(each.config);
        packets += demand.buffer + demand.rings * segments;
    }
    for (const Link& link : plan.topology.links)
        packets += 2 * (64 + static_cast<std::uint64_t>(propagation_delay(link.cable_m).ps /
                                                        (link.speed.byte_time().ps * wire_bytes(60))));
    return packets;
}

EalOptions eal_options(const FabricPlan& plan, unsigned threads) {
    EalOptions options;
    options.memory_bytes = packets_of(plan, threads) * PacketPool::eal_bytes_each;
    options.allow_hugepages = false;
    return options;
}

}  // namespace sluice::fabric
