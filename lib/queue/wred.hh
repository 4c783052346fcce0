// WRED and ECN: drops or marks a packet by its queue's length.
//
// A curve is 0 below min, rises linearly to p_max at max, and is 1 from max on (Floyd and Jacobson 1993; min
// = max is a step). Each color, the drop precedence of the packet's DSCP (RFC 2597), has its own, and ECT
// packets may have one. Length is the queue's cells in bytes: as it is, or averaged with 1/2^weight. Drops
// are decided at enqueue, by the length before the packet; marks at enqueue too, or at dequeue by the depth
// behind the packet, so that the signal does not wait in the queue, or by the packet's time in it. CE is
// never cleared, Not-ECT never marked (RFC 3168). A profile without ECN is plain RED: it marks nothing, and
// drops every packet that its curves choose. The owner of the egress port calls it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "lib/frame/headers.hh"
#include "lib/values/units.hh"

namespace sluice {

constexpr std::uint64_t certainty = 1ULL << 32;  // of probabilities, which are parts of 2^32

// Over bytes of a queue, or over picoseconds in it.
class WredCurve {
  public:
    constexpr WredCurve() = default;  // never
    // min <= max < 2^48; p_max in [0, certainty].
    constexpr WredCurve(std::uint64_t min, std::uint64_t max, std::uint64_t p_max)
        : min_(min), max_(max), slope_(max > min ? ((p_max << 24) + (max - min - 1)) / (max - min) : 0) {}

    constexpr std::uint64_t probability(std::uint64_t value) const {
        if (value < min_) return 0;
        if (value >= max_) return certainty;
        return (value - min_) * slope_ >> 24;
    }
    constexpr std::uint64_t min() const { return min_; }
    constexpr std::uint64_t max() const { return max_; }
    constexpr bool operator==(const WredCurve&) const = default;

  private:
    std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t max_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t slope_ = 0;  // parts of 2^56 a unit
};

enum class MarkAt : std::uint8_t { dequeue, enqueue, sojourn };

struct WredProfile {
    std::array<WredCurve, colors> color;
    WredCurve ect;      // for ECT packets of any color, where has_ect
    WredCurve sojourn;  // for marks at `sojourn`
    bool has_ect = false;
    MarkAt mark_at = MarkAt::dequeue;
    std::uint8_t weight = 0;  // in [0, 15]; 0: the length as it is
    bool ecn = true;          // false: drops ECT and CE packets as others (SONiC's ecn_none)
    // Absent: drops in lossy queues. True: in lossless queues, too (SONiC). False: nowhere.
    std::optional<bool> drop_non_ect;
    bool operator==(const WredProfile&) const = default;

    // Dequeue marks no packet that leaves fewer bytes behind.
    std::uint64_t unmarked_below_bytes(EcnBits packet) const {
        return weight == 0 && mark_at == MarkAt::dequeue ? curve(packet).min() : 0;
    }
    const WredCurve& curve(EcnBits packet) const {
        return has_ect && packet.ecn() != Ecn::not_ect ? ect : color[static_cast<unsigned>(packet.color())];
    }
};

enum class WredVerdict : std::uint8_t { pass, mark, drop };

struct WredDecision {
    WredVerdict verdict = WredVerdict::pass;
    std::uint64_t looked_at = 0;    // bytes, or picoseconds for sojourn
    std::uint64_t probability = 0;  // parts of 2^32
    std::uint32_t drawn = 0;        // drawn < probability: it happens
    bool looked = false;            // a curve was asked
};

// The average length of a queue in bytes, as in rte_red.
class AverageLength {
  public:
    std::uint64_t bytes() const { return scaled_ >> (fraction_bits + weight_); }
    // Before a packet enters a queue of `length` bytes. While a queue is empty its average falls as if
    // packets of `idle_packet` each had come.
    void arrival(std::uint64_t length, std::uint8_t weight, Time now, Duration idle_packet);
    void became_empty(Time now) { empty_since_ = now; }

  private:
    static constexpr unsigned fraction_bits = 10;
    void decay(std::uint64_t packets);

    std::uint64_t scaled_ = 0;  // bytes x 2^(fraction_bits + weight)
    std::uint8_t weight_ = 0;
    Time empty_since_{};
};

// State of WRED at one queue.
class WredQueue {
  public:
    // True when `arrival` (`departure`) must be called for such a packet.
    static bool looks_at_arrival(const WredProfile& profile, EcnBits packet, bool lossless) {
        return profile.weight != 0 || may_act_at_arrival(profile, packet, lossless);
    }
    static bool looks_at_departure(const WredProfile& profile, EcnBits packet) {
        return profile.ecn && packet.may_be_marked() && profile.mark_at != MarkAt::enqueue;
    }
    // `length`: bytes in the queue before the packet. `draw()` gives 32 random bits, and is called only where
    // the curve leaves a choice.
    template <class Draw>
    WredDecision arrival(const WredProfile& profile, EcnBits packet, bool lossless, std::uint64_t length,
                         Time now, Duration idle_packet, Draw&& draw) {
        if (profile.weight != 0) average_.arrival(length, profile.weight, now, idle_packet);
        if (!may_act_at_arrival(profile, packet, lossless)) return {};
        return decide(profile.curve(packet), seen(profile, length),
                      is_dropped(profile, packet) ? WredVerdict::drop : WredVerdict::mark, draw);
    }
    // `behind` bytes stay in the queue behind the packet, which spent `sojourn` in it.
    template <class Draw>
    WredDecision departure(const WredProfile& profile, EcnBits packet, std::uint64_t behind, Duration sojourn,
                           Draw&& draw) const {
        if (!looks_at_departure(profile, packet)) return {};
        if (profile.mark_at == MarkAt::sojourn)
            return decide(profile.sojourn, static_cast<std::uint64_t>(sojourn.ps), WredVerdict::mark, draw);
        return decide(profile.curve(packet), seen(profile, behind), WredVerdict::mark, draw);
    }
    void became_empty(Time now) { average_.became_empty(now); }
    std::uint64_t average_bytes() const { return average_.bytes(); }

  private:
    // True when the curve drops such a packet, not marks it.
    static bool is_dropped(const WredProfile& profile, EcnBits packet) {
        return packet.ecn() == Ecn::not_ect || !profile.ecn;
    }
    static bool may_act_at_arrival(const WredProfile& profile, EcnBits packet, bool lossless) {
        if (packet.is_exempt()) return false;
        if (is_dropped(profile, packet))
            return profile.drop_non_ect.value_or(!lossless) && (!lossless || packet.ecn() == Ecn::not_ect);
        return profile.mark_at == MarkAt::enqueue && packet.may_be_marked();
    }
    // An empty queue counts as empty at any average (as rte_red).
    std::uint64_t seen(const WredProfile& profile, std::uint64_t length) const {
        return profile.weight == 0 || length == 0 ? length : average_.bytes();
    }
    template <class Draw>
    static WredDecision decide(const WredCurve& curve, std::uint64_t value, WredVerdict verdict,
                               Draw&& draw) {
        WredDecision decision{WredVerdict::pass, value, curve.probability(value), 0, true};
        if (decision.probability == 0) [[likely]]
            return decision;
        if (decision.probability < certainty) decision.drawn = draw();
        if (decision.drawn < decision.probability) decision.verdict = verdict;
        return decision;
    }

    AverageLength average_;
};

}  // namespace sluice
