#include "lib/roce/dcqcn.hh"

#include <cmath>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::reaction_point_test {
namespace {

using namespace sluice::roce;

constexpr Time origin{~std::uint64_t{0} - 20'000'000};  // Time wraps 20 us into every test
constexpr Rate line = gigabits(40);
using Phase = ReactionPoint::Phase;

const ReactionParameters& paper() {
    static const ReactionParameters parameters = ReactionParameters::of(CongestionControl::dcqcn_paper, line);
    return parameters;
}
const ReactionParameters& nic() {
    static const ReactionParameters parameters = ReactionParameters::of(CongestionControl::dcqcn_timer, line);
    return parameters;
}
const ReactionParameters& clamping_nic() {
    static const ReactionParameters parameters = [] {
        ReactionParameters clamping = ReactionParameters::of(CongestionControl::dcqcn_timer, line);
        clamping.clamp_target = true;
        return clamping;
    }();
    return parameters;
}

Time us(std::int64_t n) { return origin + microseconds(n); }

// Rate and target in bits/s.
void check_rates(const ReactionPoint& point, std::uint64_t rate, std::uint64_t target) {
    UNSIGNED_LONGS_EQUAL(rate, point.rate().bits_per_second);
    UNSIGNED_LONGS_EQUAL(target, point.target_rate().bits_per_second);
}

// Two CNPs at once: 10 Gb/s, and 20 to recover to.
ReactionPoint cut_twice() {
    ReactionPoint point(paper());
    point.on_cnp(us(0));
    point.on_cnp(us(0));
    return point;
}

// The rest after a cut by alpha: rounded up.
std::uint64_t cut(std::uint64_t rate, long double alpha) {
    const auto part = static_cast<std::uint64_t>(static_cast<long double>(rate) * alpha);
    return rate - part / 2;
}

void check_phase(Phase expected, const ReactionPoint& point) { CHECK_TRUE(point.phase() == expected); }

}  // namespace

TEST_GROUP(ReactionPoint){};

TEST(ReactionPoint, refusesParametersThatWouldStallOrLeaveTheBounds) {
    CHECK_TRUE(paper().valid());
    CHECK_TRUE(nic().valid());
    CHECK_TRUE(ReactionParameters::of(CongestionControl::none, line).valid());
    const auto refuses = [](auto change) {
        ReactionParameters parameters = nic();
        change(parameters);
        return !parameters.valid();
    };
    CHECK_TRUE(refuses([](auto& p) { p.min_rate = {0}; }));            // would never send again
    CHECK_TRUE(refuses([](auto& p) { p.min_rate = gigabits(41); }));   // above the line
    CHECK_TRUE(refuses([](auto& p) { p.line_rate = {1ULL << 41}; }));  // sums would leave 64 bits
    CHECK_TRUE(refuses([](auto& p) { p.additive = {1ULL << 41}; }));
    CHECK_TRUE(refuses([](auto& p) { p.hyper = {1ULL << 41}; }));
    CHECK_TRUE(refuses([](auto& p) { p.gain = fraction_one + 1; }));  // alpha would turn negative
    CHECK_TRUE(refuses([](auto& p) { p.first_alpha = fraction_one + 1; }));
    CHECK_TRUE(refuses([](auto& p) { p.alpha_period = {}; }));  // a timer without end
    CHECK_TRUE(refuses([](auto& p) { p.increase_period = {}; }));
    CHECK_TRUE(refuses([](auto& p) { p.decrease_period = {}; }));
}

TEST(ReactionPoint, withoutCongestionControlNothingHappens) {
    const ReactionParameters none = ReactionParameters::of(CongestionControl::none, line);
    ReactionPoint point(none);
    for (int n = 0; n < 10; ++n) {
        point.on_cnp(us(n));
        point.on_sent(1U << 30, us(n));
        point.on_timer(us(n));
        CHECK_FALSE(point.next_timer().has_value());
    }
    check_rates(point, 40'000'000'000, 40'000'000'000);
}

TEST(ReactionPoint, atLineRateNothingIsArmed) {
    for (const ReactionParameters* parameters : {&paper(), &nic()}) {
        ReactionPoint point(*parameters);
        for (int n = 0; n < 100; ++n) point.on_sent(1'000'000'000, us(n));
        point.on_timer(us(1'000'000));
        CHECK_FALSE(point.next_timer().has_value());
        check_rates(point, 40'000'000'000, 40'000'000'000);
        check_phase(Phase::line_rate, point);
    }
}

TEST(ReactionPoint, theFirstCnpHalves) {
    ReactionPoint point(paper());
    point.on_cnp(us(1'000));
    check_rates(point, 20'000'000'000, 40'000'000'000);
    CHECK_TRUE(point.alpha(us(1'000)) == fraction_one);
    CHECK_TRUE(point.next_timer() == us(1'055));
    check_phase(Phase::fast_recovery, point);
}

TEST(ReactionPoint, alphaDecaysEachPeriodWithoutACnp) {
    ReactionPoint point(paper());
    CHECK_TRUE(point.alpha(us(10'000)) == fraction_one);  // not before the first CNP
    point.on_cnp(us(0));
    CHECK_TRUE(point.alpha(us(55) - Duration{1}) == fraction_one);
    CHECK_TRUE(point.alpha(us(55)) == fraction_one / 256 * 255);
    CHECK_TRUE(point.alpha(us(110)) == fraction_one / 65'536 * 65'025);
    DOUBLES_EQUAL(std::pow(255.0 / 256, 1'000),
                  static_cast<double>(point.alpha(us(55'000))) / static_cast<double>(fraction_one), 1e-12);
    CHECK_TRUE(point.alpha(us(0) + seconds(100)) == 0);
    // Two increases came first: 30, 35 Gb/s. The cut is by the alpha before the CNP, which then raises it.
    point.on_cnp(us(110));
    check_rates(point, 17'636'451'722, 35'000'000'000);
    const std::uint64_t decayed = fraction_one / 65'536 * 65'025;
    CHECK_TRUE(point.alpha(us(110)) == decayed + (fraction_one - decayed) / 256);
    CHECK_TRUE(point.alpha(us(164)) == point.alpha(us(110)));  // its period began anew
}

TEST(ReactionPoint, fiveStagesOfFastRecoveryThenAdditiveIncreaseByTimer) {
    ReactionPoint point = cut_twice();
    check_rates(point, 10'000'000'000, 20'000'000'000);
    const std::vector<std::uint64_t> fast{15'000'000'000, 17'500'000'000, 18'750'000'000, 19'375'000'000,
                                          19'687'500'000};
    int ticks = 0;
    for (const std::uint64_t rate : fast) {
        point.on_timer(us(55 * ++ticks) - Duration{1});
        point.on_timer(us(55 * ticks));
        check_rates(point, rate, 20'000'000'000);
        check_phase(Phase::fast_recovery, point);
    }
    point.on_timer(us(55 * 6));
    check_rates(point, 19'863'750'000, 20'040'000'000);
    check_phase(Phase::additive, point);
    point.on_timer(us(55 * 7));
    check_rates(point, 19'971'875'000, 20'080'000'000);
    check_phase(Phase::additive, point);  // the byte counter has not come so far
}

TEST(ReactionPoint, theByteCounterIncreasesAlike) {
    ReactionPoint point = cut_twice();
    point.on_sent(9'999'999, us(1));
    check_rates(point, 10'000'000'000, 20'000'000'000);
    point.on_sent(2, us(2));  // one byte is left over
    check_rates(point, 15'000'000'000, 20'000'000'000);
    point.on_sent(9'999'999, us(3));
    check_rates(point, 17'500'000'000, 20'000'000'000);
    point.on_sent(30'000'000, us(4));
    check_rates(point, 19'687'500'000, 20'000'000'000);
    point.on_sent(10'000'000, us(5));
    check_rates(point, 19'863'750'000, 20'040'000'000);
    check_phase(Phase::additive, point);
    CHECK_TRUE(point.next_timer() == us(55));  // which goes its own way
}

TEST(ReactionPoint, bothCountersBeyondFIsHyperIncrease) {
    ReactionPoint point = cut_twice();
    point.on_timer(us(330));
    check_rates(point, 19'863'750'000, 20'040'000'000);
    for (int n = 0; n < 5; ++n) point.on_sent(10'000'000, us(331));
    UNSIGNED_LONGS_EQUAL(20'240'000'000, point.target_rate().bits_per_second);
    check_phase(Phase::additive, point);
    const std::uint64_t before = point.rate().bits_per_second;
    point.on_sent(10'000'000, us(332));
    check_rates(point, (before + 20'440'000'000 + 1) / 2, 20'440'000'000);
    check_phase(Phase::hyper, point);
    point.on_timer(us(385));
    UNSIGNED_LONGS_EQUAL(20'640'000'000, point.target_rate().bits_per_second);
}

TEST(ReactionPoint, aCnpStartsBothCountersAndTheTimerAnew) {
    ReactionPoint point = cut_twice();
    point.on_timer(us(330));
    for (int n = 0; n < 6; ++n) point.on_sent(10'000'000, us(331));
    point.on_sent(9'000'000, us(332));
    check_phase(Phase::hyper, point);
    point.on_cnp(us(384));
    check_phase(Phase::fast_recovery, point);
    CHECK_TRUE(point.next_timer() == us(439));
    const std::uint64_t rate = point.rate().bits_per_second;
    point.on_sent(9'000'000, us(385));
    UNSIGNED_LONGS_EQUAL(rate, point.rate().bits_per_second);
    point.on_timer(us(439) - Duration{1});
    UNSIGNED_LONGS_EQUAL(rate, point.rate().bits_per_second);
}

TEST(ReactionPoint, aTimerThatIsDueWithACnpComesFirst) {
    ReactionPoint point = cut_twice();
    point.on_cnp(us(55));
    UNSIGNED_LONGS_EQUAL(15'000'000'000, point.target_rate().bits_per_second);
}

TEST(ReactionPoint, fallsToTheLeastRateAndComesBackToRest) {
    for (const ReactionParameters* parameters : {&paper(), &nic(), &clamping_nic()}) {
        ReactionPoint point(*parameters);
        std::int64_t now = 0;
        for (int n = 0; n < 10'000; ++n) point.on_cnp(us(now += 4));
        UNSIGNED_LONGS_EQUAL(100'000'000, point.rate().bits_per_second);
        unsigned ticks = 0;
        while (const auto next = point.next_timer()) {
            point.on_timer(*next);
            CHECK_TRUE(point.rate() <= point.target_rate() && point.target_rate() <= line);
            CHECK_TRUE(++ticks < 2'000);
        }
        check_rates(point, 40'000'000'000, 40'000'000'000);
        check_phase(Phase::line_rate, point);
    }
}

TEST(ReactionPoint, nicDefaultsAreProportionalToTheLine) {
    const ReactionParameters at_25g = ReactionParameters::of(CongestionControl::dcqcn_timer, gigabits(25));
    UNSIGNED_LONGS_EQUAL(5'000'000, at_25g.additive.bits_per_second);
    UNSIGNED_LONGS_EQUAL(50'000'000, at_25g.hyper.bits_per_second);
    UNSIGNED_LONGS_EQUAL(
        20'000'000,
        ReactionParameters::of(CongestionControl::dcqcn_timer, gigabits(100)).additive.bits_per_second);
}

TEST(ReactionPoint, defaultsAreThePapersAt40GAndProportionalToTheLine) {
    using enum CongestionControl;
    ReactionParameters at_40g = ReactionParameters::of(dcqcn, gigabits(40));
    CHECK_TRUE(at_40g.kind == dcqcn);
    at_40g.kind = dcqcn_paper;
    CHECK_TRUE(at_40g == ReactionParameters::of(dcqcn_paper, gigabits(40)));
    const ReactionParameters at_400g = ReactionParameters::of(dcqcn, gigabits(400));
    UNSIGNED_LONGS_EQUAL(400'000'000, at_400g.additive.bits_per_second);
    UNSIGNED_LONGS_EQUAL(2'000'000'000, at_400g.hyper.bits_per_second);
    UNSIGNED_LONGS_EQUAL(1'000'000'000, at_400g.min_rate.bits_per_second);
    UNSIGNED_LONGS_EQUAL(100'000'000, at_400g.byte_counter);
    CHECK_TRUE(at_400g.increase_period == at_40g.increase_period);
    const ReactionParameters paper_at_400g = ReactionParameters::of(dcqcn_paper, gigabits(400));
    UNSIGNED_LONGS_EQUAL(40'000'000, paper_at_400g.additive.bits_per_second);
    UNSIGNED_LONGS_EQUAL(100'000'000, paper_at_400g.min_rate.bits_per_second);
    UNSIGNED_LONGS_EQUAL(1'000'000'000,
                         ReactionParameters::of(dcqcn_timer, gigabits(400)).min_rate.bits_per_second);
    for (const std::uint64_t speed : {1U, 25U, 800U})
        CHECK_TRUE(ReactionParameters::of(dcqcn, gigabits(speed)).valid());
}

TEST(ReactionPoint, theSlowestLineHasALeastRateAndAByteCounter) {
    const ReactionParameters slow = ReactionParameters::of(CongestionControl::dcqcn, {100});
    CHECK_TRUE(slow.valid());
    UNSIGNED_LONGS_EQUAL(1, slow.byte_counter);
}

TEST(ReactionPoint, theTimeSinceACutIsKnownWhateverHasComeBetween) {
    ReactionPoint point(paper());
    CHECK_TRUE(point.at_line());
    point.on_cnp(us(7));
    CHECK_FALSE(point.at_line());
    for (const int at : {7, 50, 62, 63, 200}) {
        point.on_timer(us(at));
        CHECK_TRUE(point.since_cut(us(at)) == microseconds(at - 7));
    }
    point.on_cnp(us(201));
    CHECK_TRUE(point.since_cut(us(230)) == microseconds(29));
}

TEST(ReactionPoint, aNicCutsAtATickAndKeepsItsTarget) {
    ReactionPoint point(nic());
    point.on_cnp(us(0));
    CHECK_TRUE(point.alpha(us(0)) == fraction_one);
    check_rates(point, 40'000'000'000, 40'000'000'000);
    CHECK_TRUE(point.next_timer() == us(4));
    point.on_timer(us(4));  // after four alpha ticks: (255/256)^4
    const std::uint64_t first = cut(40'000'000'000, 4'228'250'625.0L / 4'294'967'296.0L);
    check_rates(point, first, 40'000'000'000);
    CHECK_TRUE(point.next_timer() == us(304));  // no CNP since: no further cut
    point.on_cnp(us(5) + nanoseconds(500));
    CHECK_TRUE(point.next_timer() == us(8));
    point.on_timer(us(8));
    UNSIGNED_LONGS_EQUAL(40'000'000'000, point.target_rate().bits_per_second);
    // Tick 5 lowers alpha, tick 6 sees the CNP and raises it, 7 and 8 lower it.
    long double alpha = std::pow(255.0L / 256, 5.0L);
    alpha = (alpha * 255 + 1) / 256;
    alpha *= 255.0L / 256 * 255 / 256;
    const std::uint64_t second = cut(first, alpha);
    CHECK_TRUE(point.rate().bits_per_second - second + 1 <= 2);  // rounding
    CHECK_TRUE(point.next_timer() == us(308));                   // from the last cut
}

TEST(ReactionPoint, aNicCutsOncePerTickHoweverManyCnps) {
    ReactionPoint point(nic());
    for (int n = 0; n < 1'000; ++n) point.on_cnp(us(0) + nanoseconds(3 * n));
    point.on_timer(us(4));
    CHECK_TRUE(point.rate() > gigabits(20) && point.rate() < gigabits(21));
    CHECK_TRUE(point.next_timer() == us(304));
    // A CNP at a tick counts for the next; the grid is the first CNP's.
    point.on_cnp(us(40));
    CHECK_TRUE(point.next_timer() == us(44));
}

TEST(ReactionPoint, aNicThatClampsLowersItsTargetWithEachCut) {
    ReactionPoint point(clamping_nic());
    point.on_cnp(us(0));
    point.on_cnp(us(5));
    point.on_timer(us(4));
    const std::uint64_t between = point.rate().bits_per_second;
    point.on_timer(us(8));
    UNSIGNED_LONGS_EQUAL(between, point.target_rate().bits_per_second);
    CHECK_TRUE(point.rate().bits_per_second < between * 53 / 100);
}

TEST(ReactionPoint, aNicLowersItsTargetOnceAnIncreaseCameBetween) {
    ReactionPoint point(nic());
    point.on_cnp(us(0));
    point.on_timer(us(304));
    const std::uint64_t recovered = point.rate().bits_per_second;
    UNSIGNED_LONGS_EQUAL(40'000'000'000, point.target_rate().bits_per_second);
    point.on_cnp(us(305));
    point.on_timer(us(308));
    UNSIGNED_LONGS_EQUAL(recovered, point.target_rate().bits_per_second);
}

TEST(ReactionPoint, bytesBetweenTwoCutsLowerANicsTargetToo) {
    ReactionParameters counting = nic();
    counting.byte_counter = 1000;
    ReactionPoint point(counting);
    point.on_cnp(us(0));
    point.on_timer(us(4));
    point.on_sent(1000, us(5));
    const std::uint64_t recovered = point.rate().bits_per_second;
    CHECK_TRUE(recovered < point.target_rate().bits_per_second);
    point.on_cnp(us(6));
    point.on_timer(us(8));
    UNSIGNED_LONGS_EQUAL(recovered, point.target_rate().bits_per_second);
}

TEST(ReactionPoint, aNicRecoversOnceThenAddsOnceThenHyperIncreases) {
    ReactionPoint point(clamping_nic());
    point.on_cnp(us(0));
    point.on_cnp(us(5));
    point.on_timer(us(8));
    const std::uint64_t low = point.rate().bits_per_second;
    const std::uint64_t target = point.target_rate().bits_per_second;
    point.on_timer(us(308) - Duration{1});
    check_rates(point, low, target);
    point.on_timer(us(308));
    const std::uint64_t fast = (low + target + 1) / 2;
    check_rates(point, fast, target);
    check_phase(Phase::fast_recovery, point);
    point.on_sent(4'000'000'000, us(309));  // no byte counter
    check_rates(point, fast, target);
    point.on_timer(us(608));
    const std::uint64_t added = (fast + target + 8'000'000 + 1) / 2;
    check_rates(point, added, target + 8'000'000);
    check_phase(Phase::additive, point);
    point.on_timer(us(908));
    check_rates(point, (added + target + 88'000'000 + 1) / 2, target + 88'000'000);
    check_phase(Phase::hyper, point);
}

TEST(ReactionPoint, aNicsIncreaseComesBeforeACutAtTheSameTick) {
    ReactionPoint point(nic());
    point.on_cnp(us(0));
    point.on_timer(us(4));
    point.on_cnp(us(303));  // the cut is due at 304, as the increase is
    const std::uint64_t low = point.rate().bits_per_second;
    point.on_timer(us(304));
    UNSIGNED_LONGS_EQUAL((low + 40'000'000'000 + 1) / 2, point.target_rate().bits_per_second);
}

// Every phase of both kinds, by every event: where it leads, and whether a timer is armed.
TEST(ReactionPoint, everyPhaseByEveryEvent) {
    struct Case {
        const ReactionParameters* parameters;
        unsigned ticks;      // of the increase timer after a deep cut
        unsigned megabytes;  // sent then
        Phase phase;
    };
    for (const Case& each :
         {Case{&paper(), 0, 0, Phase::fast_recovery}, Case{&paper(), 5, 50, Phase::fast_recovery},
          Case{&paper(), 6, 0, Phase::additive}, Case{&paper(), 0, 60, Phase::additive},
          Case{&paper(), 6, 60, Phase::hyper}, Case{&paper(), 20'000, 0, Phase::line_rate},
          Case{&clamping_nic(), 0, 0, Phase::fast_recovery},
          Case{&clamping_nic(), 1, 0, Phase::fast_recovery}, Case{&clamping_nic(), 2, 0, Phase::additive},
          Case{&clamping_nic(), 3, 0, Phase::hyper}, Case{&clamping_nic(), 3'000, 0, Phase::line_rate}}) {
        ReactionPoint point(*each.parameters);
        for (int n = 0; n < 5; ++n) point.on_cnp(us(4 * n));
        point.on_timer(us(20));
        const bool cuts_at_once = each.parameters->kind != CongestionControl::dcqcn_timer;
        const Time last_cut = us(cuts_at_once ? 16 : 20);
        const Time now = max(us(20), last_cut + each.parameters->increase_period * each.ticks);
        point.on_timer(now);
        for (unsigned n = 0; n < each.megabytes; n += 10) point.on_sent(10'000'000, now);
        check_phase(each.phase, point);
        const bool at_line = each.phase == Phase::line_rate;
        CHECK_TRUE(point.next_timer().has_value() == !at_line);
        CHECK_TRUE((point.rate() == line) == at_line);

        ReactionPoint after = point;
        after.on_cnp(now);
        CHECK_TRUE((after.rate() < point.rate()) == (cuts_at_once && !at_line));  // at line alpha is 0 by now
        CHECK_TRUE(after.next_timer().has_value() == (!cuts_at_once || !at_line));

        after = point;
        after.on_sent(10'000'000, now);
        CHECK_TRUE((after.rate() > point.rate()) == (cuts_at_once && !at_line));

        after = point;
        after.on_timer(now + Duration{1});  // nothing due
        CHECK_TRUE(after.rate() == point.rate());
        CHECK_TRUE(after.next_timer() == point.next_timer());

        if (at_line) continue;
        after.on_timer(*point.next_timer());
        CHECK_TRUE(after.rate() > point.rate());
        CHECK_TRUE(after.next_timer() == *point.next_timer() + each.parameters->increase_period);
    }
}

}  // namespace sluice::reaction_point_test
