#include "lib/roce/messages.hh"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sluice::roce {
namespace {

__extension__ using Wide = unsigned __int128;
using Point = MessageSizes::Point;

// HPCC's repository (alibaba-edu/High-Precision-Congestion-Control), traffic_gen/, in percent there:
// WebSearch_distribution.txt; also HKUST-SING/TrafficGenerator, conf/DCTCP_CDF.txt.
constexpr std::array<Point, 12> web_search_points{{{0, 0},
                                                   {10'000, 1'500},
                                                   {20'000, 2'000},
                                                   {30'000, 3'000},
                                                   {50'000, 4'000},
                                                   {80'000, 5'300},
                                                   {200'000, 6'000},
                                                   {1'000'000, 7'000},
                                                   {2'000'000, 8'000},
                                                   {5'000'000, 9'000},
                                                   {10'000'000, 9'700},
                                                   {30'000'000, 10'000}}};

// FbHdp_distribution.txt
constexpr std::array<Point, 20> facebook_hadoop_points{
    {{0, 0},           {100, 100},       {200, 200},         {300, 500},         {350, 1'500},
     {400, 2'000},     {500, 3'000},     {600, 4'000},       {700, 5'000},       {1'000, 6'000},
     {2'000, 6'700},   {7'000, 7'000},   {30'000, 7'200},    {50'000, 8'200},    {80'000, 8'700},
     {120'000, 9'000}, {300'000, 9'500}, {1'000'000, 9'750}, {2'000'000, 9'900}, {10'000'000, 10'000}}};

// AliStorage2019.txt
constexpr std::array<Point, 9> alibaba_storage_points{{{0, 0},
                                                       {4'000, 2'293},
                                                       {8'000, 6'921},
                                                       {16'000, 8'061},
                                                       {32'000, 9'047},
                                                       {64'000, 9'353},
                                                       {128'000, 9'677},
                                                       {256'000, 9'753},
                                                       {2'000'000, 10'000}}};

constexpr std::uint64_t ln_2 = 0xB172'17F7'D1CF'79ABULL;  // ln 2 in parts of 2^64, rounded down

bool is_open_loop(ArrivalKind kind) { return kind == ArrivalKind::poisson || kind == ArrivalKind::on_off; }

}  // namespace

bool MessageSizes::valid(std::span<const Point> points) {
    if (points.size() < 2 || points.size() > max_points) return false;
    if (points.front().cumulative != 0 || points.back().cumulative != whole) return false;
    if (points.back().bytes > 1U << 31) return false;
    return std::ranges::adjacent_find(points, [](const Point& a, const Point& b) {
               return a.bytes >= b.bytes || a.cumulative > b.cumulative;
           }) == points.end();
}

MessageSizes::MessageSizes(std::span<const Point> points) : count_(points.size()) {
    assert(valid(points));
    std::ranges::copy(points, points_.begin());
}

MessageSizes MessageSizes::uniform(std::uint32_t min_bytes, std::uint32_t max_bytes) {
    assert(min_bytes > 0);
    return MessageSizes(std::array<Point, 2>{{{min_bytes - 1, 0}, {max_bytes, whole}}});
}
MessageSizes MessageSizes::web_search() { return MessageSizes(web_search_points); }
MessageSizes MessageSizes::facebook_hadoop() { return MessageSizes(facebook_hadoop_points); }
MessageSizes MessageSizes::alibaba_storage() { return MessageSizes(alibaba_storage_points); }

std::uint32_t MessageSizes::size(std::uint64_t drawn) const {
    const Wide place = static_cast<Wide>(drawn) * whole;  // parts of 2^64 of 1/10 000
    const auto share = static_cast<std::uint32_t>(place >> 64);
    const Point* upper = points_.data();
    while (upper->cumulative <= share) ++upper;
    const Point& lower = *(upper - 1);
    const Wide beyond = place - (static_cast<Wide>(lower.cumulative) << 64);
    const std::uint64_t width = upper->cumulative - lower.cumulative;
    const Wide step = (beyond >> 32) * (upper->bytes - lower.bytes) / width >> 32;
    return lower.bytes + 1 + static_cast<std::uint32_t>(step);
}

std::uint64_t MessageSizes::mean_millibytes() const {
    std::uint64_t sum = 0;  // of 2 x 10 000 means
    for (std::size_t n = 1; n < count_; ++n)
        sum += (points_[n].cumulative - points_[n - 1].cumulative) *
               (std::uint64_t{points_[n - 1].bytes} + points_[n].bytes + 1);
    return sum / (2 * whole / 1'000);
}

std::uint32_t MessageSizes::min_bytes() const {
    std::size_t n = 1;
    while (points_[n].cumulative == 0) ++n;
    return points_[n - 1].bytes + 1;
}

std::uint32_t MessageSizes::max_bytes() const {
    std::size_t n = count_ - 1;
    while (points_[n - 1].cumulative == whole) --n;
    return points_[n].bytes;
}

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
    if (parameters_->kind == ArrivalKind::on_off) {
        constexpr Wide longest = Wide{1} << 62;
        const Wide silent = static_cast<Wide>(open_for_.ps / parameters_->on.ps) *
                            static_cast<std::uint64_t>(parameters_->off.ps);
        return begin_ + open_for_ + Duration{static_cast<std::int64_t>(std::min(silent, longest))};
    }
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
