// Chooses a packet's member of a next-hop group beyond the hash: by flowlet, adaptive, or by packet.
//
// A table is indexed by hash. Flows with one entry share a path, as in switch chips, and a gap in it is a gap
// in all of them, so none is reordered. Within a flowlet, packets whose gaps are at most `gap`, the path
// stays; the next flowlet goes to the member of the best band, drawn among equals by their share of the
// buckets. `adaptive` moves a flow without a gap when another member is better by `margin` bands, at most
// once in `move_interval`. `packet` chooses for each packet. The state belongs to a receive queue, so it is
// the same for any number of workers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "lib/route/ecmp.hh"
#include "lib/route/port_load.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class LoadBalance : std::uint8_t { hash, flowlet, adaptive, packet };
constexpr std::array<std::string_view, 4> load_balance_names{"hash", "flowlet", "adaptive", "packet"};
constexpr std::string_view to_string(LoadBalance mode) {
    return load_balance_names[static_cast<std::size_t>(mode)];
}

// By the first three bits of a BTH's opcode (InfiniBand Architecture 9.2.1); `none`: not RoCE.
enum class RoceTransport : std::uint8_t { rc, uc, rd, ud, other, none };
constexpr std::array<std::string_view, 6> roce_transport_names{"rc", "uc", "rd", "ud", "other", "none"};
constexpr std::size_t roce_transports = roce_transport_names.size();
constexpr RoceTransport roce_transport(bool roce, std::uint8_t opcode) {
    if (!roce) return RoceTransport::none;
    const unsigned bits = opcode >> 5U;
    return bits < 4 ? static_cast<RoceTransport>(bits) : RoceTransport::other;
}

// Why the packet takes its member.
enum class BalanceReason : std::uint8_t {
    hashed,       // by its hash alone
    kept,         // that of its flowlet
    new_flowlet,  // the first, or the first after a gap
    moved,        // adaptive: another was better
    member_lost,  // the flowlet's link is down
    sprayed       // every packet for itself
};
constexpr std::array<std::string_view, 6> balance_reason_names{"hashed", "kept",        "new_flowlet",
                                                               "moved",  "member_lost", "sprayed"};
constexpr std::string_view to_string(BalanceReason reason) {
    return balance_reason_names[static_cast<std::size_t>(reason)];
}

struct BalanceSettings {
    Duration gap = microseconds(100);          // of inactivity, after which a flowlet has ended
    Duration move_interval = milliseconds(1);  // of one entry, between two moves by quality
    std::uint8_t margin = 3;                   // bands by which a member must be better
    bool operator==(const BalanceSettings&) const = default;
};

// All zero: never used.
struct Flowlet {
    Time last;             // arrival of its last packet
    Time since;            // it has taken its member since then
    std::uint32_t choice;  // a hash of its member: see bucket_of
    std::uint32_t tag;     // hash of the last packet, to count collisions
    bool used;

    void go_on(std::uint32_t hash, Time now) {
        last = max(last, now);
        tag = hash;
    }
};
static_assert(sizeof(Flowlet) == 32);

// A member of a group, beside the buckets of ecmp.hh.
struct BalanceMember {
    std::uint32_t next_hop;
    std::uint16_t share;   // buckets, at least 1
    std::uint16_t bucket;  // one of them
};

struct BalanceGroup {
    const std::uint32_t* buckets;            // next hops
    unsigned log2_buckets;                   // at least 1
    std::span<const BalanceMember> members;  // each next hop of the buckets once
};

struct BalanceChoice {
    std::uint32_t next_hop = no_member;  // no_member: no link is up
    std::uint32_t bucket = 0;
    BalanceReason reason = BalanceReason::kept;
    bool shared = false;       // with another hash
    std::uint8_t band = 0;     // of the member, where one was chosen
    std::uint8_t told = 0;     // of it: the neighbor's part, where recorded
    std::uint16_t equals = 0;  // members of that band
    std::uint32_t drawn = 0;   // where there were several
    Duration age{};            // of the flowlet's stay with its member
};

// Draws among the members with the lowest band, in proportion to their shares. `band(next hop)`: its
// LinkQuality::band plus RemoteQuality, or `unusable`.
template <class Band>
BalanceChoice best_member(const BalanceGroup& group, std::uint32_t drawn, Band band) {
    std::array<std::uint8_t, 256> bands;
    BalanceChoice choice;
    choice.band = LinkQuality::unusable;
    std::uint32_t shares = 0;
    const std::size_t count = std::min(group.members.size(), bands.size());
    for (std::size_t i = 0; i < count; ++i) {
        bands[i] = band(group.members[i].next_hop);
        if (bands[i] < choice.band) {
            choice.band = bands[i];
            choice.equals = 0;
            shares = 0;
        }
        if (bands[i] == choice.band) {
            ++choice.equals;
            shares += group.members[i].share;
        }
    }
    if (choice.band == LinkQuality::unusable) return choice;
    choice.drawn = drawn;
    auto left = static_cast<std::uint32_t>(std::uint64_t{drawn} * shares >> 32);
    for (std::size_t i = 0; i < count; ++i) {
        if (bands[i] != choice.band) continue;
        const BalanceMember& member = group.members[i];
        if (left < member.share) {
            choice.next_hop = member.next_hop;
            choice.bucket = member.bucket;
            break;
        }
        left -= member.share;
    }
    return choice;
}

// True when the packet keeps its flowlet's member, if that link is up. False: `balance` decides.
inline bool stays(const Flowlet& entry, std::uint32_t hash, Time now, const BalanceSettings& settings) {
    return entry.used && entry.tag == hash && now - entry.last <= settings.gap;
}

// `entry`: that of the packet's hash. `draw()`: 32 random bits of this packet.
template <class Band, class Draw>
BalanceChoice balance(LoadBalance mode, Flowlet& entry, std::uint32_t hash, const BalanceGroup& group,
                      Time now, const BalanceSettings& settings, Band band, Draw draw) {
    if (mode == LoadBalance::packet) {
        BalanceChoice choice = best_member(group, draw(), band);
        choice.reason = BalanceReason::sprayed;
        return choice;
    }
    BalanceChoice choice;
    const bool goes_on = entry.used && now - entry.last <= settings.gap;
    const bool shared = entry.used && entry.tag != hash;
    choice.reason = BalanceReason::new_flowlet;
    if (goes_on) {
        const std::uint32_t bucket = bucket_of(group.log2_buckets, entry.choice);
        const std::uint32_t next_hop = group.buckets[bucket];
        const std::uint8_t own = band(next_hop);
        choice = {next_hop, bucket, BalanceReason::kept, shared, own, 0, 0, 0, now - entry.since};
        bool leaves = own == LinkQuality::unusable;
        if (leaves) {
            choice.reason = BalanceReason::member_lost;
        } else if (mode == LoadBalance::adaptive && own >= settings.margin &&
                   now - entry.since >= settings.move_interval) {
            const BalanceChoice best = best_member(group, 0, band);
            leaves = own - best.band >= settings.margin;
            if (leaves) choice.reason = BalanceReason::moved;
        }
        entry.go_on(hash, now);
        if (!leaves) return choice;
    }
    const BalanceReason reason = choice.reason;
    choice = best_member(group, draw(), band);
    choice.reason = reason;
    choice.shared = goes_on && shared;
    if (choice.next_hop == no_member) return choice;
    entry = {now, now, choice.bucket << (32U - group.log2_buckets), hash, true};
    return choice;
}

}  // namespace sluice
