// Faults as decisions: exact, and a function of nothing but their key. And what misbehaving peers are made
// of: the slow receiver, the sender that overshoots.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "lib/peer/faults.hh"
#include "lib/peer/pause_sender.hh"
#include "lib/peer/slow_receiver.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::faults_test {
namespace {

constexpr Chance always{Chance::always};
constexpr Chance percent{Chance::always / 100};

FrameFaults dropping(std::uint64_t every, Chance odds) {
    FrameFaults faults;
    faults.drop_every = every;
    faults.drop_chance = odds;
    return faults;
}

struct Dice {
    std::uint64_t seed = 0;
    std::uint32_t port = 0;
    LinkWay way = LinkWay::received;
    FrameFate frame(const FrameFaults& faults, std::uint64_t number, std::uint32_t bytes = 60) const {
        return fate_of(rules_of(faults, way), seed, port, number, bytes);
    }
};

std::vector<std::uint64_t> dropped(const Dice& dice, const FrameFaults& faults, std::uint64_t frames) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t n = 1; n <= frames; ++n)
        if (dice.frame(faults, n).drop) numbers.push_back(n);
    return numbers;
}

using Frame = std::array<std::uint8_t, pfc_frame_bytes>;

Frame xoff(std::uint8_t mask, std::uint16_t quanta) {
    PauseMap map;
    map.class_enable = mask;
    map.quanta.fill(quanta);
    Frame frame;
    build_pfc_frame(frame, {}, map);
    return frame;
}

PauseMap pauses(std::uint8_t mask, std::uint16_t quanta) {
    PauseMap map;
    map.class_enable = mask;
    map.quanta.fill(quanta);
    return map;
}

Time at_ns(std::int64_t ns) { return Time{} + nanoseconds(ns); }

}  // namespace

TEST_GROUP(Faults){};

TEST(Faults, nothingIsWrongByDefault) {
    for (const LinkWay way : {LinkWay::received, LinkWay::sent, LinkWay::pfc})
        CHECK_TRUE(rules_of({}, way).empty());
    const FrameFate fate = Dice{1, 0}.frame({}, 1);
    CHECK_FALSE(fate.drop || fate.bad_fcs || fate.duplicate || fate.corrupt);
    CHECK_TRUE(fate.delay == Duration{});
    Frame frame = xoff(0x08, 5);
    const Frame before = frame;
    CHECK_FALSE(change_pfc({}, frame));
    CHECK_TRUE(frame == before);
    CHECK_TRUE(faults_against_lossless({}).empty());
}

TEST(Faults, everyNthIsExact) {
    CHECK_TRUE((dropped({1, 0}, dropping(3, {}), 10) == std::vector<std::uint64_t>{3, 6, 9}));
    CHECK_TRUE((dropped({1, 0}, dropping(1, {}), 3) == std::vector<std::uint64_t>{1, 2, 3}));
    CHECK_TRUE(dropped({1, 0}, dropping(11, {}), 10).empty());
}

TEST(Faults, chanceIsAsOftenAsItSays) {
    CHECK_EQUAL(1000u, dropped({1, 0}, dropping(0, always), 1000).size());
    const std::size_t some = dropped({1, 0}, dropping(0, percent), 1'000'000).size();
    CHECK_TRUE(some > 9'600 && some < 10'400);  // 4 standard deviations
    CHECK_TRUE(dropped({1, 0}, dropping(0, Chance{1}), 10'000).empty());
}

TEST(Faults, aDecisionDependsOnItsKeyOnly) {
    const auto of = [](std::uint64_t seed, std::uint32_t port) {
        return dropped({seed, port}, dropping(0, percent), 10'000);
    };
    CHECK_TRUE(of(1, 0) == of(1, 0));
    CHECK_FALSE(of(1, 0) == of(2, 0));
    CHECK_FALSE(of(1, 0) == of(1, 1));
}

TEST(Faults, questionsAreIndependent) {
    FrameFaults settings;
    settings.duplicate_chance = settings.corrupt_chance = Chance{Chance::always / 2};
    const Dice dice{1, 0};
    unsigned both = 0;
    for (std::uint64_t n = 1; n <= 10'000; ++n) {
        const FrameFate fate = dice.frame(settings, n);
        both += fate.duplicate && fate.corrupt;
    }
    CHECK_TRUE(both > 2'300 && both < 2'700);
}

TEST(Faults, oneBitBehindTheEthernetHeader) {
    std::array<std::uint8_t, 14> header{};
    CHECK_FALSE(corrupt_bit(header, 5));
    std::array<std::uint8_t, 16> frame{};
    std::set<std::array<std::uint8_t, 16>> seen;
    for (std::uint64_t random = 0; random < 64; ++random) {
        frame.fill(0);
        CHECK_TRUE(corrupt_bit(frame, random));
        unsigned bits = 0;
        for (unsigned i = 0; i < 16; ++i) bits += static_cast<unsigned>(__builtin_popcount(frame[i]));
        CHECK_EQUAL(1u, bits);
        CHECK_TRUE(
            std::all_of(frame.begin(), frame.begin() + 14, [](std::uint8_t byte) { return byte == 0; }));
        seen.insert(frame);
    }
    CHECK_EQUAL(16u, seen.size());
}

TEST(Faults, wrongClassVectorTakesTheTimeAlong) {
    FaultSettings settings;
    settings.pfc_class_vector = std::uint16_t{0x10};
    Frame frame = xoff(0x08, 777);
    CHECK_TRUE(change_pfc(settings, frame));
    const PauseMap map = decode_mac_control(frame, {}).map;
    CHECK_EQUAL(0x10, map.class_enable);
    CHECK_EQUAL(777, map.quanta[4]);
    settings.pfc_class_vector = std::uint16_t{0x08};
    frame = xoff(0x08, 777);
    CHECK_FALSE(change_pfc(settings, frame));
    settings.pfc_class_vector = std::uint16_t{0x0108};  // an upper byte that must be ignored
    CHECK_TRUE(change_pfc(settings, frame));
    CHECK_EQUAL(0x08, decode_mac_control(frame, {}).map.class_enable);
}

TEST(Faults, quantaOfEveryClass) {
    for (const std::uint16_t quanta : {0, 1, 65535}) {
        FaultSettings settings;
        settings.pfc_quanta = quanta;
        Frame frame = xoff(0x18, 5);
        CHECK_TRUE(change_pfc(settings, frame));
        const PauseMap map = decode_mac_control(frame, {}).map;
        CHECK_EQUAL(0x18, map.class_enable);
        CHECK_EQUAL(quanta, map.quanta[3]);
        CHECK_EQUAL(quanta, map.quanta[4]);
        CHECK_EQUAL(0, map.quanta[2]);
    }
}

TEST(Faults, whatBreaksThePromiseIsNamed) {
    FaultSettings harmless;
    harmless.received.drop_every = 2;
    harmless.received.corrupt_chance = harmless.pfc.duplicate_chance = always;
    harmless.storm_classes = harmless.stuck_xoff = 0xFF;
    harmless.slow_receiver = gigabits(1);
    harmless.pfc_quanta = std::uint16_t{65535};
    CHECK_TRUE(faults_against_lossless(harmless).empty());
    FaultSettings harmful;
    harmful.pfc_quanta = std::uint16_t{1};
    harmful.overshoot_bytes = 1;
    CHECK_TRUE(
        (faults_against_lossless(harmful) == std::vector<std::string_view>{"pfc_quanta", "overshoot"}));
}

TEST_GROUP(SlowReceiverTest) {
    SlowReceiver slow;
    std::uint64_t xon_bytes = 500;
    // 1 Gb/s: 8 ns a byte; 1000 bytes are full.
    void configure(std::optional<Rate> rate = gigabits(1), std::int64_t refresh_ns = 1'000'000) {
        slow.configure(rate, {1000, xon_bytes}, nanoseconds(refresh_ns), {});
    }
    void says(std::int64_t ns, bool off) {
        const auto due = slow.next();
        CHECK_TRUE(due.has_value());
        CHECK_EQUAL(static_cast<std::uint64_t>(ns) * 1000, due->ps);
        CHECK_FALSE(slow.take_due(*due - picoseconds(1)).has_value());
        const auto pause = slow.take_due(*due);
        CHECK_TRUE(pause.has_value());
        CHECK_TRUE(pause->at == *due);
        CHECK_EQUAL(off, pause->off);
    }
};

TEST(SlowReceiverTest, onesThatKeepUpAreSilent) {
    configure(std::nullopt);
    for (int i = 0; i < 100; ++i) slow.receive(at_ns(i), 1500);
    CHECK_FALSE(slow.next().has_value());
    configure();
    for (int i = 0; i < 100; ++i) slow.receive(at_ns(i * 4000), 500);  // as fast as it drains
    CHECK_FALSE(slow.next().has_value());
}

TEST(SlowReceiverTest, pausesWhenFullAndResumesAtHalf) {
    configure();
    slow.receive(at_ns(100), 1000);
    CHECK_FALSE(slow.next().has_value());  // full, not above
    slow.receive(at_ns(100), 1);
    says(100, true);
    says(100 + 501 * 8, false);
    CHECK_FALSE(slow.next().has_value());
}

TEST(SlowReceiverTest, resumesAtTheLevelThatIsSaid) {
    xon_bytes = 900;
    configure();
    slow.receive(at_ns(0), 1100);
    says(0, true);
    says(200 * 8, false);
}

TEST(SlowReceiverTest, moreThatArrivesPutsOffTheResumption) {
    configure();
    slow.receive(at_ns(0), 1100);
    says(0, true);
    slow.receive(at_ns(10), 400);
    says(1000 * 8, false);
}

TEST(SlowReceiverTest, repeatsItselfWhileItIsFull) {
    configure(gigabits(1), 3000);
    slow.receive(at_ns(0), 1500);
    says(0, true);
    says(3000, true);
    says(6000, true);
    says(8000, false);
}

TEST(SlowReceiverTest, oneThatRecoversTakesItsPauseBack) {
    configure();
    slow.receive(at_ns(0), 5000);
    says(0, true);
    slow.configure(std::nullopt, {1000, 500}, nanoseconds(1), at_ns(50));
    says(50, false);
    CHECK_FALSE(slow.next().has_value());
}

TEST_GROUP(Overshoot) {
    PauseSender sender{PeerDelay{}, gigabits(100)};  // our frames take effect at once
    void pause(std::int64_t ns, std::uint16_t quanta) {
        sender.receive(pauses(0x08, quanta), at_ns(ns));
        sender.advance(at_ns(ns));
    }
};

TEST(Overshoot, isOffByDefault) {
    pause(0, 1000);
    CHECK_FALSE(sender.may_start(3));
    CHECK_TRUE(sender.may_start(4));
}

TEST(Overshoot, framesStartUntilTheBytesAreUsed) {
    sender.set_overshoot(2000);
    CHECK_TRUE(sender.may_start(3));
    sender.started(3, 1500);  // not paused: no overshoot
    CHECK_EQUAL(0u, sender.overshot_bytes());
    pause(0, 1000);
    CHECK_TRUE(sender.may_start(3));
    sender.started(3, 1500);
    CHECK_TRUE(sender.may_start(3));
    sender.started(3, 1500);  // the frame that passes them finishes
    CHECK_FALSE(sender.may_start(3));
    CHECK_EQUAL(3000u, sender.overshot_bytes());
}

TEST(Overshoot, aRefreshAllowsNoMoreButANewPauseDoes) {
    sender.set_overshoot(100);
    pause(0, 1000);
    sender.started(3, 100);
    pause(1000, 1000);
    CHECK_FALSE(sender.may_start(3));
    pause(2000, 0);
    CHECK_TRUE(sender.may_start(3));
    pause(3000, 10);  // 51.2 ns
    CHECK_TRUE(sender.may_start(3));
    sender.started(3, 100);
    CHECK_FALSE(sender.may_start(3));
    pause(4000, 10);  // the one before has expired
    CHECK_TRUE(sender.may_start(3));
}

TEST(Faults, aBitErrorRateLosesLongFramesOftener) {
    constexpr std::uint64_t frames = 20'000;
    const auto bad = [&](double rate, LinkWay way, std::uint32_t bytes) {
        FrameFaults faults;
        faults.ber = rate;
        std::uint64_t count = 0;
        for (std::uint64_t n = 1; n <= frames; ++n) {
            const FrameFate fate = Dice{7, 2, way}.frame(faults, n, bytes);
            CHECK_FALSE(fate.drop || fate.duplicate || fate.corrupt);
            count += fate.bad_fcs ? 1 : 0;
        }
        return static_cast<double>(count) / frames;
    };
    // 1 - (1 - rate)^bits, of 64 bytes with the FCS and of 1504.
    DOUBLES_EQUAL(0.00511, bad(1e-5, LinkWay::received, 60), 0.0015);
    DOUBLES_EQUAL(0.11336, bad(1e-5, LinkWay::received, 1500), 0.007);
    DOUBLES_EQUAL(0.01196, bad(1e-6, LinkWay::sent, 1500), 0.0025);
    FaultSettings settings;
    settings.received.ber = settings.sent.ber = 1e-6;
    CHECK_TRUE(faults_against_lossless(settings) == std::vector<std::string_view>{"tx_ber"});
}

TEST(Faults, framesOfTheWaysAreDrawnApart) {
    const FrameFaults half = dropping(0, Chance{Chance::always / 2});
    using Pair = std::array<LinkWay, 2>;
    for (const auto& [one, other] :
         {Pair{LinkWay::received, LinkWay::sent}, Pair{LinkWay::sent, LinkWay::pfc}}) {
        unsigned different = 0;
        for (std::uint64_t n = 1; n <= 1000; ++n)
            different += Dice{1, 0, one}.frame(half, n).drop != Dice{1, 0, other}.frame(half, n).drop ? 1 : 0;
        CHECK_TRUE(different > 400 && different < 600);
    }
}

TEST(Faults, rulesOfAPortActTogetherUntilOneDropsTheFrame) {
    FrameFaults faults = dropping(2, {});
    faults.duplicate_chance = faults.corrupt_chance = always;
    faults.delay = microseconds(1);
    const FrameFate passes = Dice{1, 0}.frame(faults, 1), dropped = Dice{1, 0}.frame(faults, 2);
    CHECK_TRUE(passes.duplicate && passes.corrupt && passes.delay == microseconds(1) && !passes.drop);
    CHECK_TRUE(dropped.drop && !dropped.duplicate && !dropped.corrupt);
}

}  // namespace sluice::faults_test
