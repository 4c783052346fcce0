// Numbers of a random test, all from its seed.
#pragma once

#include <cstdint>

#include "lib/values/rng.hh"

namespace sluice::sim {

class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t below(std::uint64_t n) { return scramble(scramble(seed_) + ++draws_) % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class List>
    auto among(const List& list) {
        return list[below(list.size())];
    }

  private:
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;
};

}  // namespace sluice::sim
