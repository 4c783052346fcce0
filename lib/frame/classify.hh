// From a parsed packet to its traffic class (802.1Q 6.9.3, 6.9.4), and from the class to priority group and
// queue. The ingress port decides the class and the priority group; the egress port decides the queue.
#pragma once

#include <array>
#include <cstdint>

#include "lib/frame/headers.hh"
#include "lib/frame/parse.hh"
#include "lib/values/ids.hh"

namespace sluice {

enum class Trust : std::uint8_t { dscp, pcp, port };

// A cache line of maps that a port's classification reads.
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
    bool operator==(const ClassMap&) const = default;
};

// Protocols between switches that are not IP: class selector 7.
constexpr std::size_t network_control_dscp = 56;

// Traffic class in [0, 8). CNP rule before RoCE rule before trust. An ACK goes with its data.
inline ClassId traffic_class(const Parsed& parsed, const ClassMap& map) {
    if (parsed.roce) {
        if (parsed.cnp && map.cnp_tc != ClassMap::follow) return map.cnp_tc;
        if (!parsed.cnp && map.roce_tc != ClassMap::follow) return map.roce_tc;
    }
    switch (map.trust) {
        case Trust::dscp:
            return map.dscp_to_tc[parsed.dscp()];
        case Trust::pcp:
            return parsed.tags != 0 ? map.pcp_to_tc[parsed.pcp] : map.default_tc;
        case Trust::port:
            break;
    }
    return map.default_tc;
}

// How a packet is treated wherever it goes; copied as one number.
struct alignas(4) Treatment {
    ClassId traffic_class = 0;
    EcnBits ecn{};          // as it arrived
    bool lossless = false;  // its priority group is, and it was not refused as malformed
    std::uint8_t unused = 0;
};

// Class and priority group of a packet by a port's map.
struct alignas(16) ClassWay {  // its index is a shift
    Treatment treatment;
    ClassId priority_group = 0;
    // A byte each, so that 255 packets can be added: RoCE, CNP, arrived CE, RoCE but not CNP in a lossy
    // group.
    std::uint32_t kinds = 0;
};

// Bit n of `lossless`: group n is lossless.
inline ClassWay class_way(const Parsed& parsed, const ClassMap& map, std::uint8_t lossless) {
    const ClassId tc = traffic_class(parsed, map);
    const ClassId group = map.tc_to_priority_group[tc];
    const bool promised = (lossless >> group & 1U) != 0;
    const bool lossy_roce = parsed.roce && !parsed.cnp && !promised;
    return {{tc, EcnBits::of(parsed.ecn(), color_of(parsed.dscp()), parsed.cnp), promised},
            group,
            std::uint32_t{parsed.roce} | std::uint32_t{parsed.cnp} << 8 |
                std::uint32_t{parsed.ecn() == Ecn::ce} << 16 | std::uint32_t{lossy_roce} << 24};
}

// `class_way` of a port, computed in advance for all packets whose PCP does not count.
class ClassTable {
  public:
    explicit ClassTable(const ClassMap& map, std::uint8_t lossless) : map_(map), lossless_(lossless) {
        Parsed parsed;
        for (const bool roce : {false, true}) {
            for (const bool cnp : {false, roce}) {
                for (unsigned octet = 0; octet < 256; ++octet) {
                    parsed.roce = roce;
                    parsed.cnp = cnp;
                    parsed.tos = static_cast<std::uint8_t>(octet);
                    ways_[parsed.class_key()] = class_way(parsed, map, lossless);
                }
            }
        }
    }

    bool is_of(const ClassMap& map, std::uint8_t lossless) const {
        return map_ == map && lossless_ == lossless;
    }
    // For any packet.
    ClassWay by_rules(const Parsed& parsed) const { return class_way(parsed, map_, lossless_); }
    bool has(const Parsed& parsed) const { return parsed.tags == 0 || map_.trust != Trust::pcp; }
    // For a packet that `has` accepts, by its class_key().
    const ClassWay& way(unsigned class_key) const { return ways_[class_key]; }

  private:
    ClassMap map_;
    std::uint8_t lossless_;  // groups
    std::array<ClassWay, Parsed::class_keys> ways_;
};

}  // namespace sluice
