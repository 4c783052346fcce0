// A pool of the shared buffer and its users on one thread, for tests of the admission rules.
#pragma once

#include <array>
#include <cstdint>

#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/buffer/release_board.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::shared_buffer_bench {

// A pool and its groups; every packet is a burst of its own.
struct Bench {
    PoolLimits pool_limits;
    PoolUse pool;

    explicit Bench(PoolLimits limits) : pool_limits(limits) { pool.exclusive = true; }

    Admission admit(PriorityGroup& group, const GroupLimits& limits, std::uint32_t cells) {
        PoolBurst burst(pool, pool_limits, cells);
        return group.admit(limits, burst, cells);
    }
    QueueAdmission admit(EgressQueueUse& queue, const QueueLimits& limits, std::uint32_t cells) {
        PoolBurst burst(pool, pool_limits, cells);
        return queue.admit(limits, burst, cells);
    }
    template <class User>
    void release(User& user, std::uint32_t cells) {
        PoolBurst burst(pool, pool_limits, 0);
        user.release(burst, cells);
    }
    XoffSignal evaluate(PriorityGroup& group, const GroupLimits& limits, bool hold = false) {
        return group.update_xoff(limits, view(), hold);
    }
    PoolView view() const { return {pool, pool_limits}; }
};

inline void check(Admission expected, Admission actual) {
    LONGS_EQUAL(static_cast<int>(expected), static_cast<int>(actual));
}
inline void check(QueueAdmission expected, QueueAdmission actual) {
    LONGS_EQUAL(static_cast<int>(expected), static_cast<int>(actual));
}
inline void check(XoffSignal expected, XoffSignal actual) {
    LONGS_EQUAL(static_cast<int>(expected), static_cast<int>(actual));
}

inline constexpr std::array cell_sizes = {96U, 144U, 192U, 208U, 254U, 256U};

}  // namespace sluice::shared_buffer_bench
