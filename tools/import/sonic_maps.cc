// PORT_QOS_MAP and the maps that it names. Sluice has one map where SONiC has four: each combination that
// ports have becomes one.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema/values.hh"
#include "tools/import/document.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

struct Part {
    std::string_view field;  // of PORT_QOS_MAP
    std::string_view table;
    std::string_view key;  // of [map.NAME]
    std::uint64_t most;    // the highest key
};

enum : std::size_t { dscp, pcp, queue, group, pfc_queue, part_count };
constexpr std::array<Part, part_count> parts{{
    {"dscp_to_tc_map", "DSCP_TO_TC_MAP", "dscp_to_tc", 63},
    {"dot1p_to_tc_map", "DOT1P_TO_TC_MAP", "pcp_to_tc", 7},
    {"tc_to_queue_map", "TC_TO_QUEUE_MAP", "tc_to_queue", 7},
    {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "tc_to_priority_group", 7},
    {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "pfc_priority_to_queue", 7},
}};
using Chosen = std::array<const Item*, part_count>;

template <std::size_t size>
void fill(Sonic& in, const Item* node, const Part& part, std::array<ClassId, size>& map) {
    if (node == nullptr) return;
    for (const Item* field : node->entries()) {
        const auto key = parse_integer(field->name);
        const auto value = parse_integer(field->word);
        if (key && *key > part.most && *key < 2 * classes) {
            in.account().nothing(*field, "Sluice has eight classes and queues");
        } else if (!key || *key > part.most) {
            in.account().wrong(
                *field, fmt::format("{} is not a number from 0 to {}", in_quotes(field->name), part.most));
        } else if (!field->is_word()) {
            in.account().wrong(*field, "must be a class from 0 to 7");
        } else if (value && *value >= classes && *value < 2 * classes) {
            map[*key] = 0;
            in.account().assumed(*field,
                                 fmt::format("{} = 0: Sluice has eight classes and queues", part.key));
        } else if (const auto tc = in.out.class_of(*field, field->word)) {
            map[*key] = *tc;
            in.account().taken(*field, fmt::format("{} of map {}", part.key, in_quotes(node->name)));
        }
    }
}

MapConfig map_from(Sonic& in, const Chosen& chosen) {
    MapConfig map;
    map.dscp_to_tc.fill(0);  // an unlisted DSCP has class 0
    map.pcp_to_tc.fill(0);
    map.roce_tc.reset();
    map.cnp_tc.reset();  // a switch chip goes by DSCP alone
    fill(in, chosen[dscp], parts[dscp], map.dscp_to_tc);
    fill(in, chosen[pcp], parts[pcp], map.pcp_to_tc);
    fill(in, chosen[queue], parts[queue], map.tc_to_queue);
    fill(in, chosen[group], parts[group], map.tc_to_priority_group);
    fill(in, chosen[pfc_queue], parts[pfc_queue], map.pfc_priority_to_queue);
    return map;
}

std::string name_of(const Sonic& in, const Chosen& chosen) {
    std::string name;
    std::set<std::string> seen;
    for (const Item* node : chosen)
        if (node != nullptr && seen.insert(node->name).second) append_item(name, "-", node->name);
    constexpr std::size_t most = 28;
    name = name.substr(0, most);
    if (name.empty() || name == "default") name = "none";
    std::string unique = name;
    for (unsigned n = 2; in.config().maps.contains(unique); ++n) unique = fmt::format("{}-{}", name, n);
    return unique;
}

// An entry of PORT_QOS_MAP, over the entry "global".
struct QosMap {
    Chosen chosen{};
    std::optional<std::vector<ClassId>> pfc;
    SonicShaper shaper;
    const Item* to_dscp = nullptr;
};

void take_shaper(Sonic& in, const Item& reference, QosMap& map) {
    const Item* scheduler = in.entry_of(reference, "SCHEDULER");
    if (scheduler == nullptr) return;
    map.shaper = read_shaper(in, *scheduler, "shaper", "shaper_burst");
    in.account().taken(reference, "the port's shaper");
}

void read_pfc(Sonic& in, const Item& entry, QosMap& map) {
    if (const Item* enable = entry.find("pfc_enable")) {
        map.pfc = enable->word.empty() ? std::vector<ClassId>{} : in.out.classes_of(*enable, enable->word);
        in.account().taken(*enable, fmt::format("pfc = [{}]", enable->word));
    }
    const Item* watched = entry.find("pfcwd_sw_enable");
    if (watched == nullptr || watched->word.empty()) return;
    if (map.pfc == in.out.classes_of(*watched, watched->word))
        in.account().taken(*watched, "the watchdog watches every lossless queue");
    else
        in.account().assumed(*watched, "the watchdog watches every lossless queue, not these alone");
}

QosMap read_entry(Sonic& in, const Item& entry, QosMap map) {
    for (std::size_t n = 0; n < part_count; ++n) {
        const Item* reference = entry.find(parts[n].field);
        if (reference == nullptr) continue;
        const Item* target = in.entry_of(*reference, parts[n].table);
        if (target == nullptr || !in.out.check_name(*reference, target->name)) continue;
        map.chosen[n] = target;
        in.account().taken(*reference, fmt::format("{} of the port's map", parts[n].key));
    }
    read_pfc(in, entry, map);
    if (const Item* scheduler = entry.find("scheduler")) take_shaper(in, *scheduler, map);
    if (const Item* to_dscp = entry.find("tc_to_dscp_map")) map.to_dscp = to_dscp;
    if (const Item* to_group = entry.find("pfc_to_pg_map"))
        in.account().assumed(*to_group, "a PFC priority pauses for the priority group of its number");
    return map;
}

void give(Sonic& in, PortConfig& port, const QosMap& map, std::map<Chosen, std::string>& names) {
    port.pfc = map.pfc.value_or(std::vector<ClassId>{});
    port.shaper = map.shaper.rate;
    port.shaper_burst_bytes = map.shaper.burst_bytes;
    port.trust = map.chosen[dscp] != nullptr  ? Trust::dscp
                 : map.chosen[pcp] != nullptr ? Trust::pcp
                                              : Trust::port;
    const auto [known, is_new] = names.try_emplace(map.chosen);
    if (is_new) {
        const MapConfig made = map_from(in, map.chosen);
        for (const auto& [name, other] : in.config().maps)
            if (name != "default" && other == made) known->second = name;
        if (known->second.empty()) {
            known->second = name_of(in, map.chosen);
            in.config().maps[known->second] = made;
        }
    }
    port.map = known->second;
    if (map.to_dscp != nullptr) in.to_dscp[&port] = map.to_dscp;
}

}  // namespace

void take_sonic_maps(Sonic& in) {
    const Item* table = in.table("PORT_QOS_MAP");
    std::map<Chosen, std::string> names;
    QosMap global;
    if (const Item* entry = table == nullptr ? nullptr : table->find("global"))
        global = read_entry(in, *entry, {});
    std::set<std::string> done;
    for (const Item* entry : in.entries("PORT_QOS_MAP")) {
        if (entry->name == "global" || !in.is_object(*entry)) continue;
        const auto ports = in.own_ports(*entry, entry->name);
        if (!ports) continue;
        const auto list = in.ports_of(*entry, *ports);
        if (list.empty()) continue;
        const QosMap map = read_entry(in, *entry, global);
        for (PortConfig* port : list) {
            const Item* enable = entry->find("pfc_enable");
            in.out.note(*port, Aspect::pfc, enable != nullptr ? *enable : *entry);
            in.out.note(*port, Aspect::map, *entry);
            give(in, *port, map, names);
        }
        for (const std::string_view name : split(*ports, ',')) done.emplace(name);
    }
    for (auto& [name, port] : in.config().ports) {
        if (done.contains(name)) continue;
        give(in, port, global, names);
        if (table != nullptr)
            in.account().assumed("PORT_QOS_MAP." + name, "no PFC, and the maps of \"global\"");
    }
    if (table == nullptr)
        in.account().assumed("PORT_QOS_MAP", "no maps: all is class 0; PFC where BUFFER_PG has a headroom");
    if (!names.empty())
        in.account().assumed("DSCP_TO_TC_MAP",
                             "a DSCP that is not listed has class 0; CNPs go by their DSCP");
    for (const Part& part : parts) in.tell_unused(part.table, "no port goes by it");
}

}  // namespace sluice::import
