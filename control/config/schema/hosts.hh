// Parts of simulated hosts and flows that the file leaves out: MAC addresses, neighbors, names, ends.
//
// Reading a file adds the neighbor of each host, and writing leaves it out, so that forwarding, lint and
// routes see an ordinary neighbor. A host with an unknown port or an address of ours gets none.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// The MAC address in the file, or 02:53:4c:01:<index of the host, two bytes>. The host must exist.
MacAddress host_mac(const Config& config, std::string_view name);

std::vector<NeighborConfig> host_neighbors(const Config& config);
// Adds those whose address has no neighbor; removes those that equal the generated ones.
void add_host_neighbors(Config& config);
void remove_host_neighbors(Config& config);
// Host neighbors of `from` become those of `config`, where they differ.
void renew_host_neighbors(Config& config, const Config& from);

// The name of each flow: the file's, or "h1-h4", "h1..h3-h4", with "-2" for the second of that name.
std::vector<std::string> flow_names(const Config& config);

// The first flow with neither `stop` nor `messages`, which never ends by itself. Empty: there is none.
std::string endless_flow(const Config& config);

// Queue pairs of a host, in all flows and both directions.
std::size_t queue_pairs_of(const Config& config, std::string_view host);

// The longest IP packet of a host's data.
std::uint32_t longest_ip_bytes(const HostConfig& host);

}  // namespace sluice
