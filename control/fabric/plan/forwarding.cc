#include "control/fabric/plan/forwarding.hh"

#include <algorithm>

#include "lib/values/endian.hh"

namespace sluice::fabric {
namespace {

IpAddress last_of(const IpPrefix& prefix) {
    IpAddress last = prefix.address;
    for (unsigned bit = prefix.length; bit < 32; ++bit)
        last.bytes[bit / 8] = static_cast<std::uint8_t>(last.bytes[bit / 8] | 0x80U >> bit % 8);
    return last;
}

}  // namespace

Forwarding::Forwarding(const FabricPlan& plan)
    : plan_(plan), down_(plan.topology.links.size()), tables_(plan.switches.size()) {
    for (const SwitchPlan& each : plan.switches) {
        find_neighbors(each);
        for (const auto& [name, host] : each.config.hosts)
            hosts_.push_back({host.address, plan.nodes.find(name)->second});
    }
    std::ranges::sort(hosts_, {}, &Host::address);
    for (std::size_t at = 0; at < tables_.size(); ++at)
        for (const RouteConfig& route : *plan.switches[at].config.routes)
            if (!route.prefix.address.is_v6) tables_[at].routes.push_back(&route);
    make_groups();
}

void Forwarding::fail(LinkId down) {
    std::fill(down_.begin(), down_.end(), false);
    down_[down] = true;
    computed_ = routes_without(plan_, down_);
    for (std::size_t at = 0; at < tables_.size(); ++at) {
        auto& routes = tables_[at].routes;
        routes.clear();
        for (const RouteConfig& route : computed_[at]) routes.push_back(&route);
        for (const RouteConfig& route : *plan_.file.switch_config(plan_.switches[at].name).routes)
            if (!route.prefix.address.is_v6) routes.push_back(&route);
        std::ranges::sort(routes, {}, &RouteConfig::prefix);
    }
    make_groups();
}

// Those at other switches: a frame with another MAC than theirs is dropped there.
void Forwarding::find_neighbors(const SwitchPlan& each) {
    std::map<std::string_view, Channel> channels;  // by the name of the port
    for (const LinkId id : plan_.topology.nodes[each.node].links) {
        const Link& link = plan_.topology.links[id];
        const unsigned here = link.end_at(each.node);
        if (plan_.topology.joins_switches(link)) channels.emplace(link.ends[here].port, 2 * id + 1 - here);
    }
    auto& known = neighbors_.emplace_back();
    for (const NeighborConfig& neighbor : *each.config.neighbors)
        if (const auto found = channels.find(neighbor.port);
            found != channels.end() &&
            neighbor.mac == plan_.addresses.mac(found->second / 2, found->second % 2))
            known.emplace(neighbor.key(), found->second);
}

Forwarding::Range Forwarding::hosts_in(const IpPrefix& prefix) {
    const std::uint64_t key =
        std::uint64_t{prefix.length} << 32 | load_be<std::uint32_t>(prefix.address.bytes.data());
    if (const auto known = ranges_.find(key); known != ranges_.end()) return known->second;
    const auto from = std::ranges::lower_bound(hosts_, prefix.address, {}, &Host::address);
    const auto to = std::ranges::upper_bound(from, hosts_.end(), last_of(prefix), {}, &Host::address);
    return ranges_[key] = {static_cast<std::uint32_t>(from - hosts_.begin()),
                           static_cast<std::uint32_t>(to - hosts_.begin())};
}

void Forwarding::make_groups() {
    std::vector<bool> begins(hosts_.size() + 1);  // at that place in hosts_
    for (const Table& table : tables_)
        for (const RouteConfig* route : table.routes) {
            const auto [from, to] = hosts_in(route->prefix);
            begins[from] = begins[to] = true;
        }
    groups_.clear();
    group_at_.clear();
    group_of_.assign(plan_.topology.nodes.size(), 0);
    for (std::size_t place = 0; place < hosts_.size(); ++place) {
        const std::size_t leaf = plan_.switch_of[hosts_[place].node];
        if (groups_.empty() || begins[place] || groups_.back().leaf != leaf)
            groups_.push_back({leaf, hosts_[place].node});
        group_at_.push_back(static_cast<std::uint32_t>(groups_.size() - 1));
        group_of_[hosts_[place].node] = group_at_.back();
    }
    group_at_.push_back(static_cast<std::uint32_t>(groups_.size()));
    for (std::size_t at = 0; at < tables_.size(); ++at) fill(at);
}

// A prefix comes before those that it contains, so that the longest one stays.
void Forwarding::fill(std::size_t at) {
    Table& table = tables_[at];
    table.route_of.assign(groups_.size(), no_route);
    table.first.assign(1, 0);
    table.hops.clear();
    const auto& known = neighbors_[at];
    for (std::uint32_t number = 0; number < table.routes.size(); ++number) {
        const RouteConfig& route = *table.routes[number];
        const auto [from, to] = hosts_in(route.prefix);
        for (std::uint32_t group = group_at_[from]; from != to && group < group_at_[to]; ++group)
            table.route_of[group] = number;
        if (from != to)
            for (const NextHopConfig& hop : route.via)
                for (auto found = known.lower_bound({hop.address, hop.port});
                     found != known.end() && hop.is_to(found->first); ++found)
                    if (!down_[found->second / 2]) table.hops.push_back(found->second);
        table.first.push_back(static_cast<std::uint32_t>(table.hops.size()));
    }
    for (std::size_t group = 0; group < groups_.size(); ++group)
        if (groups_[group].leaf == at) table.route_of[group] = no_route;
}

}  // namespace sluice::fabric
