// The reaction point against one of explicit timers, each tick by itself, in floating point.
#include <algorithm>

#include "lib/roce/dcqcn.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::reaction_reference_test {
namespace {

using namespace sluice::roce;

constexpr Time origin{~std::uint64_t{0} - 20'000'000};  // Time wraps 20 us into every run
constexpr Rate line = gigabits(40);

struct Reference {
    const ReactionParameters& p;
    bool paper;
    double rate, target, alpha = 1;
    bool cnp_alpha = false, cnp_cut = false, seen = false;
    Time alpha_at{}, cut_at{}, increase_at{};
    bool increasing = false;
    unsigned timer = 0, byte = 0;
    double bytes = 0;

    explicit Reference(const ReactionParameters& parameters)
        : p(parameters),
          paper(parameters.kind != CongestionControl::dcqcn_timer),
          rate(static_cast<double>(parameters.line_rate.bits_per_second)),
          target(rate) {}

    double gain() const { return static_cast<double>(p.gain) / static_cast<double>(fraction_one); }
    void cut(Time now) {
        rate = std::max(rate * (1 - alpha / 2), static_cast<double>(p.min_rate.bits_per_second));
        timer = byte = 0;
        bytes = 0;
        increasing = true;
        increase_at = now + p.increase_period;
    }
    void raise() {
        const unsigned most = std::max(timer, byte);
        const unsigned least = paper ? std::min(timer, byte) : timer - 1;
        if (least > p.fast_recovery)
            target += static_cast<double>(p.hyper.bits_per_second);
        else if (most > p.fast_recovery)
            target += static_cast<double>(p.additive.bits_per_second);
        target = std::min(target, static_cast<double>(p.line_rate.bits_per_second));
        rate = (rate + target) / 2;
    }
    void advance(Time now) {
        while (seen) {
            Time next = min(alpha_at, increasing ? increase_at : alpha_at);
            if (!paper) next = min(next, cut_at);
            if (next > now) return;
            if (increasing && increase_at == next) {
                increase_at = next + p.increase_period;
                ++timer;
                raise();
            } else if (alpha_at == next) {
                alpha *= 1 - gain();
                if (cnp_alpha) alpha += gain();
                cnp_alpha = false;
                alpha_at = next + p.alpha_period;
            } else {
                cut_at = next + p.decrease_period;
                if (!cnp_cut) continue;
                cnp_cut = false;
                if (p.clamp_target || timer != 0) target = rate;
                cut(next);
            }
        }
    }
    void cnp(Time now) {
        advance(now);
        if (paper) {
            target = rate;
            cut(now);
            alpha = (1 - gain()) * alpha + gain();
            alpha_at = now + p.alpha_period;
        } else {
            cnp_cut = true;
            cnp_alpha = seen;
            if (!seen) {
                alpha_at = now + p.alpha_period;
                cut_at = now + p.decrease_period;
            }
        }
        seen = true;
    }
    void sent(double sent_bytes, Time now) {
        advance(now);
        if (!increasing || p.byte_counter == 0) return;
        bytes += sent_bytes;
        while (bytes >= static_cast<double>(p.byte_counter)) {
            bytes -= static_cast<double>(p.byte_counter);
            ++byte;
            raise();
        }
    }
};

ReactionParameters parameters_of(std::uint64_t seed) {
    ReactionParameters parameters =
        seed % 6 == 0   ? ReactionParameters::of(CongestionControl::dcqcn_paper, line)
        : seed % 6 == 3 ? ReactionParameters::of(CongestionControl::dcqcn, line)
                        : ReactionParameters::of(CongestionControl::dcqcn_timer, line);
    parameters.clamp_target = seed % 3 == 2;
    if (seed % 5 == 0) parameters.gain = fraction_one / 16;
    if (seed % 7 == 0) parameters.min_rate = gigabits(3);
    if (parameters.byte_counter != 0 && seed % 2 == 0) parameters.byte_counter = 150'000;
    return parameters;
}

}  // namespace

TEST_GROUP(ReactionReference){};

// Against explicit timers, in bounds always, and the same for a caller that comes late.
TEST(ReactionReference, randomEventsAgreeWithExplicitTimersAndWithALateCaller) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const auto random = [&](std::uint64_t n, std::uint32_t what) { return draw({seed, what, 0, n}); };
        const ReactionParameters parameters = parameters_of(seed);
        ReactionPoint prompt(parameters);
        ReactionPoint late(parameters);
        Reference reference(parameters);
        const std::uint64_t scale = 1ULL << (18 + seed % 11);
        Time now = origin;
        for (std::uint64_t n = 0; n < 300; ++n) {
            now = now + Duration{static_cast<std::int64_t>(random(n, 1) % scale * (n % 40 == 0 ? 500 : 1))};
            for (auto next = prompt.next_timer(); next && *next <= now; next = prompt.next_timer())
                prompt.on_timer(*next);
            if (random(n, 2) % 4 == 0) {
                prompt.on_cnp(now);
                late.on_cnp(now);
                reference.cnp(now);
            } else {
                const auto bytes = static_cast<std::uint32_t>(random(n, 3) % 60'000);
                prompt.on_sent(bytes, now);
                late.on_sent(bytes, now);
                reference.sent(bytes, now);
            }
            CHECK_TRUE(prompt.rate() == late.rate() && prompt.target_rate() == late.target_rate());
            CHECK_TRUE(prompt.alpha(now) == late.alpha(now));
            CHECK_TRUE(prompt.next_timer() == late.next_timer());
            CHECK_TRUE(late.rate() >= parameters.min_rate && late.rate() <= late.target_rate());
            CHECK_TRUE(late.target_rate() <= line && late.alpha(now) <= fraction_one);
            DOUBLES_EQUAL(reference.rate, static_cast<double>(late.rate().bits_per_second), 64);
            DOUBLES_EQUAL(reference.target, static_cast<double>(late.target_rate().bits_per_second), 64);
            DOUBLES_EQUAL(reference.alpha,
                          static_cast<double>(late.alpha(now)) / static_cast<double>(fraction_one), 1e-9);
        }
    }
}

}  // namespace sluice::reaction_reference_test
