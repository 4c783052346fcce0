// Counts the RoCEv2 and MAC control frames of a capture, and recomputes every ICRC.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sluice::traffic {

struct Verification {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;  // on the wire, without FCS
    std::uint64_t roce = 0;   // UDP destination port 4791, CNP included; later fragments are not
    std::uint64_t icrc_good = 0;
    std::uint64_t icrc_bad = 0;
    std::uint64_t icrc_unchecked = 0;  // cut, fragmented or too short: there is no ICRC to check
    std::uint64_t cnp = 0;
    std::uint64_t not_ect = 0;  // these four of `roce`
    std::uint64_t ect0 = 0;
    std::uint64_t ect1 = 0;
    std::uint64_t ce = 0;
    std::uint64_t pfc = 0;
    std::uint64_t pause = 0;
    std::uint64_t first_bad = 0;  // the first bad ICRC's frame, counted from 1 over all; 0: none

    // `length` is that on the wire; `frame` the captured part.
    void add(std::span<const std::uint8_t> frame, std::uint32_t length);
    std::string text() const;
    std::string json() const;
};

}  // namespace sluice::traffic
