// The settings of a host: its NIC, its flows, and its queue pairs. Plain values, compiled from the
// configuration.
//
// A flow holds the settings that its queue pairs share, at both ends. Each queue pair requests or responds.
// Queue pair n of a NIC has the number first_qp + n, and each end has the other's address and number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/roce/dcqcn.hh"
#include "lib/roce/empty_path.hh"
#include "lib/roce/messages.hh"
#include "lib/roce/rc_responder.hh"
#include "lib/roce/requester.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

// Labels of a kind of packets, and the class whose pause holds them at the host.
struct Marking {
    std::uint8_t dscp = 0;
    ClassId priority = 0;
    Ecn ecn = Ecn::not_ect;
    std::optional<std::uint16_t> vlan_tci;  // PCP 3 bits, DEI 1, VID 12; nothing: untagged
};

struct NicSettings {
    MacAddress mac;
    MacAddress gateway_mac;  // destination of every frame: the switch's port
    IpAddress address;
    std::uint32_t first_qp = 0x100;  // numbers lie in [1, 2^24)
    std::uint64_t seed = 0;
    std::uint32_t ring_frames = 4;  // of each class's transmit ring; >= 1
    ReactionParameters reaction;    // its line_rate is the port's
    Marking ack{26, 3, Ecn::ect0, {}};
    Marking cnp{48, 6, Ecn::not_ect, {}};
    Duration cnp_interval = microseconds(50);
    CnpScope cnp_scope = CnpScope::queue_pair;
    bool port_of_qp = true;   // a UDP source port for each queue pair; off: one for all
    bool echo_ce = true;      // off: no notification point
    bool ignore_cnp = false;  // CNPs are counted and do nothing
    // Probability, in parts of 2^32, that a SEND finds no receive buffer (RNR NAK).
    std::uint64_t rnr_chance = 0;
    std::uint8_t rnr_timer = 1;  // low five bits of the syndrome: 10 us
    bool checks_payload = true;  // each byte that arrives
    bool trim_marks = true;      // a trimmed packet that is asked for counts as one with CE for CNPs
};

// The poster of a queue pair's messages where its flow is none: which of the host's.
struct Poster {
    enum class Kind : std::uint8_t { rank, program };
    Kind kind;
    std::uint32_t index;
    bool operator==(const Poster&) const = default;
};

struct FlowSettings {
    std::uint32_t id = 0;  // the same at all hosts that take part
    Requester::Kind kind = Requester::Kind::write;
    MessageSizes sizes = MessageSizes::fixed(1'000'000);
    ArrivalParameters arrivals;
    std::optional<Time> stop;             // no message comes from then on
    std::uint64_t messages = UINT64_MAX;  // of each queue pair
    Marking data{26, 3, Ecn::ect0, {}};
    RequesterSettings requester;  // `messages` at least the depth
    ResponderSettings responder;  // of the same MTU and first PSN
    std::vector<PathLink> path;   // to the responder, for slowdowns; at least one link
    Duration path_timeout{};      // the time-out that its buffers ask for; 0: not known
};

struct QpSettings {
    std::uint32_t flow = 0;  // its index
    bool requests = true;    // else it responds
    IpAddress peer;
    std::uint32_t peer_qp = 0;
    std::uint64_t identity = 0;  // for draws: MessageDraws
    std::optional<Poster> poster{};
};

}  // namespace sluice::roce
