// Counter-based random numbers: a draw is a function of its key, so it is the same for any number of workers.
// SplitMix64's finalizer over the key (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace sluice {

constexpr std::uint64_t scramble(std::uint64_t x) {
    x += 0x9E37'79B9'7F4A'7C15;
    x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EB;
    return x ^ x >> 31;
}

struct DrawKey {
    std::uint64_t seed;
    std::uint32_t stream;  // switch, purpose
    std::uint32_t port;    // ingress port
    std::uint64_t sequence;
};

constexpr std::uint64_t draw(const DrawKey& key) {
    return scramble(scramble(key.seed ^ (std::uint64_t{key.stream} << 32 | key.port)) + key.sequence);
}

// The seed of a switch's draws, where several share a run's seed. A switch alone has identity 0.
constexpr std::uint64_t seed_of_switch(std::uint64_t seed, std::uint32_t identity) {
    return identity == 0 ? seed : scramble(seed ^ scramble(identity));
}

// True with probability parts_per_2_32 / 2^32.
constexpr bool chance(std::uint64_t drawn, std::uint64_t parts_per_2_32) {
    return drawn >> 32 < parts_per_2_32;
}

}  // namespace sluice
