// Random numbers of a host's messages: a draw is a function of the run's seed, the queue pair and the
// message.
//
// `queue_pair` is an identity that no other host changes: made of addresses and the index within a pair of
// hosts, not of a count over the run. So adding a host changes nobody else's draws.
#pragma once

#include <cstdint>

#include "lib/values/rng.hh"

namespace sluice::roce {

enum class MessageDraw : std::uint32_t { size = 1, gap = 2, phase = 3 };

struct MessageDraws {
    std::uint64_t seed = 0;
    std::uint64_t queue_pair = 0;

    constexpr std::uint64_t operator()(MessageDraw what, std::uint64_t message) const {
        return draw({seed ^ scramble(queue_pair), static_cast<std::uint32_t>(what), 0, message});
    }
};

}  // namespace sluice::roce
