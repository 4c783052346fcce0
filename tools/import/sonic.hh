// SONiC's config_db.json: its tables to a configuration. Each part takes its own tables; sonic.cc calls them
// in order.
//
// Tables refer to each other in three ways: "[BUFFER_PROFILE|name]", "BUFFER_PROFILE|name" and "name". Keys
// name ports and classes: "Ethernet0|3-4", "Ethernet0,Ethernet4|3", and on a chassis "host|asic|Ethernet0|3".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/import/importing.hh"

namespace sluice::import {

inline constexpr std::uint64_t max_bytes = 1ULL << 40;  // of a buffer, a limit or a threshold

struct Sonic {
    const Item& root;
    Importing& out;
    std::string host_name;  // of a chassis: whose ports are ours
    // For take_sonic_trimming: the packet_discard_action of each queue that trims, and the tc_to_dscp_map of
    // each port that has one.
    std::map<std::pair<PortConfig*, unsigned>, const Item*> trimming{};
    std::map<PortConfig*, const Item*> to_dscp{};

    Config& config() const { return out.config; }
    Account& account() const { return out.account; }
    const Item* table(std::string_view name) const;
    // Those of a table that hold; none where the file has no such table.
    std::vector<const Item*> entries(std::string_view table_name) const;
    bool is_object(const Item& entry) const;  // false is told
    // The ports of a key, which on a chassis has the host and the card first. Nothing, and told: another
    // card's.
    std::optional<std::string_view> own_ports(const Item& entry, std::string_view ports) const;

    // The node that `reference` names in a table; null: there is none, and `reference` is not accounted for.
    const Item* referred(const Item& reference, std::string_view table_name) const;
    // The same for an entry of fields; null is told as left out.
    const Item* entry_of(const Item& reference, std::string_view table_name) const;
    static std::string referred_name(std::string_view reference, std::string_view table_name);
    static std::string referred_name(const Item& reference, std::string_view table_name) {
        return referred_name(std::string_view(reference.word), table_name);
    }

    // For each entry of a table whose key is PORTS|CLASSES and whose ports are ours: each port and class.
    // `take` gets the entry; what it does not account for is found by Account::close.
    void each_class(std::string_view table_name,
                    const std::function<void(const Item& entry, PortConfig& port, unsigned n)>& take) const;
    // Tells the entries of a table of which no value was taken.
    void tell_unused(std::string_view table_name, const char* why) const;
    // The ports of a comma list; a port that is not there is wrong.
    std::vector<PortConfig*> ports_of(const Item& entry, std::string_view list) const;
};

// A scheduler's pir and pbs, which a queue has as max_rate and max_burst, a port as shaper and
// shaper_burst.
struct SonicShaper {
    Rate rate{};
    std::optional<std::uint64_t> burst_bytes;
};
SonicShaper read_shaper(Sonic& in, const Item& scheduler, const char* rate_key, const char* burst_key);
// Bytes a second, as pir and cir have them; nothing where the scheduler counts packets.
std::optional<Rate> read_rate(Sonic& in, const Item& scheduler, const char* field, const char* key);

void take_sonic_ports(Sonic& in);     // PORT
void take_sonic_links(Sonic& in);     // INTERFACE, CABLE_LENGTH, PFC_WD
void take_sonic_maps(Sonic& in);      // *_MAP, PORT_QOS_MAP
void take_sonic_buffers(Sonic& in);   // BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE
void take_sonic_queues(Sonic& in);    // QUEUE, SCHEDULER, WRED_PROFILE
void take_sonic_trimming(Sonic& in);  // SWITCH_TRIMMING, TC_TO_DSCP_MAP; after buffers and queues
void take_sonic_routes(Sonic& in);    // STATIC_ROUTE

// Makes an object of tables of any such file: config_db.json itself; a list of tables (configlets); a dump of
// the database ("TABLE|KEY"); swssconfig's list ("TABLE_TABLE:KEY" with "OP": "SET"); a dump with types and
// values. The places stay. An error: a JSON patch, or something that is not a table.
std::optional<ReadError> shape_sonic(Item& root);

void import_sonic(const Item& root, Importing& out);

}  // namespace sluice::import
