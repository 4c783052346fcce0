// Cumulus Linux: NVUE's YAML (`nv config show -o yaml`, startup.yaml) or its commands, to a configuration.
//
// NVUE's words for ours: a switch priority is a traffic class, a traffic class is a queue. What the file does
// not say is NVUE's default, told as assumed; `qos roce` stands for a whole profile (cumulus_roce.cc).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/importing.hh"

namespace sluice::import {

struct Cumulus {
    const Item* set;  // the document's `set`
    Importing& out;
    std::uint64_t buffer_bytes = 0;

    Config& config() const { return out.config; }
    Account& account() const { return out.account; }
    // Below `from`; null when a part of the path is not there.
    static const Item* at(const Item* from, std::initializer_list<std::string_view> path);
    // A value, which commands write as a key without anything below; empty when there is none.
    static std::string_view value(const Item* node);
    static bool is_on(const Item* node);
};

// The ports that an interface's name stands for: "swp1-4", "swp1,swp3s0-1". Empty: no port of the front.
std::vector<std::string> front_ports(std::string_view name);

void take_cumulus_roce(Cumulus& in);        // qos roce: before the profiles, which may say otherwise
void take_cumulus_defaults(Cumulus& in);    // what holds without it
void take_cumulus_profiles(Cumulus& in);    // qos mapping, pfc, egress-*, congestion-control, traffic-pool
void take_cumulus_interfaces(Cumulus& in);  // interface, but for qos
void take_cumulus_routes(Cumulus& in);      // vrf default router static

// A list of entries `set`, `unset` and `header` as one map of them: they apply in the order of the file, as
// `nv config patch` applies them.
void shape_cumulus(Item& root);
void import_cumulus(const Item& root, Importing& out);

}  // namespace sluice::import
