// Many switches' configurations, of whatever makers, compared: the two ends of each link, and ports alike.
//
// A device's name is the file's, without its ending. Links come from a list (a CSV of devices and ports),
// else from SONiC's DEVICE_NEIGHBOR, else from a port's description that holds one known device and one of
// its ports; a port whose other end is not told, or told twice, is listed and compared with nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/compile/qos.hh"
#include "tools/import/importing.hh"
#include "tools/import/topology.hh"

namespace sluice::import {

constexpr std::size_t max_fleet_devices = 1024;

struct FleetDevice {
    std::string name, file;
    Importing imported;
    EffectiveQos qos;  // of the production switch

    const Config& config() const { return imported.config; }
    // Where the file says it, or the port.
    SourcePlace place_of(const std::string& port, Aspect aspect) const;
    bool says(const std::string& port, Aspect aspect) const;
};

struct FleetEnd {
    std::size_t device = 0;
    std::string port;
    auto operator<=>(const FleetEnd&) const = default;
};

struct FleetLink {
    FleetEnd a, b;
    std::optional<std::uint32_t> cable_m;
    std::string by;  // "cables.csv:3", "DEVICE_NEIGHBOR", "description"
};

// A file, or a port, with which nothing could be done.
struct FleetNote {
    std::string file;
    SourcePlace place;
    std::string what;
};

struct FleetFinding {
    bool is_error = false;
    Aspect aspect = Aspect::pfc;
    FleetEnd a, b;
    SourcePlace place_a, place_b;
    std::string consequence;
};

struct Fleet {
    std::vector<FleetDevice> devices;  // by name
    std::vector<FleetNote> unread, unpaired;
    std::vector<FleetLink> links;
    std::vector<FleetFinding> findings;  // errors first

    std::optional<std::size_t> find(std::string_view name) const;
    // The port that a text names: "Ethernet1/1", "Eth1/1" or Sluice's own name; empty: there is none.
    std::string port_of(std::size_t device, std::string_view text) const;
    std::string end_text(const FleetEnd& end) const;  // "leaf1 Ethernet1_1"
};

// Adds a file's text as a device; where it cannot be read, to `unread`.
void add_device(Fleet& fleet, const std::string& file, const std::string& text, const Wishes& wishes);
void pair_ports(Fleet& fleet, const std::vector<ListedLink>& listed, std::string_view list_file);
void compare_links(Fleet& fleet);
void compare_alike(Fleet& fleet);

std::string fleet_text(const Fleet& fleet);
nlohmann::ordered_json fleet_json(const Fleet& fleet);

}  // namespace sluice::import
