// The decisions about a packet, stage by stage, or about a pause, with their numbers.
//
// Workers post these events to control, which joins those of a packet by its key. Values only, of a fixed
// size; numbers are those that the stage compared, before the packet unless the name says otherwise. Cells
// are those of the switch, limits may be larger than the buffer. `DecisionFilter` chooses packets: at
// arrival, by the egress port once it is routed, and by the verdict when the record is complete.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "lib/buffer/priority_group.hh"
#include "lib/frame/drop_reason.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/frame/parse.hh"
#include "lib/punt/punt.hh"
#include "lib/route/load_balance.hh"
#include "lib/values/ids.hh"
#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

// The n-th packet that came in by a port, without MAC control.
struct DecisionKey {
    PortId port = 0;
    std::uint64_t sequence = 0;
    auto operator<=>(const DecisionKey&) const = default;
};

// Five-tuple and destination QP, as parsed. IPv4 addresses stand in the first four bytes.
struct FlowKey {
    std::array<std::uint8_t, 16> source{};
    std::array<std::uint8_t, 16> destination{};
    std::uint32_t destination_qp = 0;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
    std::uint8_t protocol = 0;
    FrameKind kind = FrameKind::other;
    bool roce = false;
};
// `view` has the parsed bytes. Addresses stay zero where it does not hold a whole IP header.
FlowKey flow_key(const Parsed& parsed, std::span<const std::uint8_t> view);
// PSN of a RoCEv2 packet, 24 bits; nothing of others, and behind extension headers of IPv6.
std::optional<std::uint32_t> packet_sequence(const Parsed& parsed, std::span<const std::uint8_t> view);

// An empty field matches everything.
struct FlowFilter {
    std::optional<IpPrefix> source;
    std::optional<IpPrefix> destination;
    std::optional<std::uint16_t> source_port;
    std::optional<std::uint16_t> destination_port;
    std::optional<std::uint32_t> destination_qp;

    bool operator==(const FlowFilter&) const = default;
    bool matches(const FlowKey& flow) const;
};

// The fate of a packet, or of its sender. `unfinished`: still in the switch when the run ended.
enum class Verdict : std::uint8_t { sent, marked, dropped, paused, unfinished, punted };
constexpr std::array<std::string_view, 6> verdict_names{"sent",   "marked",     "dropped",
                                                        "paused", "unfinished", "punted"};
constexpr std::string_view to_string(Verdict verdict) {
    return verdict_names[static_cast<std::size_t>(verdict)];
}
constexpr std::uint8_t bit_of(Verdict verdict) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(verdict));
}

struct DecisionFilter {
    bool enabled = false;
    bool any_flow = true;
    bool any_egress = true;
    std::uint8_t traffic_classes = 0xFF;  // mask
    std::uint8_t verdicts = 0xFF;         // mask of bit_of
    PortMask ingress = PortMask::all();
    PortMask egress = PortMask::all();
    FlowFilter flow;

    bool operator==(const DecisionFilter&) const = default;
    bool wants(PortId ingress_port, ClassId traffic_class, const FlowKey& key) const {
        return enabled && ingress.contains(ingress_port) && (traffic_classes >> traffic_class & 1U) != 0 &&
               (any_flow || flow.matches(key));
    }
};

struct Arrived {
    FlowKey flow;
    MacAddress to;       // its destination MAC
    MacAddress station;  // the MAC of the port it came in by
    std::uint32_t frame_bytes = 0;
    std::uint8_t tags = 0;
    std::uint8_t dscp = 0;
    Ecn ecn = Ecn::not_ect;
    std::uint8_t opcode = 0;           // BTH, of RoCEv2
    std::optional<std::uint32_t> psn;  // likewise
    bool fragment = false;
    bool lossless = false;
    ClassId traffic_class = 0;
    ClassId priority_group = 0;
};

struct Routed {
    std::uint32_t next_hop_group = 0;  // as the FIB answered
    std::uint32_t hash = 0;
    std::uint32_t bucket = 0;  // the hash's own; a member that is down passes its flows on
    std::uint32_t buckets = 1;
    BalanceChoice balance{.reason = BalanceReason::hashed};
    std::uint32_t next_hop = 0;
    PortId egress_port = 0;
    ClassId queue = 0;
    bool chosen = false;  // false: dropped, and the fields above mean nothing but for the group
};

// Ingress admission (mechanisms of priority_group.hh). `limit` is T at the occupancy after this packet, which
// is compared with shared + cells.
struct Admitted {
    Admission part = Admission::reserved;
    bool fired_xoff = false;  // the first to go to headroom
    bool in_xoff = false;     // before it
    std::uint32_t cells = 0;
    std::uint32_t reserved = 0;
    std::uint32_t reserved_size = 0;
    std::uint32_t shared = 0;
    std::uint32_t headroom = 0;
    std::uint32_t headroom_size = 0;
    std::int64_t limit = 0;
    std::int64_t pool_used = 0;
    std::int64_t pool_size = 0;  // S
};

// State before egress admission; a Dropped follows a refusal.
struct Enqueued {
    bool limited = false;  // a lossless queue has no limit
    std::uint32_t cells = 0;
    std::uint32_t packets = 0;  // in the queue
    std::uint32_t used = 0;
    std::int64_t limit = 0;  // on shared use, at the occupancy after this packet
    std::int64_t pool_used = 0;
    std::int64_t pool_size = 0;
};

// WRED or ECN drew for the packet.
enum class MarkPlace : std::uint8_t { enqueue, dequeue, sojourn };
enum class MarkOutcome : std::uint8_t { passed, marked, dropped };
struct Drawn {
    MarkPlace place = MarkPlace::dequeue;
    MarkOutcome outcome = MarkOutcome::passed;
    std::uint64_t length_bytes = 0;   // of the queue
    std::uint64_t average_bytes = 0;  // the curve's input: the same without averaging
    Duration sojourn{};
    std::uint64_t probability = 0;  // parts of 2^32
    std::uint32_t drawn = 0;        // below the probability: marked
};

struct Departed {
    std::uint32_t frame_bytes = 0;
};

// The short form of a packet that its queue refused.
struct Trimmed {
    std::uint32_t frame_bytes = 0;
    ClassId queue = 0;  // that it asked, of the same port
    bool sent = false;  // that queue took it
};

struct Dropped {
    DropReason reason = DropReason::none;
    std::optional<Trimmed> trimmed{};
};

// Handed to control instead of being forwarded.
struct Punted {
    PuntClass punt{};
};

// Routed to a port that the filter leaves out: forget the packet.
struct Unwanted {};

// A group went into XOFF or out of it. The key's sequence is the group's number.
struct GroupPaused {
    struct Filler {
        std::uint32_t cells = 0;
        PortId port = 0;
        ClassId queue = 0;
    };
    static constexpr std::size_t max_fillers = 8;

    bool xoff = false;
    bool behind = false;  // not for lack of buffer: the worker fell behind
    std::uint32_t filler_count = 0;
    std::uint32_t reserved = 0;
    std::uint32_t shared = 0;
    std::uint32_t headroom = 0;
    std::uint32_t headroom_size = 0;
    std::int64_t limit = 0;  // T
    std::int64_t pool_used = 0;
    std::int64_t pool_size = 0;
    std::array<Filler, max_fillers> fillers{};  // egress queues that hold its cells, most first
    std::uint32_t other_queues = 0;             // cells in queues beyond those
    std::uint32_t unknown = 0;                  // cells from before, or on their way back
};

// Inserts into a list of `count`, most cells first, equal ones in order; where the list is full, the fewest
// become `others`.
void add_most_first(std::span<GroupPaused::Filler> list, std::uint32_t& count,
                    const GroupPaused::Filler& filler, std::uint32_t& others);

struct DecisionEvent {
    DecisionKey key;
    Time at;
    std::variant<Unwanted, Arrived, Routed, Admitted, Enqueued, Drawn, Departed, Dropped, Punted, GroupPaused>
        what;
};
static_assert(std::is_trivially_copyable_v<DecisionEvent> && sizeof(DecisionEvent) <= 192);

}  // namespace sluice
