#include "control/switch/kernel/kernel_tables.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// Adds the keys at which two maps differ; `same` compares values.
template <class Map, class Key, class Same>
void differences(const Map& from, const Map& to, std::set<Key>& changed, Same same) {
    for (const auto& [key, value] : from)
        if (const auto other = to.find(key); other == to.end() || !same(other->second, value))
            changed.insert(key);
    for (const auto& [key, value] : to)
        if (!from.contains(key)) changed.insert(key);
}

// Multicast and link-local destinations: every link has such routes.
bool is_of_link(const IpPrefix& prefix) {
    const auto& bytes = prefix.address.bytes;
    if (!prefix.address.is_v6) return prefix.length >= 4 && bytes[0] >> 4 == 0xE;
    return (prefix.length >= 10 && is_link_local(prefix.address)) || (prefix.length >= 8 && bytes[0] == 0xFF);
}

}  // namespace

void KernelTables::apply(const KernelMessage& message) {
    std::visit([this](const auto& entry) { learn(entry); }, message);
}

void KernelTables::learn(const KernelLink& link) {
    const auto port = ports_.find(link.index);
    if (port == ports_.end()) return;
    const auto known = links_.find(link.index);
    if (known == links_.end()) {
        if (link.there) links_.emplace(link.index, link);
        return;
    }
    const KernelLink before = known->second;
    if (link.there)
        known->second = link;
    else
        links_.erase(known);
    if (!link.there || before.name != link.name || before.mtu != link.mtu)
        link_notices_.push_back({port->second, before, link});
    if (!link.there || before.running != link.running) asks_again_ = true;
}

void KernelTables::learn(const KernelAddress& entry) {
    const IpAddress& address = entry.address.address;
    if (entry.there) {
        addresses_[address].insert(entry.index);
    } else if (const auto known = addresses_.find(address); known != addresses_.end()) {
        known->second.erase(entry.index);
        if (known->second.empty()) addresses_.erase(known);
    }
    change_local(host_prefix(address));
}

void KernelTables::change_local(const IpPrefix& prefix) {
    changed_local_.insert(prefix);
    own_changed_ = true;
    if (prefix == host_prefix(prefix.address)) return;
    // It hides the routes within it.
    for (auto at = routes_.lower_bound(prefix); at != routes_.end() && contains(prefix, at->first.address);
         ++at)
        changed_prefixes_.insert(at->first);
}

void KernelTables::take_local(const KernelRoute& entry) {
    const bool is_loopback = !entry.prefix.address.is_v6 && entry.prefix.address.bytes[0] == 127;
    if (is_of_link(entry.prefix) || is_loopback) return;
    const int index = entry.legs.empty() ? 0 : entry.legs[0].index;
    std::set<int>& interfaces = local_[entry.prefix];
    if (entry.there)
        interfaces.insert(index);
    else
        interfaces.erase(index);
    if (interfaces.empty()) local_.erase(entry.prefix);
    change_local(entry.prefix);
}

void KernelTables::take_special(const KernelRoute& entry) {
    std::string name = print_prefix(entry.prefix);
    if (entry.source) name += " from " + print_prefix(*entry.source);
    if (entry.tos != 0) name += fmt::format(" tos {:#04x}", entry.tos);
    if (entry.metric != 0) name += fmt::format(" metric {}", entry.metric);
    know(entry.source ? by_source_ : by_tos_, name, entry.there);
}

void KernelTables::learn(const KernelRule& rule) { know(rules_, rule.name, rule.there); }

void KernelTables::know(std::set<std::string>& names, const std::string& name, bool there) {
    if (!there)
        names.erase(name);
    else if (names.insert(name).second)
        not_mirrored_.push_back(name);
}

// True when the table `local` covers the prefix.
bool KernelTables::is_local(const IpPrefix& prefix) const {
    for (int length = prefix.length; length >= 0; --length) {
        const IpPrefix around = network_of({prefix.address, static_cast<std::uint8_t>(length)});
        if (local_.contains(around)) return true;
    }
    return false;
}

void KernelTables::learn(const KernelNeighbor& entry) {
    if (!ports_.contains(entry.index)) return;
    const Place place{entry.index, entry.address};
    const auto known = neighbors_.find(entry.address);
    const bool was = known != neighbors_.end() && known->second.contains(entry.index);
    if (entry.mac) {
        const Neighbor now{*entry.mac, entry.stale, entry.permanent};
        Neighbor& there = was ? known->second.at(entry.index) : neighbors_[entry.address][entry.index];
        if (!was || !(there == now)) changed_neighbors_.insert({entry.address, ports_.at(entry.index)});
        there = now;
    } else if (was) {
        known->second.erase(entry.index);
        if (known->second.empty()) neighbors_.erase(known);
        changed_neighbors_.insert({entry.address, ports_.at(entry.index)});
        if (gateways_.contains(place)) wanted_.insert(place);
    }
}

void KernelTables::count_gateways(const Route& route, bool more) {
    for (const KernelLeg& leg : route.legs) {
        if (!leg.via || !is_ours(leg)) continue;
        const Place place{leg.index, *leg.via};
        const auto counted = gateways_.try_emplace(place, 0).first;
        // The kernel keeps a new gateway resolved, and no longer keeps one without routes.
        if (counted->second == 0) wanted_.insert(place);
        if (more) {
            ++counted->second;
        } else if (--counted->second == 0) {
            gateways_.erase(counted);
            wanted_.insert(place);
        }
    }
}

void KernelTables::store(const IpPrefix& prefix, std::uint32_t metric, const Route* route) {
    const auto at = routes_.try_emplace(prefix).first;
    Metrics& metrics = at->second;
    const auto known = metrics.find(metric);
    if (route != nullptr) count_gateways(*route, true);
    if (known != metrics.end()) {
        count_gateways(known->second, false);
        metrics.erase(known);
    }
    if (route != nullptr) metrics.emplace(metric, *route);
    if (metrics.empty()) routes_.erase(at);
    changed_prefixes_.insert(prefix);
}

void KernelTables::learn(const KernelRoute& entry) {
    if (entry.kind == KernelRoute::Kind::local) return take_local(entry);
    if (is_of_link(entry.prefix)) return;
    if (entry.tos != 0 || entry.source) return take_special(entry);
    const auto metrics = routes_.find(entry.prefix);
    Route* known = nullptr;
    if (metrics != routes_.end())
        if (const auto found = metrics->second.find(entry.metric); found != metrics->second.end())
            known = &found->second;
    Route now{entry.kind, entry.legs, known != nullptr && known->several};
    if (entry.there) {
        if (known != nullptr && *known == now) return;
        if (known != nullptr && !entry.replaces) {
            known->several = now.several = true;
            if (entry.listed) return;  // the first of them is the one that counts
            asks_again_ = true;
        }
        store(entry.prefix, entry.metric, &now);
        if (now.kind == KernelRoute::Kind::stop)
            not_mirrored_.push_back("throw " + print_prefix(entry.prefix));
        return;
    }
    if (known == nullptr) return;
    if (known->several) asks_again_ = true;
    // IPv6 legs go one by one, and do not tell their weight then.
    now.legs = known->legs;
    const auto left = std::erase_if(now.legs, [&](const KernelLeg& leg) {
        return std::any_of(entry.legs.begin(), entry.legs.end(), [&](const KernelLeg& gone) {
            return gone.index == leg.index && gone.via == leg.via;
        });
    });
    if (left == 0 && !entry.legs.empty())
        asks_again_ = true;  // it was another one
    else
        store(entry.prefix, entry.metric, now.legs.empty() ? nullptr : &now);
}

void KernelTables::change_ports(const KernelTables& fresh) {
    std::set<int> changed;
    differences(ports_, fresh.ports_, changed, std::equal_to<>());
    if (changed.empty()) return;
    const auto leaves_by_changed = [&](const auto& by_metric) {
        const auto& legs = by_metric.second.legs;
        return std::any_of(legs.begin(), legs.end(),
                           [&](const KernelLeg& leg) { return changed.contains(leg.index); });
    };
    for (const KernelTables* tables : {static_cast<const KernelTables*>(this), &fresh}) {
        for (const auto& [prefix, metrics] : tables->routes_)
            if (std::any_of(metrics.begin(), metrics.end(), leaves_by_changed))
                changed_prefixes_.insert(prefix);
        for (const auto& [address, interfaces] : tables->neighbors_)
            for (const auto& [index, neighbor] : interfaces)
                if (changed.contains(index)) changed_neighbors_.insert({address, tables->ports_.at(index)});
    }
}

void KernelTables::replace(KernelTables fresh) {
    change_ports(fresh);
    differences(routes_, fresh.routes_, changed_prefixes_, [](const Metrics& a, const Metrics& b) {
        return a.begin()->second.kind == b.begin()->second.kind &&
               a.begin()->second.legs == b.begin()->second.legs;
    });
    std::set<IpAddress> changed;  // of neighbors
    differences(neighbors_, fresh.neighbors_, changed, std::equal_to<>());
    for (const KernelTables* tables : {static_cast<const KernelTables*>(this), &std::as_const(fresh)})
        for (const IpAddress& address : changed)
            if (const auto there = tables->neighbors_.find(address); there != tables->neighbors_.end())
                for (const auto& [index, neighbor] : there->second)
                    changed_neighbors_.insert({address, tables->ports_.at(index)});
    std::set<IpPrefix> local;
    std::set<IpAddress> addresses;
    const auto exist = [](const auto&, const auto&) { return true; };
    differences(local_, fresh.local_, local, exist);
    differences(addresses_, fresh.addresses_, addresses, exist);
    for (const IpAddress& address : addresses) local.insert(host_prefix(address));
    for (const IpPrefix& prefix : local) change_local(prefix);
    for (const std::string& name : fresh.not_mirrored_)
        if (!by_tos_.contains(name) && !by_source_.contains(name) && !rules_.contains(name) &&
            !name.starts_with("throw"))
            not_mirrored_.push_back(name);
    for (const IpPrefix& prefix : changed_prefixes_)
        if (const Route* now = fresh.best(prefix); now != nullptr && now->kind == KernelRoute::Kind::stop)
            not_mirrored_.push_back("throw " + print_prefix(prefix));
    for (const auto& [index, link] : std::map(links_)) {
        const auto now = fresh.links_.find(index);
        learn(now != fresh.links_.end() ? now->second : KernelLink{index, false, false, {}, 0});
    }
    asks_again_ = fresh.asks_again_;
    ports_ = std::move(fresh.ports_);
    links_ = std::move(fresh.links_);
    wanted_.merge(fresh.wanted_);
    for (const auto& [place, routes] : gateways_)
        if (!fresh.gateways_.contains(place)) wanted_.insert(place);
    for (const auto& [address, by_interface] : fresh.neighbors_)
        for (const auto& [index, neighbor] : by_interface)
            if (neighbor.stale) wanted_.insert({index, address});
    routes_ = std::move(fresh.routes_);
    gateways_ = std::move(fresh.gateways_);
    neighbors_ = std::move(fresh.neighbors_);
    local_ = std::move(fresh.local_);
    by_tos_ = std::move(fresh.by_tos_);
    by_source_ = std::move(fresh.by_source_);
    rules_ = std::move(fresh.rules_);
    addresses_ = std::move(fresh.addresses_);
}

const KernelTables::Route* KernelTables::best(const IpPrefix& prefix) const {
    const auto found = routes_.find(prefix);
    return found != routes_.end() ? &found->second.begin()->second : nullptr;
}

bool KernelTables::is_subnet(const IpPrefix& prefix) const {
    const Route* route = best(prefix);
    return route != nullptr && std::any_of(route->legs.begin(), route->legs.end(),
                                           [this](const KernelLeg& leg) { return !leg.via && is_ours(leg); });
}

RouteChanges::Route KernelTables::wanted_route(const IpPrefix& prefix) const {
    RouteChanges::Route wanted{prefix, {}};
    const Route* route = best(prefix);
    if (route == nullptr || is_subnet(prefix) || is_local(prefix)) return wanted;
    NextHops via;
    for (const KernelLeg& leg : route->legs)
        if (leg.via && is_ours(leg))
            via.push_back(
                {*leg.via, std::clamp(leg.weight, min_hop_weight, max_hop_weight), ports_.at(leg.index)});
    std::sort(via.begin(), via.end());
    const auto same = [](const NextHopConfig& a, const NextHopConfig& b) {
        return a.is_to({b.address, b.port});
    };
    via.erase(std::unique(via.begin(), via.end(), same), via.end());
    if (via.size() > max_route_hops) via.resize(max_route_hops);
    const bool stops = route->kind == KernelRoute::Kind::unicast || route->kind == KernelRoute::Kind::stop;
    wanted.elsewhere = stops && via.empty();
    wanted.now = RouteConfig{prefix, std::move(via), {}};
    return wanted;
}

const KernelTables::Route* KernelTables::route_to(const IpAddress& destination) const {
    for (int length = destination.is_v6 ? 128 : 32; length >= 0; --length)
        if (const Route* route = best(network_of({destination, static_cast<std::uint8_t>(length)})))
            return route;
    return nullptr;
}

void KernelTables::change_neighbors(const IpPrefix& prefix) {
    for (auto at = neighbors_.lower_bound(prefix.address);
         at != neighbors_.end() && contains(prefix, at->first); ++at)
        for (const auto& [index, neighbor] : at->second)
            changed_neighbors_.insert({at->first, ports_.at(index)});
}

// As in the kernel, packets go to a neighbor when the route leads to its link.
RouteChanges::Neighbor KernelTables::wanted_neighbor(const NeighborKey& key) const {
    RouteChanges::Neighbor wanted{key, {}};
    const auto known = neighbors_.find(key.address);
    if (known == neighbors_.end()) return wanted;
    const Route* route = route_to(key.address);
    for (const auto& [index, neighbor] : known->second) {
        if (ports_.at(index) != key.port) continue;
        wanted.now = NeighborConfig{key.address, key.port, neighbor.mac, {}, {}};
        wanted.is_host = route == nullptr || std::any_of(route->legs.begin(), route->legs.end(),
                                                         [at = index](const KernelLeg& leg) {
                                                             return leg.index == at && !leg.via;
                                                         });
    }
    return wanted;
}

RouteChanges KernelTables::take_changes() {
    RouteChanges changes;
    changes.origin = RouteOrigin::kernel;
    for (const IpPrefix& prefix : std::exchange(changed_local_, {})) {
        const bool is_address = prefix == host_prefix(prefix.address) && addresses_.contains(prefix.address);
        if (!is_of_link(prefix)) changes.addresses.push_back({prefix, is_address || local_.contains(prefix)});
    }
    for (const IpPrefix& prefix : changed_prefixes_) change_neighbors(prefix);
    for (const NeighborKey& key : std::exchange(changed_neighbors_, {}))
        changes.neighbors.push_back(wanted_neighbor(key));
    for (const IpPrefix& prefix : std::exchange(changed_prefixes_, {})) {
        changes.subnets.push_back({prefix, is_subnet(prefix) && !is_local(prefix)});
        changes.routes.push_back(wanted_route(prefix));
    }
    return changes;
}

void KernelTables::repeat() {
    for (const auto& [prefix, route] : routes_) changed_prefixes_.insert(prefix);
    for (const auto& [address, interfaces] : neighbors_)
        for (const auto& [index, neighbor] : interfaces)
            changed_neighbors_.insert({address, ports_.at(index)});
    changed_local_.merge(own());
}

std::vector<KernelTables::Wanted> KernelTables::take_wanted(std::size_t most) {
    std::vector<Wanted> taken;
    while (!wanted_.empty() && taken.size() < most) {
        const auto [index, address] = wanted_.extract(wanted_.begin()).value();
        const auto known = neighbors_.find(address);
        // Resolving would undo an operator's permanent neighbor.
        if (known != neighbors_.end() && known->second.contains(index) && known->second.at(index).permanent)
            continue;
        taken.push_back({index, address, gateways_.contains({index, address})});
    }
    return taken;
}

void KernelTables::want(const IpAddress& destination) {
    if (const Route* route = route_to(destination))
        for (const KernelLeg& leg : route->legs)
            if (is_ours(leg)) wanted_.insert({leg.index, leg.via.value_or(destination)});
}

std::vector<KernelTables::Wanted> KernelTables::gateways() const {
    std::vector<Wanted> all;
    for (const auto& [place, routes] : gateways_) all.push_back({place.first, place.second, true});
    return all;
}

std::set<IpPrefix> KernelTables::own() const {
    std::set<IpPrefix> all;
    for (const auto& [address, interfaces] : addresses_) all.insert(host_prefix(address));
    for (const auto& [prefix, interfaces] : local_) all.insert(prefix);
    return all;
}

std::size_t KernelTables::routes_elsewhere() const {
    return static_cast<std::size_t>(std::count_if(routes_.begin(), routes_.end(), [this](const auto& route) {
        return route.second.begin()->second.kind == KernelRoute::Kind::unicast &&
               wanted_route(route.first).elsewhere;
    }));
}

std::string_view KernelTables::drop_word(const IpPrefix& prefix) const {
    constexpr std::array<std::string_view, 6> words{"", "blackhole", "unreachable", "prohibit", "throw", ""};
    const Route* route = best(prefix);
    return route == nullptr ? "" : words[static_cast<std::size_t>(route->kind)];
}

std::size_t KernelTables::throws() const {
    return static_cast<std::size_t>(std::count_if(routes_.begin(), routes_.end(), [](const auto& route) {
        return route.second.begin()->second.kind == KernelRoute::Kind::stop;
    }));
}

}  // namespace sluice
