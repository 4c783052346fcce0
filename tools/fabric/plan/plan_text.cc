#include <fmt/format.h>

#include <map>

#include "control/config/hosts.hh"
#include "control/config/values.hh"
#include "dataplane/base/packet_pool.hh"
#include "tools/fabric/plan/fabric_plan.hh"
#include "tools/fabric/plan/host_path.hh"

namespace sluice::fabric {
namespace {

// Switches with their neighbors, and routes by the neighbors that they lead to.
std::string routes_text(const FabricPlan& plan) {
    std::string switches =
        fmt::format("\n{:<16}{:>5}{:>7}{:>8}  {}\n", "switch", "tier", "ports", "routes", "neighbors");
    std::string routes = fmt::format("\n{:<16}{:<20}{}\n", "switch", "route to", "by");
    for (const SwitchPlan& self : plan.switches) {
        const Node& node = plan.topology.nodes[self.node];
        std::map<IpAddress, std::string> neighbors;
        std::string names;
        for (const LinkId id : node.links) {
            const auto& ends = plan.topology.links[id].ends;
            const unsigned far = ends[0].node == self.node ? 1 : 0;
            if (plan.topology.nodes[ends[far].node].is_host) continue;
            neighbors[plan.addresses.address(id, far)] = ends[1 - far].port;
            append_item(names, ", ", ends[1 - far].port);
        }
        switches += fmt::format("{:<16}{:>5}{:>7}{:>8}  {}\n", self.name, node.tier, node.links.size(),
                                self.config.routes->size(), names);
        for (const RouteConfig& route : *self.config.routes) {
            std::string by;
            for (const auto& via : route.via) {
                const auto found = neighbors.find(via.address);
                append_item(by, ", ", found == neighbors.end() ? print_address(via.address) : found->second);
            }
            routes += fmt::format("{:<16}{:<20}{}\n", self.name, print_prefix(route.prefix), by);
        }
    }
    return switches + routes;
}

}  // namespace

std::string plan_text(const FabricPlan& plan) {
    std::size_t hosts = 0;
    for (const Node& node : plan.topology.nodes) hosts += node.is_host ? 1 : 0;
    std::string text =
        fmt::format("{}: good: {} switches, {} hosts, {} links, {} flows\n", plan.file.file,
                    plan.switches.size(), hosts, plan.topology.links.size(), plan.file.flows.size());
    const std::uint64_t packets = packets_of(plan);
    text += fmt::format("{} packet buffers of {} bytes: {} MB\n", packets, packet_bytes_of(plan),
                        packets * PacketPool::bytes_each(packet_bytes_of(plan)) >> 20);
    text += fmt::format("\n{:<24}{:<10}{:>8}  {:<18}{:<20}{:<18}{}\n", "link", "speed", "cable", "address",
                        "MAC", "address", "MAC");
    for (LinkId id = 0; id < plan.topology.links.size(); ++id) {
        const Link& link = plan.topology.links[id];
        text +=
            fmt::format("{:<24}{:<10}{:>8}  {:<18}{:<20}{:<18}{}\n", link.name, print_rate(link.speed),
                        print_length(link.cable_m), print_address(plan.addresses.address(id, 0)),
                        print_mac(plan.addresses.mac(id, 0)), print_address(plan.addresses.address(id, 1)),
                        print_mac(plan.addresses.mac(id, 1)));
    }
    Config world;
    world.flows = plan.file.flows;
    const auto host_of = [&](const std::string& name) -> const HostConfig& {
        return plan.switches[plan.switch_of[plan.nodes.at(name)]].config.hosts.at(name);
    };
    text +=
        timeout_table(world.flows, flow_names(world), [&](const std::string& from, const std::string& to) {
            const HostConfig &a = host_of(from), &b = host_of(to);
            return a.timeout
                       ? *a.timeout
                       : default_timeout(path_between(plan, plan.nodes.at(from), plan.nodes.at(to)), a, b);
        });
    return text + routes_text(plan);
}

}  // namespace sluice::fabric
