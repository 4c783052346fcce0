// Parts of simulated hosts and flows that the file leaves out: MAC addresses, neighbors, names, ends.
//
// The neighbor of a host is made when a file is read and left out when it is written, so that forwarding,
// lint and routes see an ordinary neighbor. A host that cannot have one (no such port, an address of ours)
// gets none: lint says why.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// The MAC address that the file says, or 02:53:4c:01:<index of the host, two bytes>. `name` is one of the
// hosts.
MacAddress host_mac(const Config& config, std::string_view name);

// The neighbors that hosts want, in the order of the hosts.
std::vector<NeighborConfig> host_neighbors(const Config& config);
// Adds those whose address has no neighbor; takes away those that are as they would be made.
void add_host_neighbors(Config& config);
void remove_host_neighbors(Config& config);
// Host neighbors of `from` become those of `config`, where they differ.
void renew_host_neighbors(Config& config, const Config& from);

// Of each flow: the name that the file says, or "h1-h4", "h1..h3-h4", with "-2" for the second of that name.
std::vector<std::string> flow_names(const Config& config);

// The first flow that never ends by itself: neither `stop` nor `messages`. Empty: there is none.
std::string endless_flow(const Config& config);

// Queue pairs of a host, in all flows and both directions.
std::size_t queue_pairs_of(const Config& config, std::string_view host);

}  // namespace sluice
