// Cells: the unit in which the shared buffer counts. A packet takes ceil(frame bytes / cell bytes) of them.
// Real switches have cells of 96, 144, 192, 208, 254 or 256 bytes, so the division is a multiplication by a
// reciprocal: exact for every frame that an mbuf can describe (proof at the static_assert, all values in the
// test).
#pragma once

#include <cassert>
#include <cstdint>

namespace sluice {

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

    // Sizes from the configuration: what is promised is rounded up, what limits is rounded down.
    constexpr std::uint64_t rounded_up(std::uint64_t bytes) const { return (bytes + bytes_ - 1) / bytes_; }
    constexpr std::uint64_t rounded_down(std::uint64_t bytes) const { return bytes / bytes_; }

  private:
    static constexpr unsigned shift = 46;
    // reciprocal = (2^46 + e) / bytes with e < bytes. The quotient of x is right while x e < 2^46, and the
    // product fits 64 bits while x (2^46 / min_bytes + 1) does; x < 2^16 + max_bytes.
    static constexpr std::uint64_t most = 65'535 + max_bytes;
    static_assert(most * max_bytes < std::uint64_t{1} << shift);
    static_assert(most < UINT64_MAX / ((std::uint64_t{1} << shift) / min_bytes + 1));

    std::uint64_t reciprocal_;
    std::uint32_t bytes_;
};

static_assert(CellSize{256}.cells(64) == 1 && CellSize{256}.cells(257) == 2 &&
              CellSize{144}.cells(9114) == 64);

}  // namespace sluice
