#include <fmt/format.h>

#include <map>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/wrapped.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "dataplane/base/packet_pool.hh"

namespace sluice::fabric {
namespace {

// Of rows in a table, and of names in a row.
struct Most {
    std::size_t rows = 100, names = 16;
};

// A table, cut where nobody reads on: fabrics have a million routes.
class CutTable {
  public:
    CutTable(std::string head, std::size_t most) : text_("\n" + std::move(head)), most_(most) {}

    // `row` makes the text of one more.
    template <class Row>
    void add(const Row& row) {
        if (++rows_ <= most_) text_ += row();
    }
    std::string take() {
        if (rows_ > most_)
            text_ += fmt::format("... and {} more: --all\n", print_count(rows_ - most_, "row"));
        return std::move(text_);
    }

  private:
    std::string text_;
    std::size_t most_, rows_ = 0;
};

// Switches with their neighbors, and routes by the neighbors that they lead to.
std::string routes_text(const FabricPlan& plan, const Most& most) {
    CutTable switches(
        fmt::format("{:<16}{:>5}{:>7}{:>8}  {}\n", "switch", "tier", "ports", "routes", "neighbors"),
        most.rows);
    CutTable routes(fmt::format("{:<16}{:<20}{}\n", "switch", "route to", "by"), most.rows);
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
        switches.add([&] {
            return fmt::format("{:<16}{:>5}{:>7}{:>8}  {}\n", self.name, node.tier, node.links.size(),
                               self.config.routes->size(), join_briefly(names, ", ", most.names));
        });
        for (const RouteConfig& route : *self.config.routes)
            routes.add([&] {
                std::vector<std::string> by;
                for (const auto& via : route.via) {
                    const auto found = neighbors.find(via.address);
                    by.push_back(found == neighbors.end() ? print_address(via.address) : found->second);
                }
                return fmt::format("{:<16}{:<20}{}\n", self.name, print_prefix(route.prefix),
                                   join_briefly(by, ", ", most.names));
            });
    }
    return switches.take() + routes.take();
}

}  // namespace

std::string plan_text(const FabricPlan& plan, bool all) {
    const Most most = all ? Most{SIZE_MAX, SIZE_MAX} : Most{};
    const std::size_t hosts = plan.topology.nodes.size() - plan.switches.size();
    std::string text =
        fmt::format("{}: good: {} switches, {} hosts, {} links, {} flows\n", plan.file.file,
                    plan.switches.size(), hosts, plan.topology.links.size(), plan.file.flows.size());
    const std::uint64_t packets = packets_of(plan);
    text += fmt::format("{} packet buffers of {} bytes: {} MB\n", packets, packet_bytes_of(plan),
                        packets * PacketPool::bytes_each(packet_bytes_of(plan)) >> 20);
    CutTable cables(fmt::format("{:<24}{:<10}{:>8}  {:<18}{:<20}{:<18}{}\n", "link", "speed", "cable",
                                "address", "MAC", "address", "MAC"),
                    most.rows);
    for (LinkId id = 0; id < plan.topology.links.size(); ++id)
        cables.add([&] {
            const Link& link = plan.topology.links[id];
            return fmt::format("{:<24}{:<10}{:>8}  {:<18}{:<20}{:<18}{}\n", link.name, print_rate(link.speed),
                               print_length(link.cable_m), print_address(plan.addresses.address(id, 0)),
                               print_mac(plan.addresses.mac(id, 0)),
                               print_address(plan.addresses.address(id, 1)),
                               print_mac(plan.addresses.mac(id, 1)));
        });
    text += cables.take();
    Config world;
    world.flows = plan.file.flows;
    text += timeout_table(world.flows, flow_names(world),
                          [&](const FlowConfig& flow, const std::string& from, const std::string& to) {
                              const NodeId a = plan.nodes.at(from), b = plan.nodes.at(to);
                              return plan.host(a).timeout.value_or(default_timeout(
                                  path_between(plan, flow, a, b), plan.host(a), plan.host(b)));
                          });
    return text + routes_text(plan, most);
}

}  // namespace sluice::fabric
