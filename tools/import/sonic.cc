#include "tools/import/sonic.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/values.hh"

namespace sluice::import {
namespace {

struct Passed {
    std::string_view table;
    std::string_view why;
};

constexpr std::array passed{
    Passed{"ACL_RULE", "Sluice has no access lists"},
    Passed{"ACL_TABLE", "Sluice has no access lists"},
    Passed{"BGP_NEIGHBOR", "routes by BGP come from a daemon beside the switch: kernel.routes = true"},
    Passed{"BGP_PEER_RANGE", "routes by BGP come from a daemon beside the switch: kernel.routes = true"},
    Passed{"BUFFER_PORT_EGRESS_PROFILE_LIST", "Sluice limits queues and pools, not whole ports"},
    Passed{"BUFFER_PORT_INGRESS_PROFILE_LIST", "Sluice limits groups and pools, not whole ports"},
    Passed{"DEFAULT_LOSSLESS_BUFFER_PARAMETER", "Sluice computes a headroom from speed, cable and MTU"},
    Passed{"LOSSLESS_TRAFFIC_PATTERN", "Sluice reckons with the worst mix of frame sizes"},
    Passed{"LOOPBACK_INTERFACE", "an address of a port, or of the kernel"},
    Passed{"PORTCHANNEL", "Sluice has no link aggregation: its ports route one by one"},
    Passed{"PORTCHANNEL_INTERFACE", "Sluice has no link aggregation: its ports route one by one"},
    Passed{"PORTCHANNEL_MEMBER", "Sluice has no link aggregation: its ports route one by one"},
    Passed{"VLAN", "Sluice routes, it does not bridge"},
    Passed{"VLAN_INTERFACE", "Sluice routes, it does not bridge"},
    Passed{"VLAN_MEMBER", "Sluice routes, it does not bridge"},
    Passed{"VRF", "Sluice has one table of routes"},
    Passed{"TC_TO_DSCP_MAP", "Sluice leaves the DSCP of a packet as it is"},
    Passed{"DSCP_TO_FC_MAP", "Sluice has no forwarding classes"},
};

// A file may have no PORT table, as those of QoS alone: then the other tables name the ports.
void find_ports(Sonic& in) {
    const auto add = [&](const Item& node, std::string_view keys) {
        if (std::count(keys.begin(), keys.end(), '|') > 1) return;  // of a chassis
        keys = keys.substr(0, keys.find('|'));
        while (!keys.empty()) {
            const std::string port(keys.substr(0, keys.find(',')));
            keys.remove_prefix(std::min(port.size() + 1, keys.size()));
            if (port != "global" && in.out.check_name(node, port)) in.out.add_port(&node, port);
        }
    };
    for (const std::string_view name :
         {"CABLE_LENGTH", "PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE"}) {
        const Item* table = in.table(name);
        if (table == nullptr || !in.config().ports.empty()) continue;
        for (const auto& entry : table->members) {
            if (name != "CABLE_LENGTH") add(*entry, entry->name);
            if (name == "CABLE_LENGTH")
                for (const auto& field : entry->members) add(*field, field->name);
        }
        if (!in.config().ports.empty())
            in.account().assumed("PORT",
                                 fmt::format("the file has no ports: those of {} are taken, at 100G", name));
    }
}

// Tables that Sluice has nothing for, with the reason.
void pass_tables(Sonic& in) {
    for (const auto& table : in.root.members) {
        const auto found = std::find_if(passed.begin(), passed.end(),
                                        [&](const Passed& p) { return p.table == table->name; });
        if (found != passed.end() && table->repeated.line == 0)
            in.account().nothing(
                *table, fmt::format("{} ({})", found->why, print_count(table->members.size(), "line")));
    }
}

bool any_accounted(const Item& node) {
    return node.accounted || std::any_of(node.members.begin(), node.members.end(),
                                         [](const auto& member) { return any_accounted(*member); });
}

}  // namespace

const Item* Sonic::table(std::string_view name) const {
    const Item* found = root.find(name);
    if (found == nullptr || found->is_map()) return found;
    if (!found->accounted) account().wrong(*found, "a table must be an object");
    return nullptr;
}

std::string Sonic::referred_name(const Item& reference, std::string_view table_name) {
    std::string_view text = reference.word;
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    if (text.starts_with(table_name) && text.substr(table_name.size()).starts_with('|'))
        text.remove_prefix(table_name.size() + 1);
    return std::string(text);
}

const Item* Sonic::referred(const Item& reference, std::string_view table_name) const {
    const Item* in_table = table(table_name);
    return in_table == nullptr ? nullptr : in_table->find(referred_name(reference, table_name));
}

std::vector<PortConfig*> Sonic::ports_of(const Item& entry, std::string_view list) const {
    std::vector<PortConfig*> ports;
    while (!list.empty()) {
        const std::string name(list.substr(0, list.find(',')));
        list.remove_prefix(std::min(name.size() + 1, list.size()));
        const auto found = config().ports.find(name);
        if (found != config().ports.end()) {
            ports.push_back(&found->second);
            continue;
        }
        account().wrong(entry, "there is no port " + in_quotes(name),
                        "add it to PORT, or leave the entry out");
        return {};
    }
    return ports;
}

void Sonic::each_class(
    std::string_view table_name,
    const std::function<void(const Item& entry, PortConfig& port, unsigned n)>& take) const {
    const Item* entries = table(table_name);
    if (entries == nullptr) return;
    for (const auto& entry : entries->members) {
        if (entry->repeated.line != 0) continue;
        std::string_view key = entry->name;
        const std::size_t bar = key.rfind('|');
        if (bar == key.npos) {
            account().wrong(*entry, in_quotes(key) + " has no classes", "write it as Ethernet0|3-4");
            continue;
        }
        if (!entry->is_map()) {
            account().wrong(*entry, "must be an object");
            continue;
        }
        std::string_view ports = key.substr(0, bar);
        if (const std::size_t last = ports.rfind('|'); last != ports.npos) {
            // HOST|ASIC|PORT of a chassis: of another card, unless the file says that the host is this one.
            if (host_name.empty() || !ports.starts_with(host_name + "|")) {
                account().nothing(*entry, "a port of another card of the chassis");
                continue;
            }
            ports.remove_prefix(last + 1);
        }
        const auto list = out.classes_of(*entry, key.substr(bar + 1));
        if (list.empty()) continue;
        for (PortConfig* port : ports_of(*entry, ports))
            for (const ClassId n : list) take(*entry, *port, n);
    }
}

void import_sonic(const Item& root, Importing& out) {
    Sonic in{root, out, {}};
    if (!root.is_map()) {
        out.account.wrong(root, "a config_db.json is an object of tables");
        return;
    }
    if (const Item* device = in.table("DEVICE_METADATA"))
        if (const Item* host = device->find("localhost"))
            if (const Item* name = host->find("hostname"); name != nullptr && name->is_word())
                in.host_name = name->word;
    pass_tables(in);
    take_sonic_ports(in);
    find_ports(in);
    take_sonic_links(in);
    take_sonic_maps(in);
    take_sonic_buffers(in);
    take_sonic_queues(in);
    take_sonic_routes(in);
    // Tables of which nothing was taken: one line each.
    for (const auto& table : root.members)
        if (table->is_map() && table->repeated.line == 0 && !any_accounted(*table))
            out.account.nothing(*table, fmt::format("Sluice has none of it ({})",
                                                    print_count(table->members.size(), "line")));
}

}  // namespace sluice::import
