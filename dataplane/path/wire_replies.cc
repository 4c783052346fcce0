#include "dataplane/path/wire_replies.hh"

#include <cstring>

#include "lib/peer/faults.hh"
#include "lib/roce/opcode.hh"
#include "lib/values/rng.hh"

namespace sluice {
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
