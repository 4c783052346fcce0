// Descriptors of a network card's rings: many to receive, few to send.
//
// The receive ring holds the smallest frames of a turn. The transmit ring holds no more than headroom allows
// for: a pause cannot stop frames in it, and our PFC waits behind them. Each descriptor of it may hold a full
// packet buffer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "lib/values/units.hh"

namespace sluice {

// The size of each ring of a software device.
constexpr std::uint16_t ring_descriptors = 512;

struct RingSizes {
    std::uint32_t receive;
    std::uint32_t transmit;
};

struct RingLimits {
    static constexpr std::uint32_t min_receive = 512;
    static constexpr std::uint32_t max_receive = 8192;  // the most of DPDK's drivers, or half of it
    // A burst, with some frames of several buffers and the entries that a driver keeps free.
    static constexpr std::uint32_t min_transmit = 64;
    static constexpr std::uint32_t max_transmit = 1024;
};

// Wire bytes that a port sends or receives in this time.
constexpr std::uint64_t bytes_in_time(Rate speed, Duration time) {
    return static_cast<std::uint64_t>(time.ps / speed.byte_time().ps);
}

// `ring`: time that may wait in the transmit ring.
constexpr RingSizes ring_sizes(Rate speed, Duration turn_max, Duration ring, std::uint32_t buffer_bytes) {
    constexpr std::uint64_t min_wire_bytes = wire_bytes(60);
    const std::uint64_t frames = bytes_in_time(speed, turn_max) / min_wire_bytes + 1;
    const std::uint64_t buffers = bytes_in_time(speed, ring) / wire_bytes(buffer_bytes);
    const auto bounded = [](std::uint64_t n, std::uint32_t least, std::uint32_t most) {
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(n, least, most));
    };
    return {bounded(std::bit_ceil(frames), RingLimits::min_receive, RingLimits::max_receive),
            bounded(buffers, RingLimits::min_transmit, RingLimits::max_transmit)};
}

}  // namespace sluice
