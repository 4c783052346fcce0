#include "lib/roce/dcqcn.hh"

#include <algorithm>
#include <cassert>

namespace sluice::roce {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t fraction) {
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * fraction >> 60);
}

// (1 - gain)^ticks, by repeated squaring.
std::uint64_t decay(std::uint64_t gain, std::uint64_t ticks) {
    std::uint64_t result = fraction_one;
    for (std::uint64_t factor = fraction_one - gain; ticks != 0 && result != 0; ticks >>= 1) {
        if ((ticks & 1U) != 0) result = multiply(result, factor);
        factor = multiply(factor, factor);
    }
    return result;
}

std::uint64_t toward_one(std::uint64_t alpha, std::uint64_t gain) {
    return alpha + multiply(fraction_one - alpha, gain);
}

// Unsigned: right for 213 days, and a span in any case.
std::uint64_t whole_periods(Time from, Time to, Duration period) {
    return (to.ps - from.ps) / static_cast<std::uint64_t>(period.ps);
}

Time after_periods(Time from, std::uint64_t count, Duration period) {
    return {from.ps + count * static_cast<std::uint64_t>(period.ps)};
}

}  // namespace

ReactionParameters ReactionParameters::of(CongestionControl kind, Rate line) {
    const std::uint64_t bits = line.bits_per_second;
    ReactionParameters made;
    made.kind = kind;
    made.line_rate = made.min_rate = line;
    // The paper's 100 Mb/s at 40 Gb/s.
    const Rate lowest{std::max<std::uint64_t>(bits / 400, 1)};
    switch (kind) {
        case CongestionControl::none:
            break;
        case CongestionControl::dcqcn_paper:
            made.min_rate = {std::min<std::uint64_t>(100'000'000, bits)};
            made.additive = {40'000'000};
            made.hyper = {200'000'000};  // the authors' ns-3 model's
            made.byte_counter = 10'000'000;
            break;
        case CongestionControl::dcqcn:  // as the paper's at 40 Gb/s
            made.min_rate = lowest;
            made.additive = {bits / 1'000};
            made.hyper = {bits / 200};
            made.byte_counter = std::max<std::uint64_t>(bits / 4'000, 1);
            break;
        case CongestionControl::dcqcn_timer:
            made.min_rate = lowest;
            made.additive = {bits / 5'000};  // 5 Mb/s at 25 Gb/s
            made.hyper = {bits / 500};
            made.alpha_period = microseconds(1);
            made.increase_period = microseconds(300);
            made.decrease_period = microseconds(4);
            made.fast_recovery = 1;
    }
    return made;
}

bool ReactionParameters::valid() const {
    constexpr std::uint64_t most = 1ULL << 40;
    return line_rate.bits_per_second <= most && min_rate <= line_rate && min_rate.bits_per_second != 0 &&
           additive.bits_per_second <= most && hyper.bits_per_second <= most && gain <= fraction_one &&
           first_alpha <= fraction_one && alpha_period.ps > 0 && increase_period.ps > 0 &&
           (kind != CongestionControl::dcqcn_timer || decrease_period.ps > 0);
}

ReactionPoint::ReactionPoint(const ReactionParameters& parameters)
    : parameters_(&parameters), rate_(line()), target_(line()), alpha_(parameters.first_alpha) {
    assert(parameters.valid());
}

inline ReactionPoint::Phase ReactionPoint::iteration() const {
    const std::uint32_t most = std::max(timer_count_, byte_count_);
    if (most <= parameters_->fast_recovery) return Phase::fast_recovery;
    // Without a byte counter one additive step comes before hyper increase.
    const std::uint32_t least =
        parameters_->byte_counter != 0 ? std::min(timer_count_, byte_count_) : timer_count_ - 1;
    return least > parameters_->fast_recovery ? Phase::hyper : Phase::additive;
}

ReactionPoint::Phase ReactionPoint::phase() const { return at_line() ? Phase::line_rate : iteration(); }

// An iteration has just been counted.
inline void ReactionPoint::increase() {
    if (const Phase now = iteration(); now != Phase::fast_recovery) {
        const Rate step = now == Phase::hyper ? parameters_->hyper : parameters_->additive;
        target_ = std::min(target_ + step.bits_per_second, line());
    }
    rate_ = (rate_ + target_ + 1) / 2;
}

void ReactionPoint::on_cnp(Time now) {
    if (parameters_->kind == CongestionControl::none) return;
    on_timer(now);
    if (!seen_cnp_) alpha_at_ = decrease_at_ = now;
    catch_up_alpha(now);
    if (parameters_->kind != CongestionControl::dcqcn_timer) {
        target_ = rate_;
        decrease(now);
        alpha_ = toward_one(alpha_, parameters_->gain);
        alpha_at_ = now;
    } else {
        cnp_since_alpha_ = seen_cnp_;  // the first one only sets alpha
        if (!decrease_due_) await_decrease(now);
    }
    seen_cnp_ = true;
}

void ReactionPoint::on_sent(std::uint32_t wire_bytes, Time now) {
    on_timer(now);
    if (at_line() || parameters_->byte_counter == 0) return;
    for (bytes_ += wire_bytes; bytes_ >= parameters_->byte_counter; bytes_ -= parameters_->byte_counter) {
        ++byte_count_;
        increase();
    }
}

// An increase comes before a cut at the same tick: its timer was started before (ns-3).
void ReactionPoint::on_timer(Time now) {
    for (auto next = next_timer(); next && *next <= now; next = next_timer()) {
        if (!at_line() && increase_at_ == *next) {
            increase_at_ = *next + parameters_->increase_period;
            ++timer_count_;
            increase();
        } else {
            decrease_due_ = false;
            catch_up_alpha(*next);
            if (parameters_->clamp_target || timer_count_ + byte_count_ != 0) target_ = rate_;
            decrease(*next);
        }
    }
}

std::uint64_t ReactionPoint::alpha(Time now) const {
    ReactionPoint then = at(now);
    if (then.seen_cnp_) then.catch_up_alpha(now);
    return then.alpha_;
}

void ReactionPoint::catch_up_alpha(Time now) {
    std::uint64_t ticks = whole_periods(alpha_at_, now, parameters_->alpha_period);
    if (ticks == 0) return;
    alpha_at_ = after_periods(alpha_at_, ticks, parameters_->alpha_period);
    if (cnp_since_alpha_) {
        alpha_ = toward_one(alpha_, parameters_->gain);
        cnp_since_alpha_ = false;
        --ticks;
    }
    alpha_ = multiply(alpha_, decay(parameters_->gain, ticks));
}

void ReactionPoint::await_decrease(Time now) {
    const Duration period = parameters_->decrease_period;
    decrease_at_ = after_periods(decrease_at_, whole_periods(decrease_at_, now, period) + 1, period);
    decrease_due_ = true;
}

void ReactionPoint::decrease(Time now) {
    rate_ = std::max(rate_ - (multiply(rate_, alpha_) >> 1), parameters_->min_rate.bits_per_second);
    timer_count_ = byte_count_ = 0;
    bytes_ = 0;
    increase_at_ = now + parameters_->increase_period;
}

}  // namespace sluice::roce
