// For each port of a switch a moment at which it is to be looked at again: the earliest of them, and whose
// have come. All are compared each time, several at once (vector instructions), so that no order is to be
// kept. Moments are within 106 days of the `now` they are asked with (Time wraps).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

class PortAlarms {
  public:
    // For all ports at `first`.
    PortAlarms(std::size_t ports, Time first) : at_(ports, first.ps) {}

    void set(PortId port, Time at) { at_[port] = at.ps; }

    // How long after `now` the earliest is, `longest` at most; below 0 when it has been.
    Duration until_earliest(Time now, Duration longest) const {
        std::int64_t least = longest.ps;
        for (const std::uint64_t at : at_) least = std::min(least, static_cast<std::int64_t>(at - now.ps));
        return {least};
    }

    // Ports whose moment is not after `now`.
    PortMask due(Time now) const {
        PortMask mask;
        for (std::size_t first = 0; first < at_.size(); first += 64) {
            const std::size_t count = std::min<std::size_t>(64, at_.size() - first);
            std::uint64_t word = 0;
            // By the sign of a difference, which moves to its place in one instruction.
            for (std::size_t i = 0; i < count; ++i) word |= (at_[first + i] - now.ps - 1) >> 63 << i;
            mask.set_word(first / 64, word);
        }
        return mask;
    }

  private:
    std::vector<std::uint64_t> at_;  // ps, as of bare numbers alone the compiler makes vectors
};

}  // namespace sluice
