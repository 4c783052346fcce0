// Where a switch would send a packet now: the answer of lookup and route stage, told without a packet.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/path/policy.hh"
#include "dataplane/path/worker_context.hh"
#include "lib/frame/parse.hh"

namespace sluice {

struct WayOn {
    PortId port;
    bool by_hash;  // false: load balancing may take another one for the next packet
};

// Control, between turns. `parsed`: of a packet in which `l3` is the IP header. nullopt: it has no route, or
// no link of it is up.
std::optional<WayOn> way_on(const Policy& policy, const Shared& shared, PortId ingress, const Parsed& parsed,
                            const std::uint8_t* l3);

}  // namespace sluice
