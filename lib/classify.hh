// From a parsed packet to its traffic class, and from the class to priority group and queue.
// The class and the priority group are the ingress port's business, the queue is the egress port's.
#pragma once

#include <array>
#include <cstdint>

#include "lib/ids.hh"
#include "lib/parse.hh"

namespace sluice {

enum class Trust : std::uint8_t { dscp, pcp, port };

// One cache line of maps that a port's classification reads.
struct ClassMap {
    static constexpr ClassId follow = 0xFF;  // no rule of its own

    std::array<ClassId, 64> dscp_to_tc{};
    std::array<ClassId, 8> pcp_to_tc{};
    std::array<ClassId, 8> tc_to_queue{};
    std::array<ClassId, 8> tc_to_priority_group{};
    std::array<ClassId, 8> pfc_priority_to_queue{};
    ClassId roce_tc = follow;
    ClassId cnp_tc = follow;
    ClassId default_tc = 0;
    Trust trust = Trust::dscp;
};

// Traffic class in [0, 8). CNP rule before RoCE rule before trust. An ACK goes with its data.
inline ClassId traffic_class(const Parsed& parsed, const ClassMap& map) {
    if (parsed.roce) {
        if (parsed.cnp && map.cnp_tc != ClassMap::follow) return map.cnp_tc;
        if (!parsed.cnp && map.roce_tc != ClassMap::follow) return map.roce_tc;
    }
    switch (map.trust) {
        case Trust::dscp:
            return map.dscp_to_tc[parsed.dscp];
        case Trust::pcp:
            return parsed.tags != 0 ? map.pcp_to_tc[parsed.pcp] : map.default_tc;
        case Trust::port:
            break;
    }
    return map.default_tc;
}

}  // namespace sluice
