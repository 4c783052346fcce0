// Strong types for time, rate and sizes.
//
// Time is unsigned 64-bit picoseconds and wraps after 213 days, so two times are compared by signed
// difference: `a < b` means "a is before b" and holds for times less than 106 days apart.
// A byte time is a whole number of picoseconds for every Ethernet speed from 1 to 800 Gb/s.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace sluice {

// A span of time in picoseconds; signed.
struct Duration {
    std::int64_t ps = 0;

    constexpr auto operator<=>(const Duration&) const = default;
    constexpr Duration operator+(Duration other) const { return {ps + other.ps}; }
    constexpr Duration operator-(Duration other) const { return {ps - other.ps}; }
    constexpr Duration operator*(std::int64_t factor) const { return {ps * factor}; }
    constexpr Duration operator/(std::int64_t divisor) const { return {ps / divisor}; }
};

constexpr Duration picoseconds(std::int64_t n) { return {n}; }
constexpr Duration nanoseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration microseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000'000}; }

// A moment, in picoseconds since the switch's origin; wraps.
struct Time {
    std::uint64_t ps = 0;

    constexpr bool operator==(const Time&) const = default;
    constexpr bool operator<(Time other) const { return static_cast<std::int64_t>(ps - other.ps) < 0; }
    constexpr bool operator>(Time other) const { return other < *this; }
    constexpr bool operator<=(Time other) const { return !(other < *this); }
    constexpr bool operator>=(Time other) const { return !(*this < other); }
    constexpr Time operator+(Duration d) const { return {ps + static_cast<std::uint64_t>(d.ps)}; }
    constexpr Time operator-(Duration d) const { return {ps - static_cast<std::uint64_t>(d.ps)}; }
    constexpr Duration operator-(Time other) const { return {static_cast<std::int64_t>(ps - other.ps)}; }
};

constexpr Time max(Time a, Time b) { return a < b ? b : a; }
constexpr Time min(Time a, Time b) { return b < a ? b : a; }
// `best` is the earlier of both; no candidate changes nothing.
constexpr void take_earlier(std::optional<Time>& best, Time candidate) {
    if (!best || candidate < *best) best = candidate;
}
constexpr void take_earlier(std::optional<Time>& best, const std::optional<Time>& candidate) {
    if (candidate) take_earlier(best, *candidate);
}
constexpr void take_earlier(std::optional<Time>& best, const Time* candidate) {
    if (candidate != nullptr) take_earlier(best, *candidate);
}

// Link speed in bits a second. A port's speed must be `valid_port_speed`.
struct Rate {
    std::uint64_t bits_per_second = 0;

    constexpr auto operator<=>(const Rate&) const = default;
    // Time of one byte on the wire; exact when `valid_port_speed`.
    constexpr Duration byte_time() const {
        return {static_cast<std::int64_t>(8'000'000'000'000 / bits_per_second)};
    }
    constexpr bool valid_port_speed() const {
        return bits_per_second >= 1'000'000'000 && bits_per_second <= 800'000'000'000 &&
               8'000'000'000'000 % bits_per_second == 0;
    }
};

constexpr Rate gigabits(std::uint64_t n) { return {n * 1'000'000'000}; }

// FCS 4, preamble and start delimiter 8, inter-frame gap 12 (IEEE 802.3).
constexpr std::uint32_t wire_overhead_bytes = 24;
// A pause quantum is 512 bit times (IEEE 802.3 Annex 31B).
constexpr std::uint32_t quantum_bytes = 64;

// Speed of a signal in fiber and copper, 0.66 c.
constexpr std::uint64_t signal_meters_per_second = 198'000'000;
// How long a signal travels along a cable of `meters`, one way; rounded down.
constexpr Duration propagation_delay(std::uint32_t meters) {
    return {static_cast<std::int64_t>(std::uint64_t{meters} * 1'000'000'000'000 / signal_meters_per_second)};
}

// Bytes that a frame of `frame_bytes` (Ethernet header to payload, no FCS) takes on the wire.
constexpr std::uint32_t wire_bytes(std::uint32_t frame_bytes) { return frame_bytes + wire_overhead_bytes; }

}  // namespace sluice
