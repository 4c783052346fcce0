#include "control/routes.hh"

#include <algorithm>
#include <bit>
#include <set>

#include "control/values.hh"
#include "dataplane/worker_context.hh"
#include "lib/ecmp.hh"

namespace sluice {
namespace {

constexpr unsigned default_buckets = 256;

// A route's members by next-hop number; those without a neighbour are left out.
struct Resolver {
    const std::map<IpAddress, std::uint32_t>& next_hops;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> operator()(const RouteConfig& route) const {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> via;
        for (const NextHopConfig& hop : route.via)
            if (const auto found = next_hops.find(hop.address); found != next_hops.end())
                via.emplace_back(found->second, hop.weight);
        return via;
    }
};

bool fib_add(Fib& fib, const IpPrefix& prefix, std::uint32_t group) {
    if (prefix.address.is_v6) return fib.add(prefix.address.bytes, prefix.length, group);
    return fib.add(load_be<std::uint32_t>(prefix.address.bytes.data()), prefix.length, group);
}

bool fib_remove(Fib& fib, const IpPrefix& prefix) {
    if (prefix.address.is_v6) return fib.remove(prefix.address.bytes, prefix.length);
    return fib.remove(load_be<std::uint32_t>(prefix.address.bytes.data()), prefix.length);
}

IpPrefix host_prefix(const IpAddress& address) {
    return {address, static_cast<std::uint8_t>(address.is_v6 ? 128 : 32)};
}

}  // namespace

std::unique_ptr<Routes> Routes::create(const std::string& name, Fib::Sizes sizes, unsigned capacity) {
    std::unique_ptr<Routes> routes(new Routes);
    for (unsigned i = 0; i < 2; ++i) {
        routes->sides_[i].fib = Fib::create(name + std::to_string(i), sizes, capacity);
        if (!routes->sides_[i].fib) return nullptr;
    }
    return routes;
}

std::uint32_t Routes::next_hop_of(const NeighborConfig& neighbor, const PortInfo& port, Policy& policy) {
    const auto next = static_cast<std::uint32_t>(next_hop_ids_.size());
    const auto id = next_hop_ids_.try_emplace({neighbor.address, port.id}, next).first->second;
    if (policy.next_hops.size() <= id) policy.next_hops.resize(id + 1);
    NextHop& hop = policy.next_hops[id];
    hop.port = port.id;
    std::copy_n(neighbor.mac.bytes.begin(), 6, hop.header.begin());
    std::copy_n(port.mac.bytes.begin(), 6, hop.header.begin() + 6);
    hop.tagged = neighbor.vlan.has_value();
    hop.header_bytes = hop.tagged ? 18 : 14;
    if (hop.tagged) {
        store_be<std::uint16_t>(hop.header.data() + 12, ether_type::vlan);
        store_be<std::uint16_t>(hop.header.data() + 14, *neighbor.vlan);
    }
    return id;
}

std::uint32_t Routes::group_of(const Via& via, Policy& policy, const std::vector<std::uint32_t>& previous) {
    const auto [place, fresh] = groups_.try_emplace(via, static_cast<std::uint32_t>(policy.groups.size()));
    if (!fresh) return place->second;
    Group group;
    group.first_bucket = static_cast<std::uint32_t>(policy.buckets.size());
    if (via.size() == 1) {
        policy.buckets.push_back(via[0].first);
    } else {
        const unsigned buckets = std::max<unsigned>(default_buckets, std::bit_ceil(via.size() * 8));
        std::vector<WeightedMember> members;
        for (const auto& [hop, weight] : via) members.push_back({hop, weight});
        const auto table = assign_buckets(members, buckets, previous);
        policy.buckets.insert(policy.buckets.end(), table.begin(), table.end());
        group.log2_buckets = static_cast<std::uint8_t>(std::bit_width(buckets) - 1);
        group.counted = true;
    }
    policy.groups.push_back(group);
    return place->second;
}

bool Routes::synchronise(Side& side, const std::vector<Entry>& wanted) {
    auto old = side.entries.begin();
    auto next = wanted.begin();
    bool good = true;
    while (old != side.entries.end() || next != wanted.end()) {
        if (next == wanted.end() || (old != side.entries.end() && old->first < next->first)) {
            good &= fib_remove(*side.fib, old->first);
            ++old;
        } else if (old == side.entries.end() || next->first < old->first) {
            good &= fib_add(*side.fib, next->first, next->second);
            ++next;
        } else {
            if (old->second != next->second) good &= fib_add(*side.fib, next->first, next->second);
            ++old;
            ++next;
        }
    }
    side.entries = wanted;
    return good;
}

std::string Routes::compile(const Config& config, const std::map<std::string, PortInfo, NaturalOrder>& ports,
                            Policy& policy) {
    policy.groups.assign(first_free_group, Group{});
    policy.groups[group_no_route].drop = DropReason::no_route;
    policy.groups[group_local].drop = DropReason::local_address;
    policy.groups[group_blackhole].drop = DropReason::blackhole;
    policy.groups[group_unresolved].drop = DropReason::unresolved_next_hop;
    groups_.clear();
    ecmp_.clear();

    // Precedence at one prefix: our own address, a neighbour, a route, the interface's subnet.
    std::map<IpPrefix, std::uint32_t> wanted;
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& address : port.address) wanted[host_prefix(address.address)] = group_local;
    std::map<IpAddress, std::uint32_t> next_hops;
    for (const NeighborConfig& neighbor : config.neighbors) {
        const auto port = ports.find(neighbor.port);
        if (port == ports.end()) continue;
        const std::uint32_t hop = next_hop_of(neighbor, port->second, policy);
        next_hops[neighbor.address] = hop;
        wanted.try_emplace(host_prefix(neighbor.address), group_of({{hop, 1}}, policy, {}));
    }
    if (policy.next_hops.size() > max_next_hops)
        return "more than " + std::to_string(max_next_hops) + " next hops";
    const Resolver resolve{next_hops};
    std::map<IpPrefix, std::vector<std::uint32_t>> tables;
    for (const RouteConfig& route : config.routes) {
        if (route.via.empty()) {
            wanted.try_emplace(route.prefix, group_blackhole);
            continue;
        }
        const Via via = resolve(route);
        if (via.empty()) {
            wanted.try_emplace(route.prefix, group_unresolved);
            continue;
        }
        const std::size_t groups_before = policy.groups.size();
        const std::uint32_t group = group_of(via, policy, last_tables_[route.prefix]);
        wanted.try_emplace(route.prefix, group);
        if (policy.groups.size() == groups_before || via.size() < 2) continue;
        const Group& made = policy.groups.back();
        tables[route.prefix].assign(policy.buckets.begin() + made.first_bucket, policy.buckets.end());
        EcmpGroup shown{print_prefix(route.prefix), {}};
        for (const NextHopConfig& hop : route.via)
            if (const auto found = next_hops.find(hop.address); found != next_hops.end())
                shown.members.push_back({print_address(hop.address), "", hop.weight, found->second});
        ecmp_.push_back(std::move(shown));
    }
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& address : port.address)
            wanted.try_emplace(network_of(address), group_unresolved);
    if (policy.groups.size() > Fib::max_groups)
        return "more than " + std::to_string(Fib::max_groups) + " groups of next hops";
    for (EcmpGroup& group : ecmp_)
        for (auto& member : group.members)
            for (const auto& [name, port] : ports)
                if (port.id == policy.next_hops[member.next_hop].port) member.port = name;

    Side& idle = sides_[1 - active_];
    if (!synchronise(idle, {wanted.begin(), wanted.end()})) return "the forwarding table is full";
    policy.fib = idle.fib.get();
    last_tables_ = std::move(tables);
    return {};
}

std::optional<IpPrefix> Routes::match(const IpAddress& address) const {
    const auto& entries = sides_[active_].entries;
    for (int length = address.is_v6 ? 128 : 32; length >= 0; --length) {
        const IpPrefix prefix = network_of({address, static_cast<std::uint8_t>(length)});
        const auto place =
            std::lower_bound(entries.begin(), entries.end(), prefix,
                             [](const Entry& entry, const IpPrefix& wanted) { return entry.first < wanted; });
        if (place != entries.end() && place->first == prefix) return prefix;
    }
    return std::nullopt;
}

void Routes::published() {
    active_ = 1 - active_;
    // No worker reads the other side any more. What fitted into one side fits into its twin.
    synchronise(sides_[1 - active_], sides_[active_].entries);
}

}  // namespace sluice
