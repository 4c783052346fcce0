// interface: link, addresses; vrf default: static routes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "control/config/schema/values.hh"
#include "tools/import/cumulus.hh"

namespace sluice::import {
namespace {

constexpr std::uint32_t usual_mtu = 9216;

void take_speed(Cumulus& in, const Item& node, const std::vector<std::string>& ports) {
    const std::string_view word = Cumulus::value(&node);
    if (word == "auto") return in.account().assumed(node, "speed = \"100G\": the file leaves it to the link");
    const auto rate = parse_rate(word);
    if (!rate || !rate->valid_port_speed())
        return in.account().wrong(node, in_quotes(word) + " is not a speed of a port",
                                  "write 100G, for example");
    for (const std::string& name : ports) {
        in.config().ports.at(name).speed = *rate;
        in.out.note(in.config().ports.at(name), Aspect::speed, node);
    }
    in.account().taken(node,
                       key_of_port(ports.front(), "speed") + fmt::format(" = \"{}\"", print_rate(*rate)));
}

void take_mtu(Cumulus& in, const Item& node, const std::vector<std::string>& ports) {
    const auto mtu = parse_integer(Cumulus::value(&node));
    if (!mtu || *mtu < min_mtu || *mtu > 65'535)
        return in.account().wrong(node, in_quotes(Cumulus::value(&node)) + " is not an MTU from 68 to 65535");
    const auto ours = static_cast<std::uint32_t>(std::min<std::uint64_t>(*mtu, max_mtu));
    for (const std::string& name : ports) {
        in.config().ports.at(name).mtu = ours;
        in.out.note(in.config().ports.at(name), Aspect::mtu, node);
    }
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
    for (const Item* entry : list.entries()) {
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

// The parts of "4x25G", or of "4x" and nothing; no parts: not broken out.
struct Breakout {
    unsigned parts = 0;
    std::optional<Rate> speed;
};

// A port that is broken out is none any more: its parts are swp1s0, swp1s1 ...
Breakout breakout_of(std::string_view mode) {
    const std::size_t times = mode.find('x');
    const auto parts = parse_integer(mode.substr(0, times));
    constexpr unsigned max_parts = 8;
    if (times == mode.npos || !parts || *parts < 2 || *parts > max_parts) return {};
    Breakout out{static_cast<unsigned>(*parts), {}};
    const auto speed = parse_rate(mode.substr(times + 1));
    if (speed && speed->valid_port_speed()) out.speed = *speed;
    return out;
}

PortConfig* add_front_port(Cumulus& in, const Item& entry, const std::string& name) {
    const bool is_new = !in.config().ports.contains(name);
    PortConfig* port = in.out.add_port(entry, name);
    if (port != nullptr && is_new) port->mtu = usual_mtu;
    return port;
}

// The ports of the entry that are broken out, or disabled, are added to `gone`.
void take_breakout(Cumulus& in, const Item& entry, std::set<std::string>& gone) {
    const Item* node = Cumulus::at(&entry, {"link", "breakout"});
    if (node == nullptr) return;
    // "4x25G", or 4x with keys of its own below.
    std::string_view mode = Cumulus::value(node);
    if (mode.empty() && !node->members.empty()) mode = node->members.back()->name;
    if (mode == "1x" || mode.starts_with("1x")) return in.account().taken(*node, "one port");
    const auto parents = front_ports(entry.name);
    if (mode == "disabled" || mode == "loopback") {
        gone.insert(parents.begin(), parents.end());
        return in.account().nothing(*node, "the port is not in use");
    }
    const Breakout breakout = breakout_of(mode);
    if (breakout.parts == 0)
        return in.account().wrong(*node, in_quotes(mode) + " is not a breakout", "write 4x25G, or 4x");
    for (const std::string& parent : parents) {
        gone.insert(parent);
        for (unsigned n = 0; n < breakout.parts; ++n) {
            PortConfig* port = add_front_port(in, entry, fmt::format("{}s{}", parent, n));
            if (port != nullptr && breakout.speed) port->speed = *breakout.speed;
        }
    }
    if (!parents.empty())
        in.account().taken(*node, fmt::format("ports {0}s0 to {0}s{1}, and {0} is none", parents.front(),
                                              breakout.parts - 1));
}

}  // namespace

void take_cumulus_interfaces(Cumulus& in) {
    const Item* interfaces = Cumulus::at(in.set, {"interface"});
    if (interfaces == nullptr || !interfaces->is_map()) return;
    std::set<std::string> gone;
    for (const Item* entry : interfaces->entries()) take_breakout(in, *entry, gone);
    for (const Item* entry : interfaces->entries()) {
        auto ports = front_ports(entry->name);
        if (ports.empty()) {
            in.account().nothing(*entry, "no port of the front: management, loopback, bond, VLAN");
            continue;
        }
        if (!std::ranges::all_of(ports, [&](const auto& name) { return in.out.check_name(*entry, name); }))
            continue;
        std::erase_if(ports, [&](const std::string& name) {
            return gone.contains(name) || add_front_port(in, *entry, name) == nullptr;
        });
        if (ports.empty()) {
            if (!entry->accounted) in.account().nothing(*entry, "of a port that is broken out or left out");
            continue;
        }
        if (const Item* link = entry->find("link")) take_link(in, *link, ports);
        for (const char* family : {"ip", "ipv6"})
            if (const Item* addresses = Cumulus::at(entry, {family, "address"}))
                take_addresses(in, *addresses, ports);
        if (const Item* type = entry->find("type"); type != nullptr && Cumulus::value(type) == "swp")
            in.account().taken(*type, "a port");
        if (entry->members.empty()) in.account().taken(*entry, "a port");
    }
}

void take_cumulus_routes(Cumulus& in) {
    const Item* routes = Cumulus::at(in.set, {"vrf", "default", "router", "static"});
    if (routes == nullptr) return;
    for (const Item* entry : routes->entries()) {
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
            in.account().nothing(*entry, "its next hops are not addresses");
            continue;
        }
        if (drops) route.via.clear();
        std::sort(route.via.begin(), route.via.end());
        in.account().taken(*entry, fmt::format("[[route]] prefix = \"{}\"", print_prefix(*prefix)));
        add(in.config(), std::move(route));
    }
}

}  // namespace sluice::import
