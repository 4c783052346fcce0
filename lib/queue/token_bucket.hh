// A rate limit in exact integers, kept as the moment from which the next frame may go.
//
// The virtual scheduling form of the token bucket (ITU-T I.371, GCRA): each byte moves that moment on by
// 8e12/rate ps, and the remainder of the division is carried, so a long run is exact to the byte. A frame may
// go unless there is debt, so its size does not matter. Credit limits the burst of an idle bucket; debt
// limits how far the moment runs ahead when frames go without asking (a floor that is exceeded), and tells a
// moment ahead from one so long past that Time has wrapped: an unused bucket needs no upkeep. rate in [1,
// 8e12] bits/s or 0: no limit, call nothing else. One thread.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "lib/values/units.hh"

namespace sluice {

class TokenBucket {
  public:
    // A burst is `burst_bytes` of frames of one size, or if that is more, a frame and the rate's bytes in
    // `wait`, the owner's longest delay. Bytes on the wire in [0, 2^20], `wait` in [0, 10 days]. Keeps credit
    // and debt when the rate stays.
    void configure(Rate rate, Duration wait, std::uint32_t burst_bytes, std::uint32_t debt_bytes) {
        assert(burst_bytes <= 1U << 20 && debt_bytes <= 1U << 20 && wait.ps >= 0);
        if (rate != rate_) {
            carry_ = 0;
            full_ = true;
        }
        rate_ = rate;
        if (!limits()) return;
        wait_ps_ = static_cast<std::uint64_t>(wait.ps);
        burst_ps_ = burst_bytes * ps_rate_per_byte / rate.bits_per_second;
        debt_ps_ = debt_bytes * ps_rate_per_byte / rate.bits_per_second + 1;
    }

    bool limits() const { return rate_.bits_per_second != 0; }
    bool may_send(Time now) const { return full_ || ahead_ps(now) - 1 >= debt_ps_; }
    // When may_send will next hold; only when it does not.
    Time next_send() const { return carry_ == 0 ? next_ : next_ + Duration{1}; }

    void spend(std::uint32_t wire_bytes, Time now) {
        const std::uint64_t parts = wire_bytes * ps_rate_per_byte;
        const std::uint64_t frame_ps = parts / rate_.bits_per_second;
        const std::uint64_t credit_ps = std::max(wait_ps_, burst_ps_ - std::min(burst_ps_, frame_ps));
        if (may_send(now) && (full_ || now.ps - next_.ps > credit_ps)) {
            next_ = {now.ps - credit_ps};
            carry_ = 0;
            full_ = false;
        }
        next_.ps += frame_ps;
        carry_ += parts % rate_.bits_per_second;
        if (carry_ >= rate_.bits_per_second) {
            carry_ -= rate_.bits_per_second;
            ++next_.ps;
        }
        if (const Time limit = {now.ps + debt_ps_ - 1}; next_ > limit) {
            next_ = limit;
            carry_ = 0;
        }
    }

  private:
    static constexpr std::uint64_t ps_rate_per_byte = 8'000'000'000'000;  // bits x ps in a byte-second

    // Unsigned: a past moment is a large number.
    std::uint64_t ahead_ps(Time now) const { return next_send().ps - now.ps; }

    Rate rate_{};
    std::uint64_t wait_ps_ = 0;
    std::uint64_t burst_ps_ = 0;
    std::uint64_t debt_ps_ = 1;
    Time next_{};              // the debt ends at next_ + carry_ / rate_ ps
    std::uint64_t carry_ = 0;  // in [0, rate)
    bool full_ = true;         // never used since configured
};

}  // namespace sluice
