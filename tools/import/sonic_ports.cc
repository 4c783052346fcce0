// PORT, INTERFACE, CABLE_LENGTH, PFC_WD; and STATIC_ROUTE, whose lists have one item for each next hop.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/document.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

constexpr std::uint32_t max_cable_m = 100'000;

void take_mtu(Sonic& in, const Item& node, PortConfig& port, const std::string& name) {
    const auto mtu = in.out.number(node, min_mtu, 65'535);
    if (!mtu) return;
    in.out.note(port, Aspect::mtu, node);
    port.mtu = static_cast<std::uint32_t>(std::min<std::uint64_t>(*mtu, max_mtu));
    const std::string what = key_of_port(name, "mtu") + fmt::format(" = {}", port.mtu);
    if (*mtu > max_mtu)
        in.account().assumed(node, what + ": the most that Sluice takes");
    else
        in.account().taken(node, what);
}

void take_admin_status(Sonic& in, const Item& node, const std::string& name) {
    if (node.word == "up") {
        in.account().taken(node, fmt::format("port {} is up from the start", name));
        return;
    }
    if (node.word != "down")
        return in.account().wrong(node, in_quotes(node.word) + " is neither up nor down");
    in.config().events.push_back({Duration{}, fmt::format("port {} down", name), {}});
    in.account().taken(node, fmt::format("[[event]] at = \"0ns\" do = \"port {} down\"", name));
}

void take_asymmetric(Sonic& in, const Item& node, PortConfig& port, const std::string& name) {
    if (node.word != "on" && node.word != "off")
        return in.account().wrong(node, in_quotes(node.word) + " is neither on nor off");
    if (node.word == "on") port.pfc_mode = PfcMode::asymmetric;
    in.account().taken(
        node, key_of_port(name, "pfc_mode") + (node.word == "on" ? " = \"asymmetric\"" : " = \"symmetric\""));
}

void take_port(Sonic& in, const Item& entry) {
    const std::string& name = entry.name;
    if (!in.is_object(entry)) return;
    if (!in.out.check_name(entry, name)) return;
    PortConfig* made = in.out.add_port(entry, name);
    if (made == nullptr) return;
    PortConfig& port = *made;
    if (const Item* speed = entry.find("speed")) {
        in.out.note(port, Aspect::speed, *speed);
        if (const auto megabits = in.out.number(*speed, 1, 10'000'000))
            in.out.set_speed(*speed, port, name, *megabits);
        if (in.out.ports_left_out.contains(name))
            return in.account().nothing(entry, "of a port that is left out");
    } else {
        in.account().assumed("PORT." + name + ".speed", key_of_port(name, "speed") + " = \"100G\"");
    }
    in.out.note(port, Aspect::mtu, entry);  // SONiC's default holds
    if (const Item* mtu = entry.find("mtu")) take_mtu(in, *mtu, port, name);
    if (const Item* status = entry.find("admin_status")) take_admin_status(in, *status, name);
    if (const Item* asymmetric = entry.find("pfc_asym")) take_asymmetric(in, *asymmetric, port, name);
    if (const Item* description = entry.find("description");
        description != nullptr && description->is_word()) {
        PortNotes& notes = in.out.notes[name];
        notes.description = description->word;
        notes.description_place = description->place;
    }
    // What the optics and the front panel need.
    for (const char* physical : {"lanes", "alias", "index", "description", "fec", "autoneg", "role",
                                 "adv_speeds", "interface_type", "adv_interface_types", "asic_port_name"})
        if (const Item* node = entry.find(physical))
            in.account().nothing(*node, "of the card behind the port, or a name");
}

void take_interfaces(Sonic& in) {
    for (const Item* entry : in.entries("INTERFACE")) {
        const std::size_t bar = entry->name.find('|');
        const std::string name(trimmed(std::string_view(entry->name).substr(0, bar)));
        if (in.ports_of(*entry, name).empty()) continue;
        const auto port = in.config().ports.find(name);
        if (bar == std::string::npos) {
            if (entry->find("vrf_name") != nullptr)
                in.account().nothing(*entry, "Sluice has one table of routes");
            else
                in.account().taken(*entry, fmt::format("port {} routes", name));
            continue;
        }
        const auto address =
            in.out.interface_address(*entry, trimmed(std::string_view(entry->name).substr(bar + 1)));
        if (!address) continue;
        if (address->address.is_v6 && is_link_local(address->address)) {
            in.account().nothing(*entry, "Sluice has no link-local addresses");
            continue;
        }
        port->second.address.push_back(*address);
        in.account().taken(*entry, key_of_port(name, "address") + " has \"" + print_prefix(*address) + "\"");
    }
}

void take_cables(Sonic& in) {
    const Item* table = in.table("CABLE_LENGTH");
    if (table == nullptr) {
        in.account().assumed("CABLE_LENGTH", "5 m of cable at each port");
        return;
    }
    for (const Item* entry : table->entries())
        for (const Item* field : entry->entries()) {
            const auto port = in.config().ports.find(field->name);
            if (port == in.config().ports.end()) {
                if (!in.config().ports.empty()) in.account().nothing(*field, "PORT has no such port");
                continue;
            }
            const auto length = parse_length(field->word);
            if (!length || !field->is_word()) {
                in.account().wrong(*field, in_quotes(field->word) + " is not a length", "write meters: 40m");
                continue;
            }
            port->second.cable_m = std::min(*length, max_cable_m);
            in.out.notes[field->name].says_cable = true;
            const std::string what =
                key_of_port(field->name, "cable") + " = \"" + print_length(port->second.cable_m) + "\"";
            if (*length == 0)
                in.account().assumed(*field, what + ": SONiC makes no lossless profile for a cable of 0m");
            else if (*length > max_cable_m)
                in.account().assumed(*field, what + ": the most that Sluice reckons with");
            else
                in.account().taken(*field, what);
        }
}

constexpr std::int64_t max_storm_ms = 60'000;

std::optional<Duration> take_time(Sonic& in, const Item& node, std::uint64_t low, std::uint64_t high,
                                  const std::string& key) {
    const auto ms = in.out.number(node, low, high);
    if (!ms) return std::nullopt;
    const Duration time = milliseconds(static_cast<std::int64_t>(*ms));
    in.account().taken(node, fmt::format("{} = \"{}\"", key, print_time(time)));
    return time;
}

void take_watchdog_of(Sonic& in, const Item& entry, PortConfig& port) {
    const std::string key = key_of_port(entry.name, "watchdog");
    port.watchdog.action = WatchdogAction::drop;
    in.out.note(port, Aspect::watchdog, entry);
    if (const Item* action = entry.find("action")) {
        const std::string& word = action->word;
        if (word != "drop" && word != "forward" && word != "alert")
            return in.account().wrong(*action, in_quotes(word) + " is none of drop, forward, alert");
        port.watchdog.action = word == "drop"      ? WatchdogAction::drop
                               : word == "forward" ? WatchdogAction::forward
                                                   : WatchdogAction::alert;
        in.account().taken(*action, fmt::format("{}.action = \"{}\"", key, word));
    }
    if (const Item* time = entry.find("detection_time")) {
        port.watchdog.detection = take_time(in, *time, 100, 5000, key + ".detection");
    } else {
        port.watchdog.action = WatchdogAction::off;
        return in.account().assumed(
            entry, key + ".action = \"off\": there is no detection_time, and SONiC refuses such an entry");
    }
    if (const Item* time = entry.find("restoration_time")) {
        port.watchdog.restoration = take_time(in, *time, 100, max_storm_ms, key + ".restoration");
        return;
    }
    port.watchdog.restoration = milliseconds(max_storm_ms);
    in.account().assumed(
        entry.path() + ".restoration_time",
        fmt::format("{}.restoration = \"{}\", the longest: SONiC never restores a queue without it", key,
                    print_time(*port.watchdog.restoration)));
}

// Between two looks a storm is not seen.
void tell_late_poll(Sonic& in, const Item& table) {
    const auto& poll = in.config().watchdog.poll;
    if (!poll) return;
    for (const auto& [name, port] : in.config().ports)
        if (port.watchdog.action != WatchdogAction::off && port.watchdog.detection &&
            *poll > *port.watchdog.detection)
            return in.account().assumed(
                table.path() + ".GLOBAL.POLL_INTERVAL",
                fmt::format(
                    "watchdog.poll = \"{}\" is above the detection time of port {}, {}: SONiC finds a "
                    "storm that much later, and so does Sluice under the real clock",
                    print_time(*poll), name, print_time(*port.watchdog.detection)));
}

void take_watchdog(Sonic& in) {
    for (auto& [name, port] : in.config().ports) port.watchdog.action = WatchdogAction::off;
    const Item* table = in.table("PFC_WD");
    if (table == nullptr) {
        in.account().assumed("PFC_WD",
                             "no watchdog: SONiC watches the ports that its table names, and it names none");
        return;
    }
    for (const Item* entry : table->entries()) {
        if (entry->name == "GLOBAL") {
            if (const Item* poll = entry->find("POLL_INTERVAL"))
                in.config().watchdog.poll = take_time(in, *poll, 1, 5000, "watchdog.poll");
            if (const Item* red = entry->find("BIG_RED_SWITCH"); red != nullptr && red->word == "enable") {
                in.config().events.push_back({Duration{}, "watchdog big-red-switch on", {}});
                in.account().taken(*red, "[[event]] at = \"0ns\" do = \"watchdog big-red-switch on\"");
            }
            continue;
        }
        if (!in.is_object(*entry)) continue;
        for (PortConfig* port : in.ports_of(*entry, entry->name)) take_watchdog_of(in, *entry, *port);
    }
    tell_late_poll(in, *table);
}

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
                                 fmt::format("goes by {}, which is not a port of Sluice's", in_quotes(port)));
            return false;
        }
        in.out.next_hops.insert({*address, port});
        route.via.push_back({*address, min_hop_weight, port});
    }
    std::sort(route.via.begin(), route.via.end());
    return true;
}

}  // namespace

void take_sonic_ports(Sonic& in) {
    for (const Item* entry : in.entries("PORT")) take_port(in, *entry);
}

void take_sonic_links(Sonic& in) {
    take_interfaces(in);
    take_cables(in);
    take_watchdog(in);
}

void take_sonic_routes(Sonic& in) {
    for (const Item* entry : in.entries("STATIC_ROUTE")) {
        if (!in.is_object(*entry)) continue;
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
