// A histogram of durations, in buckets at most 1/16 of their value wide, as HDR histograms have. Written by
// one thread with plain stores, read by any.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "lib/threads/counters.hh"
#include "lib/values/units.hh"

namespace sluice {

class Histogram {
  public:
    // Durations from 0 to 2^45 ps, which is 35 s; longer ones count as that long.
    void record(Duration duration, std::uint64_t times = 1) {
        const auto value = static_cast<std::uint64_t>(duration.ps);
        bucket_[index(value)].add(times);
        if (value > max_.get()) max_.set(value);
    }

    void add(const Histogram& other) {
        for (unsigned i = 0; i < buckets; ++i) bucket_[i].add(other.bucket_[i].get());
        if (other.max_.get() > max_.get()) max_.set(other.max_.get());
    }

    // The recordings of `later` that `earlier` lacks; the longest to 1/16.
    void set_to_difference(const Histogram& later, const Histogram& earlier) {
        max_.set(0);
        for (unsigned i = 0; i < buckets; ++i) {
            const std::uint64_t times = later.bucket_[i].get() - earlier.bucket_[i].get();
            bucket_[i].set(times);
            if (times != 0) max_.set(last_of(i) < later.max_.get() ? last_of(i) : later.max_.get());
        }
    }

    // Calls each(longest duration of the bucket, count) for non-empty buckets, in ascending order.
    template <class Each>
    void for_each_bucket(Each each) const {
        for (unsigned i = 0; i < buckets; ++i)
            if (const std::uint64_t times = bucket_[i].get(); times != 0)
                each(Duration{static_cast<std::int64_t>(last_of(i))}, times);
    }

    std::uint64_t count() const {
        std::uint64_t sum = 0;
        for (const Counter& bucket : bucket_) sum += bucket.get();
        return sum;
    }
    Duration max() const { return {static_cast<std::int64_t>(max_.get())}; }
    // The least duration, rounded up to its bucket's end, that `per_mille` of all do not exceed; 0: none.
    Duration quantile(unsigned per_mille) const {
        if (max_.get() == 0) return {};
        const std::uint64_t total = count();
        const std::uint64_t wanted = (total * per_mille + 999) / 1000;
        std::uint64_t seen = 0;
        for (unsigned i = 0; i < buckets; ++i) {
            seen += bucket_[i].get();
            if (seen < wanted || seen == 0) continue;
            const std::uint64_t last = last_of(i);
            return last < max_.get() ? Duration{static_cast<std::int64_t>(last)} : max();
        }
        return {};
    }

  private:
    static constexpr unsigned fine_bits = 4;
    static constexpr unsigned fine = 1U << fine_bits;
    static constexpr unsigned highest_bit = 45;
    static constexpr unsigned buckets = (highest_bit - fine_bits + 2) * fine;

    static unsigned index(std::uint64_t value) {
        if (value < fine) return static_cast<unsigned>(value);
        const auto high = static_cast<unsigned>(std::bit_width(value)) - 1;
        if (high > highest_bit) return buckets - 1;
        const unsigned shift = high - fine_bits;
        return (shift + 1) * fine + (static_cast<unsigned>(value >> shift) & (fine - 1));
    }
    static std::uint64_t last_of(unsigned index) {
        if (index < fine) return index;
        const unsigned shift = index / fine - 1;
        return (((std::uint64_t{fine} + index % fine + 1) << shift)) - 1;
    }

    std::array<Counter, buckets> bucket_{};
    Counter max_;
};

}  // namespace sluice
