// Addresses, neighbors and routes: sorts once and compares adjacent entries, for a million of each.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/lint/lint.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace lint {
namespace {

struct Interface {
    IpPrefix network;
    IpAddress address;
    std::string port;
};

std::vector<Interface> interfaces_of(const Config& config) {
    std::vector<Interface> interfaces;
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& address : port.address)
            interfaces.push_back({network_of(address), address.address, name});
    return interfaces;
}

std::string describe(const NeighborConfig& neighbor) {
    return fmt::format("neighbor {}", print_address(neighbor.address));
}

std::string text_of(const NextHopConfig& hop) { return print_next_hop(hop.address, hop.port); }

std::string describe(const RouteConfig& route) { return fmt::format("route {}", print_prefix(route.prefix)); }

void to_nowhere(const IpPrefix& prefix, const NextHopConfig& hop, SourcePlace place, Findings& findings) {
    const std::string port = hop.port.empty() ? "" : fmt::format(" and port = \"{}\"", hop.port);
    findings.error(
        "route-to-nowhere", fmt::format("route {}", print_prefix(prefix)),
        fmt::format("route to nowhere: {} goes by {}, which is not a neighbor", print_prefix(prefix),
                    text_of(hop)),
        fmt::format("add a [[neighbor]] with address = \"{}\"{}", print_address(hop.address), port), place);
}

// A wider subnet sorts before those inside it, so the enclosing subnets are on the stack.
void check_overlaps(std::vector<Interface> interfaces, Findings& findings) {
    std::sort(interfaces.begin(), interfaces.end(), [](const Interface& a, const Interface& b) {
        return std::tie(a.network.address.is_v6, a.network.address.bytes, a.network.length) <
               std::tie(b.network.address.is_v6, b.network.address.bytes, b.network.length);
    });
    std::vector<const Interface*> around;
    for (const Interface& interface : interfaces) {
        if (is_link_local(interface.address)) continue;  // every port may have the same
        while (!around.empty() && !contains(around.back()->network, interface.network.address))
            around.pop_back();
        for (const Interface* outer : around) {
            if (outer->port == interface.port) continue;
            findings.error(
                "subnet-overlap", port_path(interface.port, "address"),
                fmt::format("the subnet {} overlaps {} of port {}", print_prefix(interface.network),
                            print_prefix(outer->network), outer->port),
                "give each port its own subnet");
            break;
        }
        around.push_back(&interface);
    }
}

template <class IsNeighbor>
void check_hops(const RouteConfig& route, const std::vector<IpAddress>& own, IsNeighbor is_neighbor,
                Findings& findings) {
    const NextHopConfig* previous = nullptr;
    for (const NextHopConfig& hop : route.via) {  // those of one address beside each other, no port first
        const auto address = [&] { return print_address(hop.address); };
        if (previous != nullptr && previous->is_to({hop.address, hop.port}))
            findings.error(
                "next-hop-twice", describe(route),
                fmt::format("the next hop {} is in the list twice{}", text_of(hop),
                            previous->port == hop.port ? "" : ", once at every port"),
                previous->port == hop.port
                    ? fmt::format("write it once, with a weight: {{address = \"{}\", weight = 2}}", address())
                    : fmt::format("name the port of each: {{address = \"{}\", port = \"{}\"}}", address(),
                                  hop.port),
                route.place);
        previous = &hop;
        if (std::binary_search(own.begin(), own.end(), hop.address)) {
            findings.error("next-hop-own", describe(route),
                           fmt::format("the next hop {} is our own address", address()),
                           "name a neighbor's address", route.place);
            continue;
        }
        if (!is_neighbor(hop)) to_nowhere(route.prefix, hop, route.place, findings);
    }
}

bool is_own(const PortConfig& port, const IpAddress& address) {
    return std::any_of(port.address.begin(), port.address.end(),
                       [&](const IpPrefix& own) { return own.address == address; });
}

void check_neighbor(const NeighborConfig& neighbor, const Config& config, const std::vector<IpAddress>& own,
                    Findings& findings) {
    const auto port = config.ports.find(neighbor.port);
    if (port == config.ports.end()) {
        const std::string near = nearest_key(neighbor.port, config.ports);
        findings.error("neighbor-port", describe(neighbor),
                       fmt::format("there is no port {}", in_quotes(neighbor.port)),
                       near.empty() ? "name a port of the switch" : fmt::format("write port = \"{}\"", near),
                       neighbor.place);
    }
    if (std::binary_search(own.begin(), own.end(), neighbor.address) ||
        (port != config.ports.end() && is_own(port->second, neighbor.address)))
        findings.error("neighbor-own", describe(neighbor), "it has an address of our own",
                       "write the neighbor's address", neighbor.place);
}

// Sorted, without link-local ones, which may be a neighbor's at another port.
std::vector<IpAddress> own_addresses(const Config& config) {
    std::vector<IpAddress> own;
    for (const Interface& interface : interfaces_of(config))
        if (!is_link_local(interface.address)) own.push_back(interface.address);
    std::sort(own.begin(), own.end());
    return own;
}

}  // namespace

void check_addresses(const Config& config, Findings& findings) {
    const std::vector<Interface> interfaces = interfaces_of(config);
    check_overlaps(interfaces, findings);
    std::map<IpAddress, std::string> owners;
    for (const Interface& interface : interfaces) {
        if (is_link_local(interface.address)) continue;
        const auto [owner, is_new] = owners.emplace(interface.address, interface.port);
        if (!is_new && owner->second == interface.port)  // on another port the subnets overlap as well
            findings.error("address-twice", port_path(interface.port, "address"),
                           fmt::format("the port has {} twice", print_address(interface.address)),
                           "leave one out");
    }
}

void check_neighbors(const Config& config, Findings& findings) {
    const std::vector<IpAddress> own = own_addresses(config);
    const NeighborConfig* previous = nullptr;
    for (const NeighborConfig& neighbor : *config.neighbors) {
        check_neighbor(neighbor, config, own, findings);
        if (previous != nullptr && previous->key() == neighbor.key())
            findings.error(
                "neighbor-twice", describe(neighbor),
                fmt::format("it is {} already, at port {}", at_line(previous->place), previous->port),
                "leave one out", neighbor.place);
        else if (previous != nullptr && previous->address == neighbor.address &&
                 !is_link_local(neighbor.address))
            findings.warn("neighbor-several-ports", describe(neighbor),
                          fmt::format("it is {} at port {}, too: packets to it are shared among its ports",
                                      at_line(previous->place), previous->port),
                          "leave one out, unless it is behind both", neighbor.place);
        previous = &neighbor;
    }
}

void check_routes(const Config& config, Findings& findings) {
    const std::vector<IpAddress> own = own_addresses(config);
    const RouteConfig* previous = nullptr;
    for (const RouteConfig& route : *config.routes) {
        if (previous != nullptr && previous->prefix == route.prefix)
            findings.error("route-twice", describe(route),
                           fmt::format("the same prefix is {} already", at_line(previous->place)),
                           "put all next hops into one route", route.place);
        check_hops(
            route, own, [&](const NextHopConfig& hop) { return has_neighbor(*config.neighbors, hop); },
            findings);
        previous = &route;
    }
}

bool same_neighbors(const Config& good, const Config& config) {
    return good.neighbors.is_shared_with(config.neighbors) &&
           std::equal(good.ports.begin(), good.ports.end(), config.ports.begin(), config.ports.end(),
                      [](const auto& a, const auto& b) {
                          return a.first == b.first && a.second.address == b.second.address &&
                                 a.second.mac == b.second.mac;
                      });
}

}  // namespace lint

std::vector<Finding> check_changes(const Config& config, const RouteChanges& changes,
                                   const RouteBy& route_by) {
    lint::Findings findings(config);
    const std::vector<IpAddress> own = lint::own_addresses(config);
    std::set<NeighborKey> gone;
    std::set<IpAddress> there;  // at some port, afterwards
    for (const RouteChanges::Neighbor& change : changes.neighbors) {
        if (change.now) {
            lint::check_neighbor(*change.now, config, own, findings);
            there.insert(change.at.address);
        } else {
            gone.insert(change.at);
        }
    }
    const auto remains = [&](const IpAddress& address) {
        const auto [first, last] = config.neighbors->equal_range(address);
        return there.contains(address) || std::any_of(first, last, [&](const NeighborConfig& neighbor) {
                   return !gone.contains(neighbor.key());
               });
    };
    for (const NeighborKey& key : gone) {
        const NextHopConfig here{key.address, min_hop_weight, key.port}, anywhere{key.address};
        if (const auto prefix = route_by(here))
            lint::to_nowhere(*prefix, here, {}, findings);
        else if (!remains(key.address))
            if (const auto named = route_by(anywhere)) lint::to_nowhere(*named, anywhere, {}, findings);
    }
    for (const RouteChanges::Route& change : changes.routes)
        if (change.now)
            lint::check_hops(
                *change.now, own,
                [&](const NextHopConfig& hop) { return has_neighbor(*config.neighbors, hop); }, findings);
    return findings.take();
}

}  // namespace sluice
