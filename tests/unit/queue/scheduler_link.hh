// A link that sends the packets that a Scheduler picks, for tests of shares and rates.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/queue/scheduler.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::scheduler_link {

using Weights = std::vector<std::uint8_t>;

inline constexpr Time origin{~std::uint64_t{0} - 1'000'000};  // Time wraps early in every run

inline PortSchedule dwrr(const Weights& weights) {
    PortSchedule settings;
    for (unsigned q = 0; q < weights.size(); ++q) settings.queue[q].weight = weights[q];
    return settings;
}

// Endless queues of 64, 1500 and 9216 B frames in a random order of their own.
struct Backlog {
    std::uint64_t seed = 1;
    std::array<std::uint64_t, 8> index{};
    std::uint32_t operator()(unsigned queue) const {
        constexpr std::array<std::uint32_t, 3> frame_bytes{64, 1500, 9216};
        return wire_bytes(frame_bytes[draw({seed, 0, queue, index[queue]}) % 3]);
    }
};

// A link that sends the scheduler's packets; time passes as the frames take it, or jumps when a rate holds
// back.
struct Link {
    explicit Link(PortSchedule settings, Rate of_link = gigabits(10)) : speed(of_link) {
        settings.speed = speed;
        scheduler.configure(settings);
    }

    Rate speed;
    Scheduler scheduler;
    Time now = origin;
    Backlog head{};
    std::array<std::uint64_t, 8> sent_bytes{};
    std::uint64_t total_bytes = 0;

    int send_one(std::uint8_t ready) {
        int queue = scheduler.pick(ready, head, now);
        while (queue < 0) {
            const auto when = scheduler.next_eligible(ready, now);
            CHECK(when.has_value());
            CHECK(now < *when);
            CHECK_EQUAL(-1, scheduler.pick(ready, head, *when - Duration{1}));
            now = *when;
            queue = scheduler.pick(ready, head, now);
        }
        const auto q = static_cast<unsigned>(queue);
        const std::uint32_t bytes = head(q);
        scheduler.sent(queue, bytes, now);
        now = now + speed.byte_time() * bytes;
        ++head.index[q];
        sent_bytes[q] += bytes;
        total_bytes += bytes;
        return queue;
    }
};

inline double share(const Link& link, unsigned queue) {
    return static_cast<double>(link.sent_bytes[queue]) / static_cast<double>(link.total_bytes);
}

}  // namespace sluice::scheduler_link
