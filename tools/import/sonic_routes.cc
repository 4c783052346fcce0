// STATIC_ROUTE: each entry's lists have one item for each next hop.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/sonic.hh"
#include "tools/import/split.hh"

namespace sluice::import {
namespace {

// A next hop without an address, or the address of nobody, is a port alone.
bool names_host(const IpAddress& address) { return address.bytes != IpAddress{}.bytes; }

bool take_hops(Sonic& in, const Item& entry, RouteConfig& route) {
    const Item* hops = entry.find("nexthop");
    const auto addresses = split(hops == nullptr ? std::string_view() : hops->word, ',');
    const Item* named = entry.find("ifname");
    const auto ports = split(named == nullptr ? std::string_view() : named->word, ',');
    if (hops == nullptr || addresses.empty() || addresses.size() > max_route_hops) {
        in.account().wrong(entry, fmt::format("has no list of 1 to {} next hops in nexthop", max_route_hops));
        return false;
    }
    for (std::size_t n = 0; n < addresses.size(); ++n) {
        const auto address = parse_address(addresses[n]);
        if (!address) {
            in.account().wrong(*hops, in_quotes(addresses[n]) + " " + address.error().wrong);
            return false;
        }
        const std::string port(n < ports.size() ? ports[n] : std::string_view());
        if (!names_host(*address)) {
            in.account().nothing(entry, "a route by a port alone: Sluice's go by addresses");
            return false;
        }
        if (!port.empty() && !in.config().ports.contains(port)) {
            in.account().nothing(entry,
                                 fmt::format("goes by {}, which is no port of Sluice's", in_quotes(port)));
            return false;
        }
        in.out.next_hops.insert({*address, port});
        route.via.push_back({*address, min_hop_weight, port});
    }
    std::sort(route.via.begin(), route.via.end());
    return true;
}

}  // namespace

void take_sonic_routes(Sonic& in) {
    const Item* table = in.table("STATIC_ROUTE");
    if (table == nullptr) return;
    for (const auto& entry : table->members) {
        if (entry->repeated.line != 0) continue;
        if (!entry->is_map()) {
            in.account().wrong(*entry, "must be an object");
            continue;
        }
        std::string_view key = entry->name;
        if (const std::size_t bar = key.find('|'); bar != key.npos) {
            if (trimmed(key.substr(0, bar)) != "default") {
                in.account().nothing(*entry, "Sluice has one table of routes");
                continue;
            }
            key.remove_prefix(bar + 1);
        }
        const auto prefix = parse_network(key);
        if (!prefix) {
            in.account().wrong(*entry, in_quotes(key) + " " + prefix.error().wrong, prefix.error().remedy);
            continue;
        }
        RouteConfig route{*prefix, {}, {}};
        const Item* blackhole = entry->find("blackhole");
        const bool drops = blackhole != nullptr && blackhole->word.starts_with("true");
        if (!drops && !take_hops(in, *entry, route)) continue;
        if (in.config().routes->contains(*prefix)) {
            in.account().nothing(*entry, "another entry has this prefix");
            continue;
        }
        for (const char* list : {"nexthop", "ifname", "blackhole"})
            if (const Item* node = entry->find(list))
                in.account().taken(*node, fmt::format("[[route]] prefix = \"{}\"{}", print_prefix(*prefix),
                                                      drops ? " via = \"blackhole\"" : ""));
        add(in.config(), std::move(route));
    }
}

}  // namespace sluice::import
