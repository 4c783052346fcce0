#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/config/text/wrapped.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/plan/like.hh"
#include "control/report/figures/text_table.hh"
#include "dataplane/base/packet_pool.hh"

namespace sluice::fabric {
namespace {

// The rows of a table and the names in a row that are shown: fabrics have a million routes.
struct Most {
    std::size_t rows = 100, names = 16;
};

std::string cut_text(const TextTable& table) {
    const std::size_t more = table.left_out();
    return table.text() +
           (more == 0 ? "" : fmt::format("... and {} more: --all\n", print_count(more, "row")));
}

// Switches with their neighbors, and routes by the neighbors that they lead to.
std::string routes_text(const FabricPlan& plan, const Most& most) {
    TextTable switches("switch<16|tier>5|ports>7|routes>8|neighbors<", most.rows);
    TextTable routes("switch<16|route to<20|by<", most.rows);
    for (const SwitchPlan& self : plan.switches) {
        const Node& node = plan.topology.nodes[self.node];
        std::map<IpAddress, std::string> neighbors;
        std::vector<std::string_view> names;
        for (const LinkId id : node.links) {
            const Link& link = plan.topology.links[id];
            if (!plan.topology.joins_switches(link)) continue;
            const unsigned here = link.end_at(self.node);
            neighbors[plan.addresses.address(id, 1 - here)] = link.ends[here].port;
            names.push_back(link.ends[here].port);
        }
        switches.row({self.name, std::to_string(node.tier), std::to_string(node.links.size()),
                      std::to_string(self.config.routes->size()), join_briefly(names, ", ", most.names)});
        for (const RouteConfig& route : *self.config.routes)
            routes.row_of([&]() -> std::vector<std::string> {
                std::vector<std::string> by;
                for (const auto& via : route.via) {
                    const auto found = neighbors.find(via.address);
                    by.push_back(found == neighbors.end() ? print_address(via.address) : found->second);
                }
                return {self.name, print_prefix(route.prefix), join_briefly(by, ", ", most.names)};
            });
    }
    return cut_text(switches) + cut_text(routes);
}

std::string start_text(const ListedFlow& flow) { return time_text(flow.start); }

// The operations of a schedule, by their kind, and the groups of its collectives.
std::string schedule_text(const FabricPlan& plan, const WorkloadPlan& each) {
    using Kind = roce::Program::Operation::Kind;
    std::map<Kind, std::pair<std::uint64_t, std::uint64_t>> kinds;  // how many, and their amounts
    for (const auto& program : each.contents.programs)
        for (const auto& operation : program->operations) {
            ++kinds[operation.kind].first;
            kinds[operation.kind].second += operation.amount;
        }
    const auto [sends, sent] = kinds[Kind::send];
    const auto [collectives, shared] = kinds[Kind::collective];
    std::string text = fmt::format(
        "workload {}: {}, {} on {} of {}: {} of {}, {}, {} of {} in {}, {}; it takes {} of memory\n",
        in_quotes(plan.file.flows[each.flow].name), to_string(each.contents.format),
        print_count(each.contents.programs.size(), "rank"), each.contents.programs.size(),
        print_count(plan.hosts.size(), "host"), print_count(sends, "send"), size_text(sent),
        print_count(kinds[Kind::receive].first, "receive"), print_count(collectives, "collective"),
        size_text(shared), print_count(plan.schedules[*each.schedule].groups.size(), "group"),
        print_count(kinds[Kind::compute].first, "computation"),
        size_text(each.contents.memory_bytes() +
                  each.contents.operations() * roce::ProgramRank::bytes_each_operation));
    for (const std::string& note : each.contents.notes) text += fmt::format("  {}\n", note);
    return text;
}

// The contents of each list, and how it is read.
std::string workloads_text(const FabricPlan& plan) {
    std::string text;
    for (const WorkloadPlan& each : plan.workloads) {
        if (each.schedule) {
            text += schedule_text(plan, each);
            continue;
        }
        const FlowList& list = each.list;
        std::vector<bool> takes_part(plan.hosts.size());
        std::uint64_t queue_pairs = 0;
        for (const ListedFlow& flow : list.flows) {
            takes_part[flow.from] = takes_part[flow.to] = true;
            queue_pairs += flow.qps;
        }
        const bool is_drawn = each.path.empty();
        text += fmt::format("{} {}: {}, {} of {} between {} of {}", is_drawn ? "flow" : "workload",
                            in_quotes(plan.file.flows[each.flow].name),
                            is_drawn ? "drawn by the seed" : to_string(list.format),
                            print_count(list.flows.size(), is_drawn ? "message" : "flow"),
                            size_text(list.bytes()), std::ranges::count(takes_part, true),
                            print_count(plan.hosts.size(), "host"));
        if (list.timed != 0)
            text += fmt::format(", starts from {} to {}", start_text(list.flows.front()),
                                start_text(list.flows[list.timed - 1]));
        if (const std::size_t waiting = list.flows.size() - list.timed; waiting != 0)
            text += fmt::format(", {} after another", print_count(waiting, is_drawn ? "message" : "flow"));
        text += fmt::format("; with its hosts the list takes {} of memory\n",
                            size_text(list.memory_bytes() + queue_pairs * roce::Transfers::bytes_each));
        for (const std::string& note : list.notes) text += fmt::format("  {}\n", note);
    }
    return text;
}

std::string like_text(const FabricPlan& plan) {
    const std::string keys = fabric::like_text(plan.file);
    return keys.empty() ? keys : fmt::format("like ns3: {}\n", keys);
}

// The pools of each switch, or of the first of those that are alike.
std::string pools_text(const FabricPlan& plan, const Most& most) {
    TextTable table("pools of<34|pool<26|size>12|reserved>12|headroom>12|shared>12|cell>8", most.rows);
    struct Alike {
        std::vector<std::string_view> names;
        std::vector<std::vector<std::string>> rows;
    };
    std::vector<Alike> kinds;
    for (const SwitchPlan& self : plan.switches) {
        const std::uint64_t cell = self.config.cell_bytes;
        std::vector<std::vector<std::string>> rows;
        for (const EffectivePool& pool : effective_qos(self.config).pools)
            rows.push_back(
                {fmt::format("{} ({})", pool.name,
                             pool.direction == PoolDirection::ingress ? "ingress" : "egress"),
                 size_text(pool.size_cells * cell), size_text(pool.reserved_cells * cell),
                 size_text(pool.headroom_cells * cell),
                 size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(pool.shared_cells, 0)) * cell),
                 size_text(cell)});
        const auto known = std::ranges::find(kinds, rows, &Alike::rows);
        if (known == kinds.end())
            kinds.push_back({{self.name}, std::move(rows)});
        else
            known->names.push_back(self.name);
    }
    for (const Alike& kind : kinds)
        for (std::size_t n = 0; n < kind.rows.size(); ++n) {
            std::vector<std::string> cells{n == 0 ? join_briefly(kind.names, ", ", 3) : ""};
            cells.insert(cells.end(), kind.rows[n].begin(), kind.rows[n].end());
            table.row(cells);
        }
    return cut_text(table);
}

// Where each job lies.
std::string jobs_text(const FabricPlan& plan, const Most& most) {
    std::string text;
    for (const JobPlan& job : plan.jobs) {
        if (!job.is_placed) continue;
        const std::vector<std::string_view> hosts(job.hosts.begin(), job.hosts.end());
        text += fmt::format("job {}: {} on {}\n", in_quotes(job.name), print_count(hosts.size(), "host"),
                            join_briefly(hosts, ", ", most.names));
    }
    return text;
}

}  // namespace

std::string plan_text(const FabricPlan& plan, bool all) {
    const Most most = all ? Most{SIZE_MAX, SIZE_MAX} : Most{};
    const std::size_t hosts = plan.topology.nodes.size() - plan.switches.size();
    const std::uint64_t packets = packets_of(plan);
    std::string text =
        fmt::format("{}: OK: {} switch{}, {}, {}, {}\n{} packet buffers of {} bytes: {} MB\n", plan.file.file,
                    plan.switches.size(), plan.switches.size() == 1 ? "" : "es", print_count(hosts, "host"),
                    print_count(plan.topology.links.size(), "link"),
                    print_count(plan.file.flows.size(), "flow"), grouped_text(packets), packet_bytes_of(plan),
                    packets * PacketPool::bytes_each(packet_bytes_of(plan)) >> 20);
    text += like_text(plan);
    text += pools_text(plan, most) + jobs_text(plan, most) + workloads_text(plan);
    TextTable cables("link<24|speed<10|cable>8|address<18|MAC<20|address<18|MAC<", most.rows);
    for (LinkId id = 0; id < plan.topology.links.size(); ++id) {
        const Link& link = plan.topology.links[id];
        std::vector<std::string> cells{link.name, print_rate(link.speed), print_length(link.cable_m)};
        for (const unsigned end : {0U, 1U}) {
            cells.push_back(print_address(plan.addresses.address(id, end)));
            cells.push_back(print_mac(plan.addresses.mac(id, end)));
        }
        cables.row(cells);
    }
    text += cut_text(cables);
    text += timeout_table(plan.file.flows, flow_names(plan.world()),
                          [&](const FlowConfig& flow, const std::string& from, const std::string& to) {
                              const NodeId a = plan.nodes.at(from), b = plan.nodes.at(to);
                              return plan.host(a).timeout.value_or(default_timeout(
                                  path_between(plan, flow, a, b), plan.host(a), plan.host(b)));
                          });
    return text + routes_text(plan, most);
}

}  // namespace sluice::fabric
