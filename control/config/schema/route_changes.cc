#include "control/config/schema/route_changes.hh"

#include <algorithm>
#include <set>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// Walks two sorted sets side by side: `differs(key, entry or null)` for each key whose entry is another one.
template <class Set, class Key, class Differs>
void compare(const Set& from, const Set& to, Key key, Differs differs) {
    const typename Set::value_type* const gone = nullptr;
    auto old = from.begin();
    auto now = to.begin();
    while (old != from.end() || now != to.end()) {
        if (now == to.end() || (old != from.end() && key(*old) < key(*now))) {
            differs(key(*old++), gone);
        } else if (old == from.end() || key(*now) < key(*old)) {
            differs(key(*now), &*now);
            ++now;
        } else {
            if (!(*old == *now)) differs(key(*now), &*now);
            ++old, ++now;
        }
    }
}

template <class Change, class Set, class Key>
std::vector<Change> changes_of(const CopyOnWrite<Set>& from, const CopyOnWrite<Set>& to, Key key) {
    std::vector<Change> changes;
    if (from.is_shared_with(to)) return changes;
    compare(*from, *to, key, [&](const auto& which, const auto* now) {
        changes.push_back({which, {}});
        if (now != nullptr) changes.back().now = *now;
    });
    return changes;
}

// A prefix of each interface address; several ports may have the same link-local one.
template <class Choose>
std::set<IpPrefix> interface_prefixes(const Config& config, Choose choose) {
    std::set<IpPrefix> prefixes;
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& address : port.address) prefixes.insert(choose(address));
    return prefixes;
}

template <class Choose>
std::vector<RouteChanges::Own> own_changes(const Config& from, const Config& to, Choose choose) {
    std::vector<RouteChanges::Own> changes;
    compare(
        interface_prefixes(from, choose), interface_prefixes(to, choose),
        [](const IpPrefix& prefix) { return prefix; },
        [&](const IpPrefix& prefix, const IpPrefix* now) {
            changes.push_back({prefix, now != nullptr});
        });
    return changes;
}

template <class Set, class Key>
void erase(CopyOnWrite<Set>& set, const Key& key) {
    Set& from = set.change();
    const auto [first, last] = from.equal_range(key);
    from.erase(first, last);
}

}  // namespace

IpPrefix host_prefix(const IpAddress& address) {
    return {address, static_cast<std::uint8_t>(address.is_v6 ? 128 : 32)};
}

RouteChanges route_changes(const Config& from, const Config& to) {
    RouteChanges changes;
    changes.routes = changes_of<RouteChanges::Route>(from.routes, to.routes,
                                                     [](const RouteConfig& route) { return route.prefix; });
    changes.neighbors = changes_of<RouteChanges::Neighbor>(
        from.neighbors, to.neighbors, [](const NeighborConfig& neighbor) { return neighbor.key(); });
    changes.addresses =
        own_changes(from, to, [](const IpPrefix& address) { return host_prefix(address.address); });
    changes.subnets = own_changes(from, to, [](const IpPrefix& address) { return network_of(address); });
    return changes;
}

void apply(const RouteChanges& changes, Config& config) {
    for (const RouteChanges::Neighbor& change : changes.neighbors) {
        erase(config.neighbors, change.at);
        if (change.now) add(config, *change.now);
    }
    for (const RouteChanges::Route& change : changes.routes) {
        erase(config.routes, change.prefix);
        if (change.now) add(config, *change.now);
    }
}

}  // namespace sluice
