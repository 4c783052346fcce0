#include "lib/roce/arrivals.hh"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sluice::roce {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t ln_2 = 0xB172'17F7'D1CF'79ABULL;  // ln 2 in parts of 2^64, rounded down

bool is_open_loop(ArrivalKind kind) { return kind == ArrivalKind::poisson || kind == ArrivalKind::on_off; }

}  // namespace

// With x = 2^e m, m in [1, 2): squaring m doubles its logarithm, whose next bit is whether m reaches 2.
std::uint64_t exponential(std::uint64_t drawn) {
    if (drawn == ~std::uint64_t{0}) return 0;
    const std::uint64_t x = drawn + 1;
    const int exponent = 63 - std::countl_zero(x);
    std::uint64_t m = x << (63 - exponent);
    std::uint64_t log2 = static_cast<std::uint64_t>(exponent) << 32;
    for (unsigned bit = 32; bit-- != 0;) {
        const Wide square = static_cast<Wide>(m) * m;  // in [2^126, 2^128)
        const auto reaches_2 = static_cast<std::uint64_t>(square >> 127);
        m = static_cast<std::uint64_t>(square >> (63 + reaches_2));
        log2 |= reaches_2 << bit;
    }
    return static_cast<std::uint64_t>(static_cast<Wide>((64ULL << 32) - log2) * ln_2 >> 64);
}

Duration mean_gap(std::uint64_t mean_millibytes, Rate rate, std::uint32_t share_ppm) {
    const Wide parts = static_cast<Wide>(mean_millibytes) * 8 * 1'000'000'000 * 1'000'000;  // bits x ps x ppm
    const Wide gap = parts / (static_cast<Wide>(rate.bits_per_second) * share_ppm);
    return {static_cast<std::int64_t>(std::min<Wide>(gap, static_cast<std::uint64_t>(seconds(1'000).ps)))};
}

Arrivals::Arrivals(const ArrivalParameters& parameters, MessageDraws draws)
    : parameters_(&parameters), draws_(draws), room_(parameters.depth) {
    assert(parameters.spread.ps >= 0);
    assert(!is_open_loop(parameters.kind) || parameters.mean_gap.ps > 0);
    assert(parameters.kind != ArrivalKind::on_off || (parameters.on.ps > 0 && parameters.off.ps >= 0));
    const Wide phase =
        static_cast<Wide>(draws_(MessageDraw::phase, 0)) * static_cast<std::uint64_t>(parameters.spread.ps);
    begin_ = freed_ = parameters.start + Duration{static_cast<std::int64_t>(phase >> 64)};
    if (is_open_loop(parameters.kind)) draw_gap();
}

std::optional<Time> Arrivals::next() const {
    if (parameters_->kind == ArrivalKind::poisson) return begin_ + open_for_;
    if (parameters_->kind == ArrivalKind::on_off)
        return begin_ + open_for_ + parameters_->off * (open_for_.ps / parameters_->on.ps);
    return room_ != 0 ? std::optional(freed_) : std::nullopt;
}

void Arrivals::begin_message() {
    ++message_;
    if (is_open_loop(parameters_->kind))
        draw_gap();
    else
        --room_;
}

void Arrivals::completed(Time now) {
    if (parameters_->kind != ArrivalKind::closed_loop) return;
    ++room_;
    freed_ = now;
}

void Arrivals::draw_gap() {
    const std::uint64_t drawn = exponential(draws_(MessageDraw::gap, message_));
    const auto mean = static_cast<std::uint64_t>(parameters_->mean_gap.ps);
    open_for_.ps += static_cast<std::int64_t>(static_cast<Wide>(drawn) * mean >> 32);
}

}  // namespace sluice::roce
