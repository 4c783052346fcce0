#include "dataplane/path/wire.hh"

#include <algorithm>
#include <cstring>

#include "lib/roce/opcode.hh"
#include "lib/values/rng.hh"

namespace sluice {

void LearnedSenders::learn(std::uint64_t ends, std::uint32_t qp) {
    for (std::size_t n = 0; n < places; ++n) {
        Place& place = places_[(ends + n) % places];
        if (place.ends.get() == 0) {
            place.qp.set(qp);
            place.ends.set(ends);
            return;
        }
        if (place.ends.get() != ends) continue;
        if (place.qp.get() != qp) place.qp.set(several);
        return;
    }
}

std::optional<std::uint32_t> LearnedSenders::find(std::uint64_t ends) const {
    for (std::size_t n = 0; n < places; ++n) {
        const Place& place = places_[(ends + n) % places];
        if (place.ends.get() == 0) return std::nullopt;
        if (place.ends.get() != ends) continue;
        const auto qp = static_cast<std::uint32_t>(place.qp.get());
        return qp == several ? std::nullopt : std::optional(qp);
    }
    return std::nullopt;
}

void WireDirection::configure(const WirePolicy& policy) {
    const auto find_place = [&](std::uint64_t id) {
        return std::find_if(rules.begin(), rules.end(),
                            [&](const WireRuleCounters& place) { return place.id.get() == id; });
    };
    for (WireRuleCounters& place : rules) {
        const std::uint64_t id = place.id.get();
        if (std::none_of(policy.rules.begin(), policy.rules.end(),
                         [&](const FaultRule& rule) { return rule.id == id; }))
            place.id.set(0);
    }
    for (std::size_t n = 0; n < policy.rules.size(); ++n) {
        auto place = find_place(policy.rules[n].id);
        if (place == rules.end()) {
            place = find_place(0);
            for (Counter* counter : {&place->matched, &place->acted, &place->passed}) counter->set(0);
            place->id.set(policy.rules[n].id);
        }
        place_of_[n] = static_cast<std::uint8_t>(place - rules.begin());
    }
}

WireDirection::Taken WireDirection::draw_fate(const WirePolicy& policy, const FrameFacts& frame,
                                              std::uint64_t seed, PortId port, std::uint32_t bytes) {
    for (std::size_t n = 0; n < policy.rules.size(); ++n) {
        const FaultRule& rule = policy.rules[n];
        if (!rule.match.matches(frame)) continue;
        WireRuleCounters& counters = rules[place_of_[n]];
        counters.matched.add(1);
        const std::uint64_t number = counters.matched.get();
        if (rule.takes(seed, port, number, bytes)) return {&rule, place_of_[n], number};
    }
    return {};
}

void WireDirection::delay(Packet* packet, Time until) {
    holding.set(held() + 1);
    delayed_.push_back({packet, until, order_++});
    std::push_heap(delayed_.begin(), delayed_.end(), later);
}

void WireDirection::reorder(Packet* packet, Time until, std::uint32_t frames,
                            std::optional<std::uint32_t> qp) {
    holding.set(held() + 1);
    reordered_.push_back({packet, until, frames, qp});
}

std::optional<Time> WireDirection::next_due() const {
    std::optional<Time> best;
    if (!delayed_.empty()) best = delayed_.front().until;
    for (const Reordered& held : reordered_) take_earlier(best, std::optional(held.until));
    return best;
}

Packet* WireDirection::due(Time now, bool all) {
    Packet* packet = take_due(now, all);
    if (packet != nullptr) holding.set(held());
    return packet;
}

Packet* WireDirection::take_due(Time now, bool all) {
    const auto reordered = std::find_if(reordered_.begin(), reordered_.end(),
                                        [&](const Reordered& held) { return all || held.until <= now; });
    if (reordered != reordered_.end()) {
        Packet* packet = reordered->packet;
        reordered_.erase(reordered);
        return packet;
    }
    if (delayed_.empty() || !(all || delayed_.front().until <= now)) return nullptr;
    std::pop_heap(delayed_.begin(), delayed_.end(), later);
    Packet* packet = delayed_.back().packet;
    delayed_.pop_back();
    return packet;
}

namespace {

constexpr bool is(std::uint8_t opcode, roce::Opcode which) {
    return opcode == static_cast<std::uint8_t>(which);
}

constexpr std::uint8_t atomic_acknowledge = 0x12;  // IBTA 9.2, table 35
constexpr std::uint8_t first_beyond_rc = 0x20;

// IBTA 9.7.5.2.1: bits 6 and 5 of the syndrome say what the AETH is.
enum class Answer : std::uint8_t { ack = 0, rnr_nak = 1, nak = 3 };
constexpr Answer answer_of(std::uint8_t syndrome) { return static_cast<Answer>(syndrome >> 5 & 3U); }

// The packets to one queue pair that share their numbers; never 0.
std::uint64_t stream_of(const FrameFacts& facts, const IpAddress& to) {
    std::uint64_t halves[2];
    static_assert(sizeof halves == sizeof to.bytes);
    std::memcpy(halves, to.bytes.data(), sizeof halves);
    const bool response = facts.opcode >= static_cast<std::uint8_t>(roce::Opcode::read_response_first) &&
                          facts.opcode <= static_cast<std::uint8_t>(roce::Opcode::read_response_only);
    return scramble(halves[0] ^ scramble(halves[1] ^ (std::uint64_t{facts.qp} << 1 | response))) | 1U;
}

}  // namespace

void WireReplies::count(const roce::WireFrame& frame, const IpAddress& to) {
    const FrameFacts& facts = frame.facts;
    if (frame.parsed.cnp) return cnps.add(1);
    if (is(facts.opcode, roce::Opcode::acknowledge)) {
        if (!frame.syndrome) return;
        const Answer answer = answer_of(*frame.syndrome);
        if (answer == Answer::ack) acks.add(1);
        if (answer == Answer::nak) naks.add(1);
        if (answer == Answer::rnr_nak) rnr_naks.add(1);
        return;
    }
    if (facts.opcode < first_beyond_rc && facts.opcode != atomic_acknowledge)
        count_psn(stream_of(facts, to), facts.psn);
}

void WireReplies::count_psn(std::uint64_t stream, std::uint32_t psn) {
    constexpr std::uint32_t half = (PsnRange::mask + 1) / 2;
    for (std::size_t n = 0; n < max_steps; ++n) {
        Place& place = places_[(stream / 2 + n) % places];
        if (place.stream == 0) {
            place = {stream, psn};
            return;
        }
        if (place.stream != stream) continue;
        const std::uint32_t ahead = (psn - place.highest) & PsnRange::mask;
        if (ahead == 0 || ahead >= half)
            repeated.add(1);
        else
            place.highest = psn;
        return;
    }
    untracked.add(1);
}

}  // namespace sluice
