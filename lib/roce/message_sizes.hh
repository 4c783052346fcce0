// Sizes of messages: fixed, uniform, or a published distribution.
//
// A distribution is a table of points, cumulative in 1/10 000: with the share between two points a message
// has each size above the lower point up to the upper one with equal probability. That is the linear
// interpolation of the published tables in whole bytes, never 0, and its mean is exact. A draw of 64 bits
// gives a size; integers only, each size's probability within 2^-32 of what it should be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::roce {

class MessageSizes {
  public:
    struct Point {
        std::uint32_t bytes;       // at most 2^31, the largest RC message
        std::uint32_t cumulative;  // in 1/10 000
    };
    static constexpr std::uint32_t whole = 10'000;
    static constexpr std::size_t max_points = 32;

    // From cumulative 0 to `whole`; both columns rise, bytes strictly.
    static bool valid(std::span<const Point> points);
    explicit MessageSizes(std::span<const Point> points);  // valid ones

    static MessageSizes fixed(std::uint32_t bytes) { return uniform(bytes, bytes); }  // bytes > 0
    static MessageSizes uniform(std::uint32_t min_bytes, std::uint32_t max_bytes);    // 0 < least <= most
    static MessageSizes web_search();       // DCTCP (Alizadeh et al., SIGCOMM 2010)
    static MessageSizes facebook_hadoop();  // Roy et al., SIGCOMM 2015, as HPCC's experiments have it
    static MessageSizes alibaba_storage();  // storage of 2019, likewise

    std::uint32_t size(std::uint64_t drawn) const;
    std::uint64_t mean_millibytes() const;  // rounded down
    std::uint32_t min_bytes() const;
    std::uint32_t max_bytes() const;

  private:
    std::array<Point, max_points> points_{};
    std::size_t count_ = 0;
};

}  // namespace sluice::roce
