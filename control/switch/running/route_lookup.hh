// The next hop of a packet with given headers, and why, by the workers' tables, hash and rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/config/routes/routes.hh"
#include "lib/frame/drop_reason.hh"

namespace sluice {

class RunningSwitch;

struct FlowQuestion {
    IpAddress source, destination;
    std::uint8_t protocol = 17;
    std::uint16_t source_port = 0, destination_port = 0;
    std::optional<std::uint32_t> queue_pair;  // RoCEv2 to UDP 4791
};

struct FlowAnswer {
    std::optional<Routes::Match> match;  // of the longest prefix
    DropReason drop = DropReason::none;
    std::uint32_t next_hop_group = 0;
    std::uint32_t hash = 0;
    unsigned buckets = 1;
    unsigned bucket = 0;       // of the hash
    std::string first, taken;  // ports: of that bucket's member, and of the one in use when it is down
    std::string why;           // a sentence
};

FlowAnswer look_up(RunningSwitch& running, const FlowQuestion& question);

}  // namespace sluice
