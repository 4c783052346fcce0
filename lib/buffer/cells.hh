// Cells: the unit of the shared buffer. A packet takes ceil(frame bytes / cell bytes) of them. Real switches
// have cells of 96, 144, 192, 208, 254 or 256 bytes, so the division is a multiplication by a reciprocal,
// exact for every frame of an mbuf (proof at the static_assert, all values in the test).
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

#include "lib/values/ids.hh"

namespace sluice {

// The most cells that a buffer has. A count of cells is 32 bits wide with room to add a few of them, and 2^7
// times a pool's free cells (the largest alpha) fits 64 bits.
constexpr std::uint32_t max_buffer_cells = std::uint32_t{1} << 31;

class CellSize {
  public:
    static constexpr std::uint32_t min_bytes = 64;
    static constexpr std::uint32_t max_bytes = 16'384;

    constexpr explicit CellSize(std::uint32_t bytes = 256)
        : reciprocal_(((std::uint64_t{1} << shift) + bytes - 1) / bytes), bytes_(bytes) {
        assert(bytes >= min_bytes && bytes <= max_bytes);
    }

    constexpr std::uint32_t bytes() const { return bytes_; }

    // Cells of one packet; frame_bytes in [1, 65535].
    constexpr std::uint32_t cells(std::uint32_t frame_bytes) const {
        return static_cast<std::uint32_t>((frame_bytes + bytes_ - 1) * reciprocal_ >> shift);
    }

    // Sizes of the configuration: promises are rounded up, limits down. Nothing: more cells than a buffer can
    // have.
    constexpr std::optional<std::uint32_t> rounded_up(std::uint64_t bytes) const {
        return checked(bytes / bytes_ + (bytes % bytes_ != 0 ? 1 : 0));
    }
    constexpr std::optional<std::uint32_t> rounded_down(std::uint64_t bytes) const {
        return checked(bytes / bytes_);
    }

  private:
    static constexpr std::optional<std::uint32_t> checked(std::uint64_t cells) {
        if (cells > max_buffer_cells) return std::nullopt;
        return static_cast<std::uint32_t>(cells);
    }

    static constexpr unsigned shift = 46;
    // reciprocal = (2^46 + e) / bytes with e < bytes. The quotient of x is right while x e < 2^46, and the
    // product fits 64 bits while x (2^46 / min_bytes + 1) does; x < 2^16 + max_bytes.
    static constexpr std::uint64_t most = 65'535 + max_bytes;
    static_assert(most * max_bytes < std::uint64_t{1} << shift);
    static_assert(most < UINT64_MAX / ((std::uint64_t{1} << shift) / min_bytes + 1));

    std::uint64_t reciprocal_;
    std::uint32_t bytes_;
};

// A packet's charge, as one number: a load that spans several stores waits for them.
//
// From the lowest bits up: 16 of frame bytes, 16 of cells (0: nothing is charged), 16 of ingress port, 8 of
// priority group, 8 of flags. In this order a little-endian machine has them in memory.
constexpr std::uint64_t packet_charge(std::uint16_t frame_bytes, std::uint16_t cells, PortId ingress_port,
                                      ClassId priority_group, std::uint8_t flags) {
    return std::uint64_t{frame_bytes} | std::uint64_t{cells} << 16 | std::uint64_t{ingress_port} << 32 |
           std::uint64_t{priority_group} << 48 | std::uint64_t{flags} << 56;
}

}  // namespace sluice
