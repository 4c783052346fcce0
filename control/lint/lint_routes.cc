// Addresses, neighbors and routes. A million of each is checked in well under a second: everything here
// sorts once and compares neighboring entries.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/lint/lint.hh"
#include "control/lint/lint_parts.hh"

namespace sluice {
namespace lint {
namespace {

struct Interface {
    IpPrefix network;
    IpAddress address;
    std::string port;
    SourcePlace place;
};

std::vector<Interface> interfaces_of(const Config& config) {
    std::vector<Interface> interfaces;
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& address : port.address)
            interfaces.push_back({network_of(address), address.address, name, port.place});
    return interfaces;
}

std::string describe(const NeighborConfig& neighbor) {
    return fmt::format("neighbor {}", print_address(neighbor.address));
}

std::string describe(const RouteConfig& route) { return fmt::format("route {}", print_prefix(route.prefix)); }

void to_nowhere(const IpPrefix& prefix, const IpAddress& hop, SourcePlace place, Findings& findings) {
    findings.error("route-to-nowhere", fmt::format("route {}", print_prefix(prefix)),
                   fmt::format("route to nowhere: {} goes by {}, which is no neighbor", print_prefix(prefix),
                               print_address(hop)),
                   fmt::format("add a [[neighbor]] with address = \"{}\"", print_address(hop)), place);
}

// A wider subnet sorts before those inside it, so the subnets around it are on the stack when it comes.
void check_overlaps(std::vector<Interface> interfaces, Findings& findings) {
    std::sort(interfaces.begin(), interfaces.end(), [](const Interface& a, const Interface& b) {
        return std::tie(a.network.address.is_v6, a.network.address.bytes, a.network.length) <
               std::tie(b.network.address.is_v6, b.network.address.bytes, b.network.length);
    });
    std::vector<const Interface*> around;
    for (const Interface& interface : interfaces) {
        if (is_link_local(interface.address)) continue;  // one on each port is as it should be
        while (!around.empty() && !contains(around.back()->network, interface.network.address))
            around.pop_back();
        for (const Interface* outer : around) {
            if (outer->port == interface.port) continue;
            findings.error(
                "subnet-overlap", port_path(interface.port, "address"),
                fmt::format("the subnet {} overlaps {} of port {}", print_prefix(interface.network),
                            print_prefix(outer->network), outer->port),
                "give each port its own subnet", interface.place);
            break;
        }
        around.push_back(&interface);
    }
}

template <class IsNeighbor>
void check_hops(const RouteConfig& route, const std::vector<IpAddress>& own, IsNeighbor is_neighbor,
                Findings& findings) {
    const std::string path = describe(route);
    std::set<IpAddress> seen;
    for (const NextHopConfig& hop : route.via) {
        const std::string hop_text = print_address(hop.address);
        if (route.via.size() > 1 && !seen.insert(hop.address).second)
            findings.error(
                "next-hop-twice", path, fmt::format("the next hop {} is in the list twice", hop_text),
                fmt::format("write it once, with a weight: {{address = \"{}\", weight = 2}}", hop_text),
                route.place);
        if (std::binary_search(own.begin(), own.end(), hop.address)) {
            findings.error("next-hop-own", path, fmt::format("the next hop {} is our own address", hop_text),
                           "name a neighbor's address", route.place);
            continue;
        }
        if (!is_neighbor(hop.address)) to_nowhere(route.prefix, hop.address, route.place, findings);
    }
}

void check_neighbor(const NeighborConfig& neighbor, const Config& config, const std::vector<IpAddress>& own,
                    Findings& findings) {
    if (!config.ports.contains(neighbor.port)) {
        const std::string near = nearest_port(config, neighbor.port);
        findings.error("neighbor-port", describe(neighbor),
                       fmt::format("there is no port {}", in_quotes(neighbor.port)),
                       near.empty() ? "name a port of the switch" : fmt::format("write port = \"{}\"", near),
                       neighbor.place);
    }
    if (std::binary_search(own.begin(), own.end(), neighbor.address))
        findings.error("neighbor-own", describe(neighbor), "it has an address of our own",
                       "write the neighbor's address", neighbor.place);
}

std::vector<IpAddress> own_addresses(const Config& config) {
    std::vector<IpAddress> own;
    for (const Interface& interface : interfaces_of(config)) own.push_back(interface.address);
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
                           "leave one out", interface.place);
    }
}

void check_neighbors(const Config& config, Findings& findings) {
    const std::vector<IpAddress> own = own_addresses(config);
    const NeighborConfig* previous = nullptr;
    for (const NeighborConfig& neighbor : *config.neighbors) {
        check_neighbor(neighbor, config, own, findings);
        if (previous != nullptr && previous->address == neighbor.address)
            findings.error(
                "neighbor-twice", describe(neighbor),
                fmt::format("it is {} already, at port {}", at_line(previous->place), previous->port),
                "leave one out", neighbor.place);
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
            route, own, [&](const IpAddress& hop) { return config.neighbors->contains(hop); }, findings);
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
    for (const RouteChanges::Neighbor& change : changes.neighbors) {
        if (change.now) {
            lint::check_neighbor(*change.now, config, own, findings);
        } else if (const auto prefix = route_by(change.address)) {
            lint::to_nowhere(*prefix, change.address, {}, findings);
        }
    }
    for (const RouteChanges::Route& change : changes.routes)
        if (change.now)
            lint::check_hops(
                *change.now, own, [&](const IpAddress& hop) { return config.neighbors->contains(hop); },
                findings);
    return findings.take();
}

}  // namespace sluice
