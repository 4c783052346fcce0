// Packet sequence numbers: 24 bits on the wire, compared by signed difference over the wrap (IBTA 9.7), as
// long as two of them are less than 2^23 apart.
//
// Both end points count in 64 bits and send the low 24. A number from the wire is extended by one that is
// near it. The count starts at 2^24 and the first PSN, so that what lies before the first is a number, too.
#pragma once

#include <cstdint>

namespace sluice::roce {

inline constexpr std::uint32_t psn_mask = 0xFF'FFFF;
inline constexpr std::uint64_t max_outstanding_psns = std::uint64_t{1} << 23;

// How far `psn` is ahead of `reference`: -2^23 to 2^23 - 1.
constexpr std::int32_t psn_difference(std::uint32_t psn, std::uint32_t reference) {
    return static_cast<std::int32_t>((psn - reference) << 8) >> 8;
}

constexpr std::uint32_t psn_of(std::uint64_t sequence) {
    return static_cast<std::uint32_t>(sequence) & psn_mask;
}

constexpr std::uint64_t first_sequence(std::uint32_t first_psn) {
    return (std::uint64_t{1} << 24) + (first_psn & psn_mask);
}

// The sequence number nearest to `near` whose PSN this is.
constexpr std::uint64_t sequence_of(std::uint32_t psn, std::uint64_t near) {
    return near + static_cast<std::uint64_t>(std::int64_t{psn_difference(psn, psn_of(near))});
}

// The payload of each packet has a place of its own in its queue pair's stream, as long as an MTU: so a
// receiver knows it from the PSN alone.
constexpr std::uint64_t payload_place(std::uint64_t sequence, std::uint32_t first_psn, std::uint32_t mtu) {
    return (sequence - first_sequence(first_psn)) * mtu;
}

}  // namespace sluice::roce
