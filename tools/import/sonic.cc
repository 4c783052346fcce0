#include "tools/import/sonic.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control/config/schema/values.hh"
#include "tools/import/document.hh"

namespace sluice::import {
namespace {

// Queues of a port that a chip may have, for multicast and for its CPU.
constexpr unsigned max_queues = 63;

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
    Passed{"DSCP_TO_FC_MAP", "Sluice has no forwarding classes"},
};

// A file may have no PORT table, as those of QoS alone: then the other tables name the ports.
void find_ports(Sonic& in) {
    const auto add = [&](const Item& node, std::string_view keys) {
        if (std::count(keys.begin(), keys.end(), '|') > 1) return;  // of a chassis
        for (const std::string_view port : split(keys.substr(0, keys.find('|')), ','))
            if (port != "global" && in.out.check_name(node, port)) in.out.add_port(node, std::string(port));
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
        const auto* const found = std::ranges::find(passed, table->name, &Passed::table);
        if (found != passed.end() && table->repeated.line == 0)
            in.account().nothing(
                *table, fmt::format("{} ({})", found->why, print_count(table->members.size(), "line")));
    }
}

bool any_accounted(const Item& node) {
    return node.accounted || std::any_of(node.members.begin(), node.members.end(),
                                         [](const auto& member) { return any_accounted(*member); });
}

constexpr std::string_view table_end = "_TABLE";

// {"type": "hash", "ttl": ..., "value": {...}}, as sonic-db-dump writes an entry: its value alone.
void unwrap(Item& entry) {
    const Item* type = entry.find("type");
    const auto value = entry.index.find("value");
    if (type == nullptr || type->word != "hash" || value == entry.index.end() || !value->second->is_map())
        return;
    Item* inner = value->second;
    auto members = std::move(inner->members);
    entry.index.clear();
    entry.members.clear();
    for (auto& member : members) adopt(entry, std::move(member));
}

// A member of the root: a table, or one entry of it by a key "TABLE|KEY" or "TABLE_TABLE:KEY".
void add_table(Item& root, std::unique_ptr<Item> member) {
    std::string& name = member->name;
    std::size_t at = name.find_first_of("|:");
    std::string table = name.substr(0, at);
    const bool of_database = at != std::string::npos && name[at] == ':' && table.ends_with(table_end);
    if (at == std::string::npos || (name[at] == ':' && !of_database)) {
        adopt(root, std::move(member));
        return;
    }
    name.erase(0, at + 1);
    if (of_database) {
        table.resize(table.size() - table_end.size());
        // The database has ':' where a configuration has '|', and addresses have ':', too.
        const bool has_address =
            table == "INTF" || table == "INTERFACE" || table == "ROUTE" || table == "STATIC_ROUTE";
        if (table == "INTF") table = "INTERFACE";
        if (name.find('|') == std::string::npos) {
            const auto first = std::find(name.begin(), name.end(), ':');
            std::replace(name.begin(), has_address && first != name.end() ? first + 1 : name.end(), ':', '|');
        }
    }
    auto made = std::make_unique<Item>();
    made->kind = Item::Kind::map;
    made->name = table;
    made->place = member->place;
    unwrap(*member);
    adopt(*made, std::move(member));
    adopt(root, std::move(made));
}

void add_tables(Item& root, std::vector<std::unique_ptr<Item>> members) {
    for (auto& member : members) {
        member->parent = &root;
        if (member->repeated.line != 0)
            root.members.push_back(std::move(member));  // its key comes again
        else
            add_table(root, std::move(member));
    }
}

// By port with the neighbor's name, or by neighbor with the `local_port`, as SONiC's own manual has it.
void take_neighbors(Sonic& in) {
    const auto word = [](const Item& entry, std::string_view field) {
        const Item* node = entry.find(field);
        return node != nullptr && node->is_word() ? node : nullptr;
    };
    for (const Item* entry : in.entries("DEVICE_NEIGHBOR")) {
        const Item* local = word(*entry, "local_port");
        const Item* device = word(*entry, "name");
        const auto notes = in.out.notes.find(local != nullptr ? local->word : entry->name);
        if (notes == in.out.notes.end() || (local == nullptr && device == nullptr)) continue;
        notes->second.neighbor = device != nullptr ? device->word : entry->name;
        notes->second.neighbor_place = device != nullptr ? device->place : entry->place;
        if (const Item* port = word(*entry, "port")) notes->second.neighbor_port = port->word;
    }
}

}  // namespace

const Item* Sonic::table(std::string_view name) const {
    const Item* found = root.find(name);
    if (found == nullptr || found->is_map()) return found;
    account().wrong(*found, "a table must be an object");
    return nullptr;
}

std::vector<const Item*> Sonic::entries(std::string_view table_name) const {
    const Item* found = table(table_name);
    return found == nullptr ? std::vector<const Item*>() : found->entries();
}

bool Sonic::is_object(const Item& entry) const {
    if (!entry.is_map()) account().wrong(entry, "must be an object");
    return entry.is_map();
}

std::optional<std::string_view> Sonic::own_ports(const Item& entry, std::string_view ports) const {
    const std::size_t last = ports.rfind('|');
    if (last == ports.npos) return ports;
    if (!host_name.empty() && ports.starts_with(host_name + "|")) return ports.substr(last + 1);
    account().nothing(entry, "a port of another card of the chassis");
    return std::nullopt;
}

std::string Sonic::referred_name(std::string_view text, std::string_view table_name) {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    text = trimmed(text);
    if (!text.starts_with(table_name)) return std::string(text);
    std::string_view rest = text.substr(table_name.size());
    if (rest.starts_with("_TABLE")) rest.remove_prefix(6);
    rest = trimmed(rest);
    return std::string(rest.starts_with('|') || rest.starts_with(':') ? trimmed(rest.substr(1)) : text);
}

const Item* Sonic::referred(const Item& reference, std::string_view table_name) const {
    const Item* in_table = table(table_name);
    return in_table == nullptr ? nullptr : in_table->find(referred_name(reference, table_name));
}

const Item* Sonic::entry_of(const Item& reference, std::string_view table_name) const {
    const Item* node = referred(reference, table_name);
    if (node != nullptr && node->is_map()) {
        if (!node->members.empty())
            node->accounted = true;  // it is used: close tells of its values one by one
        return node;
    }
    account().left_out(
        reference,
        fmt::format("there is no {} {}", table_name, in_quotes(referred_name(reference, table_name))),
        "add it, or leave the reference out");
    return nullptr;
}

void Sonic::tell_unused(std::string_view table_name, const char* why) const {
    for (const Item* entry : entries(table_name))
        if (!entry->members.empty() && !any_accounted(*entry)) account().nothing(*entry, why);
}

std::vector<PortConfig*> Sonic::ports_of(const Item& entry, std::string_view list) const {
    std::vector<PortConfig*> ports;
    bool known = false;
    for (const std::string_view name : split(list, ',')) {
        const auto found = config().ports.find(std::string(name));
        if (found != config().ports.end())
            ports.push_back(&found->second);
        else if (out.ports_left_out.contains(name))
            known = true;
        else
            account().left_out(entry, "there is no port " + in_quotes(name),
                               "add it to PORT, or leave it out here");
    }
    if (ports.empty() && known && !entry.accounted) account().nothing(entry, "of a port that is left out");
    return ports;
}

void Sonic::each_class(
    std::string_view table_name,
    const std::function<void(const Item& entry, PortConfig& port, unsigned n)>& take) const {
    for (const Item* entry : entries(table_name)) {
        const auto [keys, numbers] = split_last(entry->name, '|');
        if (numbers.empty()) {
            account().wrong(*entry, in_quotes(entry->name) + " has no classes", "write it as Ethernet0|3-4");
            continue;
        }
        if (!is_object(*entry)) continue;
        const auto ports = own_ports(*entry, keys);
        if (!ports) continue;
        const auto list = out.classes_of(*entry, numbers, max_queues);
        if (list.empty()) continue;
        for (PortConfig* port : ports_of(*entry, *ports))
            for (const ClassId n : list) take(*entry, *port, n);
    }
}

std::optional<ReadError> shape_sonic(Item& root) {
    auto members = std::exchange(root.members, {});
    root.index.clear();
    if (root.is_map()) {
        add_tables(root, std::move(members));
        return std::nullopt;
    }
    if (root.kind != Item::Kind::list)
        return ReadError{root.place, {}, "a config_db.json is an object of tables", {}};
    root.kind = Item::Kind::map;
    for (auto& member : members) {
        if (!member->is_map()) return ReadError{member->place, {}, "must be an object of tables", {}};
        const Item* operation = member->find("op");
        if (operation != nullptr && member->find("path") != nullptr)
            return ReadError{member->place,
                             {},
                             "is a JSON patch",
                             "apply it (config apply-patch), and give the configuration that it makes"};
        operation = member->find("OP");
        const bool deletes = operation != nullptr && operation->word == "DEL";
        auto tables = std::exchange(member->members, {});
        if (operation != nullptr) std::erase_if(tables, [](const auto& each) { return each->name == "OP"; });
        if (deletes) continue;
        add_tables(root, std::move(tables));
    }
    return std::nullopt;
}

void import_sonic(const Item& root, Importing& out) {
    Sonic in{root, out, {}, {}, {}};
    if (const Item* device = in.table("DEVICE_METADATA"))
        if (const Item* host = device->find("localhost"))
            for (const auto& [field, into] :
                 {std::pair{"hostname", &in.host_name}, std::pair{"type", &out.role}})
                if (const Item* node = host->find(field); node != nullptr && node->is_word())
                    *into = node->word;
    pass_tables(in);
    take_sonic_ports(in);
    find_ports(in);
    take_sonic_links(in);
    take_sonic_maps(in);
    take_sonic_buffers(in);
    take_sonic_queues(in);
    take_sonic_trimming(in);
    take_sonic_routes(in);
    take_neighbors(in);
    // Tables of which nothing was taken: one line each.
    for (const auto& table : root.members)
        if (table->is_map() && table->repeated.line == 0 && !any_accounted(*table))
            out.account.nothing(*table, fmt::format("Sluice has none of it ({})",
                                                    print_count(table->members.size(), "line")));
}

}  // namespace sluice::import
