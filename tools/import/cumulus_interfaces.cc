// interface: link, addresses; vrf default: static routes.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/values.hh"
#include "tools/import/cumulus.hh"

namespace sluice::import {
namespace {

constexpr std::uint32_t usual_mtu = 9216;

void take_speed(Cumulus& in, const Item& node, const std::vector<std::string>& ports) {
    const std::string_view word = Cumulus::value(&node);
    if (word == "auto") return in.account().assumed(node, "speed = \"100G\": the file leaves it to the link");
    const auto rate = parse_rate(word);
    if (!rate || !rate->valid_port_speed())
        return in.account().wrong(node, in_quotes(word) + " is no speed of a port",
                                  "write 100G, for example");
    for (const std::string& name : ports) in.config().ports.at(name).speed = *rate;
    in.account().taken(node,
                       key_of_port(ports.front(), "speed") + fmt::format(" = \"{}\"", print_rate(*rate)));
}

void take_mtu(Cumulus& in, const Item& node, const std::vector<std::string>& ports) {
    const auto mtu = parse_integer(Cumulus::value(&node));
    if (!mtu || *mtu < min_mtu || *mtu > 65'535)
        return in.account().wrong(node, "is no MTU from 68 to 65535");
    const auto ours = static_cast<std::uint32_t>(std::min<std::uint64_t>(*mtu, max_mtu));
    for (const std::string& name : ports) in.config().ports.at(name).mtu = ours;
    in.account().taken(node, key_of_port(ports.front(), "mtu") + fmt::format(" = {}", ours));
}

void take_link(Cumulus& in, const Item& link, const std::vector<std::string>& ports) {
    if (const Item* speed = link.find("speed")) take_speed(in, *speed, ports);
    if (const Item* mtu = link.find("mtu")) take_mtu(in, *mtu, ports);
    const Item* state = link.find("state");
    if (state == nullptr) return;
    if (Cumulus::value(state) != "down") return in.account().taken(*state, "up from the start");
    for (const std::string& name : ports)
        in.config().events.push_back({Duration{}, fmt::format("port {} down", name), {}});
    in.account().taken(*state, fmt::format("[[event]] at = \"0ns\" do = \"port {} down\"", ports.front()));
}

void take_addresses(Cumulus& in, const Item& list, const std::vector<std::string>& ports) {
    for (const auto& entry : list.members) {
        if (entry->repeated.line != 0) continue;
        const auto address = in.out.interface_address(*entry, entry->name);
        if (!address) continue;
        if (ports.size() > 1) {
            in.account().wrong(*entry, "is an address of several ports", "write one port for it");
            continue;
        }
        in.config().ports.at(ports.front()).address.push_back(*address);
        in.account().taken(*entry,
                           key_of_port(ports.front(), "address") + " has \"" + print_prefix(*address) + "\"");
    }
}

}  // namespace

void take_cumulus_interfaces(Cumulus& in) {
    const Item* interfaces = Cumulus::at(in.set, {"interface"});
    if (interfaces == nullptr || !interfaces->is_map()) {
        in.account().assumed("set.interface", "no interfaces: four ports swp1 to swp4 of 100G");
        for (const char* name : {"swp1", "swp2", "swp3", "swp4"}) in.out.add_port(nullptr, name);
        return;
    }
    for (const auto& entry : interfaces->members) {
        if (entry->repeated.line != 0) continue;
        const auto ports = front_ports(entry->name);
        if (ports.empty()) {
            in.account().nothing(*entry, "no port of the front: management, loopback, bond, VLAN");
            continue;
        }
        if (!std::all_of(ports.begin(), ports.end(),
                         [&](const auto& name) { return in.out.check_name(*entry, name); }))
            continue;
        for (const std::string& name : ports) {
            const bool is_new = !in.config().ports.contains(name);
            in.out.add_port(entry.get(), name);
            if (!in.config().ports.contains(name)) return;
            if (is_new) in.config().ports.at(name).mtu = usual_mtu;
        }
        if (const Item* link = entry->find("link")) take_link(in, *link, ports);
        if (const Item* addresses = Cumulus::at(entry.get(), {"ip", "address"}))
            take_addresses(in, *addresses, ports);
        if (const Item* addresses = Cumulus::at(entry.get(), {"ipv6", "address"}))
            take_addresses(in, *addresses, ports);
        if (const Item* type = entry->find("type"); type != nullptr && Cumulus::value(type) == "swp")
            in.account().taken(*type, "a port");
        if (entry->members.empty()) in.account().taken(*entry, "a port");
    }
}

void take_cumulus_routes(Cumulus& in) {
    const Item* routes = Cumulus::at(in.set, {"vrf", "default", "router", "static"});
    if (routes == nullptr) return;
    for (const auto& entry : routes->members) {
        if (entry->repeated.line != 0) continue;
        const auto prefix = parse_network(entry->name);
        if (!prefix) {
            in.account().wrong(*entry, in_quotes(entry->name) + " " + prefix.error().wrong,
                               prefix.error().remedy);
            continue;
        }
        RouteConfig route{*prefix, {}, {}};
        const Item* via = entry->find("via");
        bool good =
            via != nullptr && via->is_map() && !via->members.empty() && via->members.size() <= max_route_hops;
        for (std::size_t n = 0; good && n < via->members.size(); ++n) {
            const auto hop = parse_address(via->members[n]->name);
            good = hop.has_value();
            if (!good) break;
            in.out.next_hops.insert({*hop, {}});
            route.via.push_back({*hop});
        }
        const bool drops = via != nullptr && via->find("blackhole") != nullptr;
        if (!good && !drops) {
            in.account().nothing(*entry, "its next hops are no addresses");
            continue;
        }
        if (drops) route.via.clear();
        std::sort(route.via.begin(), route.via.end());
        in.account().taken(*entry, fmt::format("[[route]] prefix = \"{}\"", print_prefix(*prefix)));
        add(in.config(), std::move(route));
    }
}

}  // namespace sluice::import
