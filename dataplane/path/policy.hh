// The settings that a worker reads: one immutable value, compiled by control and published as a snapshot. It
// holds exactly the settings of packet processing that may change while traffic runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/cells.hh"
#include "lib/frame/classify.hh"
#include "lib/frame/drop_reason.hh"
#include "lib/frame/flow_hash.hh"
#include "lib/frame/parse.hh"
#include "lib/frame/parse_usual.hh"
#include "lib/frame/trim.hh"
#include "lib/pfc/pfc_generator.hh"
#include "lib/pfc/pfc_watchdog.hh"
#include "lib/punt/punt.hh"
#include "lib/queue/scheduler.hh"
#include "lib/queue/wred.hh"
#include "lib/record/decision_event.hh"
#include "lib/record/mirror.hh"
#include "lib/route/load_balance.hh"
#include "lib/values/ids.hh"

namespace sluice {

class Fib;
class RemoteQuality;
struct WirePolicy;

constexpr unsigned max_next_hops = 65536;
constexpr std::uint32_t max_next_hop_groups = 1U << 17;  // beside those with a fixed number

// How frames leave for one neighbor, and where.
struct alignas(32) NextHop {  // its index is a shift
    std::array<std::uint8_t, 18>
        header{};  // Ethernet header as it goes out, tag included, EtherType left open
    std::uint8_t header_bytes = untagged;  // or 18 with a tag
    PortId port = 0;

    static constexpr std::uint8_t untagged = 14;
    bool is_tagged() const { return header_bytes != untagged; }
};

// The answer of the FIB: a group of next hops as a bucket table, or the reason to discard.
struct alignas(16) NextHopGroup {
    static constexpr std::uint8_t by_policy = 0xFF;

    DropReason drop = DropReason::none;
    std::uint8_t log2_buckets = 0;
    bool counted = false;              // several members: shares are counted
    std::uint8_t balance = by_policy;  // LoadBalance of all its packets; by_policy: BalancePolicy::mode
    std::uint32_t first_bucket = 0;    // index into Policy::buckets
    std::uint32_t first_member = 0;    // index into Policy::members, where there are several
    std::uint16_t members = 0;
};

// Load balancing of groups that say nothing else.
struct BalancePolicy {
    bool active = false;  // something is balanced by more than its hash
    BalanceSettings settings;
    LoadScale scale;
    // By traffic class and RoceTransport.
    std::array<std::array<LoadBalance, roce_transports>, classes> mode{};
    // Quality of paths behind neighbors, added to that of own links; null: none is known.
    const RemoteQuality* remote = nullptr;

    // True when packets of a group without a mode of its own are balanced by more than their hash.
    bool balances() const {
        return std::ranges::any_of(mode, [](const auto& of_class) {
            return std::ranges::any_of(of_class, [](LoadBalance one) { return one != LoadBalance::hash; });
        });
    }
};

// Groups with a fixed number, in front of all others.
enum : std::uint32_t {
    group_no_route,  // no prefix matches
    group_local,
    group_blackhole,
    group_unresolved,
    group_elsewhere,  // a prefix matches that leaves by no port of ours: dropped as no_route, too
    first_next_hop_group
};

// The queues of a port that the PFC watchdog watches.
struct WatchdogPolicy {
    WatchdogSettings settings;
    std::uint8_t candidates = 0;  // queues: lossless, and a pause that the port obeys can stop them
    std::uint8_t watched = 0;     // of candidates
    std::uint8_t cut = 0;         // of candidates: the big red switch has put them into the action
    std::array<std::uint8_t, classes> priorities{};  // by queue: those whose pause stops it
    bool operator==(const WatchdogPolicy&) const = default;
};

struct PortPolicy {
    Station station;
    // Patterns of `station`'s frames for the parser's shortcut: without a tag, and with one.
    UsualFrames<0> usual{station};
    UsualFrames<1> usual_tagged{station};
    ClassMap map;
    std::shared_ptr<const ClassTable> ways;  // of `map` and the lossless groups; shared, never null
    std::uint16_t mtu = 9100;                // of IP packets that leave here
    bool admin_up = true;
    std::array<GroupLimits, classes> group{};  // ingress; group n is paused by PFC priority n
    std::array<QueueLimits, classes> queue{};  // egress
    PortSchedule schedule;
    PfcSendSettings pfc_send;
    std::uint8_t pfc_honors = 0;                // priorities whose pauses we obey
    std::array<std::uint16_t, classes> wred{};  // of a queue: index into Policy::wred, plus one; 0: none
    // By a packet's EcnBits::bits: queues that take it without a look at their WRED curve at any depth. None
    // is always right, and slower.
    std::array<std::uint8_t, EcnBits::values> no_wred_at_enqueue{};
    std::array<std::uint32_t, classes> microburst_cells{};  // depth above which a queue bursts; 0: never
    std::uint8_t held = 0;  // queues held by an operator: admission goes on, dequeue stops
    Rate speed = gigabits(100);
    WatchdogPolicy watchdog;
    bool punts = false;  // control takes frames that are not for forwarding
    std::array<PuntLimit, punt_class_count> punt_limit{};
    std::shared_ptr<const WirePolicy> wire;  // never null at a port whose context has a WireDirection
};

inline std::array<std::uint8_t, EcnBits::values> no_wred_at_enqueue(std::span<const WredProfile> profiles,
                                                                    const PortPolicy& port) {
    std::array<std::uint8_t, EcnBits::values> exempt_queues{};
    for (unsigned bits = 0; bits < EcnBits::values; ++bits)
        for (unsigned queue = 0; queue < classes; ++queue) {
            const unsigned number = port.wred[queue];
            const EcnBits ecn{static_cast<std::uint8_t>(bits)};
            if (number == 0 ||
                !WredQueue::looks_at_arrival(profiles[number - 1], ecn, port.queue[queue].lossless))
                exempt_queues[bits] = static_cast<std::uint8_t>(exempt_queues[bits] | 1U << queue);
        }
    return exempt_queues;
}

struct Policy {
    HashKey hash;
    BalancePolicy balance;
    std::uint64_t seed = 1;        // of WRED's draws, and of those among equal members
    std::uint64_t watermarks = 0;  // when it changes, owners clear the users' watermarks
    CellSize cell{256};
    bool mirrors_delays = false;  // of `mirrors`, where every burst looks
    MirrorPolicy mirrors;
    DecisionFilter decisions;  // enabled only in a switch that was made with rings for them
    std::array<PoolLimits, max_pools> ingress_pools{};
    std::array<PoolLimits, max_pools> egress_pools{};
    std::vector<PortPolicy> ports;
    std::vector<WredProfile> wred;
    std::vector<TrimPolicy> trim;  // by port; empty: no queue trims
    // Tables that control keeps, and changes only while every worker runs a policy that names others.
    const Fib* fib = nullptr;
    std::span<const NextHopGroup> next_hop_groups;
    std::span<const std::uint32_t> buckets;  // indices into next_hops
    std::span<const BalanceMember> members;
    std::span<const NextHop> next_hops;
};

}  // namespace sluice
