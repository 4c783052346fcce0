// Makes a loopback of captures: every unicast MAC address becomes a port, every frame enters at the port of
// its source MAC, and every IP address becomes a neighbor, a host route, at the port where it lives. Several
// captures are merged by time, each keeping its own order. Frames are copied as they are: timestamp, captured
// bytes, length.
//
// An address lives at the MAC that sent from it; one never seen as a source, at the MAC that it was sent to;
// the earliest frame decides. Frames whose source MAC is a group, or too short to have one, or zero on a MAC
// control frame, enter at the first port. Addresses that cannot be routed (multicast, loopback, link-local,
// unspecified, reserved) are not neighbors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "lib/frame/headers.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice::traffic {

constexpr std::size_t max_split_ports = max_ports;
constexpr std::size_t max_split_addresses = 65'536;

struct SplitOptions {
    std::filesystem::path folder;
    std::string speed = "100G";  // checked by the caller
    std::uint64_t seed = 1;
};

struct SplitPort {
    std::string name;
    std::optional<MacAddress> mac;  // absent: only frames without a usable source MAC entered here
    std::uint64_t more_macs = 0;    // the last port has those beyond the limit, too
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::vector<IpAddress> addresses;
};

struct SplitSummary {
    std::vector<SplitPort> ports;
    std::vector<std::string> notes;
};

// Writes FOLDER/in/<port>.pcap and FOLDER/sluice.toml, all or nothing. Throws Failure.
SplitSummary split(const std::vector<std::string>& captures, const SplitOptions& options);

bool is_routable(const IpAddress& address);

}  // namespace sluice::traffic
