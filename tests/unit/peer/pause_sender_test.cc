#include "lib/peer/pause_sender.hh"

#include "tests/unit/pauses.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pause_sender_test {
namespace {

using Step = PauseSender::Step;

constexpr ClassId lossless = 3;
constexpr std::uint32_t frame = 1250;  // 100 ns at 100G

constexpr Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

}  // namespace

// 100G: a byte takes 80 ps, a quantum 5.12 ns. The cable takes 10 ns, the reaction 30: what is said at t
// holds from t + 50 until t + 20 + quanta.
TEST_GROUP(PauseSenderTest) {
    PauseSender sender{{nanoseconds(10), nanoseconds(30)}, gigabits(100)};

    void takes(Step wanted, std::int64_t now_ns, std::optional<std::int64_t> start_ns) {
        const auto start = start_ns ? std::optional(at(*start_ns)) : std::nullopt;
        CHECK(wanted == sender.step(at(now_ns), start));
    }
    void says(std::int64_t ns, std::uint16_t quanta) { sender.receive(pauses(0x08, quanta), at(ns)); }
    void free_at(std::int64_t ns) { CHECK(at(ns) == sender.free_at()); }
};

TEST(PauseSenderTest, startsNothingThatIsNotDue) {
    takes(Step::none, 5, std::nullopt);
    takes(Step::none, 5, 6);
    free_at(0);
    takes(Step::frame, 5, 5);
}

TEST(PauseSenderTest, sendsOneFrameAfterTheOther) {
    takes(Step::frame, 5, 5);
    sender.started(lossless, frame);
    free_at(105);
    CHECK(at(105) == sender.earliest_start(0));
    takes(Step::frame, 300, 105);
    sender.started(PauseSender::no_class, frame);
    free_at(205);
}

TEST(PauseSenderTest, hearsAPauseBeforeTheFrameThatItForbids) {
    says(0, 100);  // until 532
    CHECK(at(40) == sender.next_step(at(40)));
    CHECK(at(50) == sender.next_step(at(60)));
    takes(Step::frame, 40, 40);  // it has not heard yet
    sender.started(lossless, frame);
    takes(Step::heard, 200, 140);
    free_at(140);
    CHECK(at(532) == sender.earliest_start(lossless));
    CHECK(at(140) == sender.earliest_start(0));
    CHECK(at(140) == sender.earliest_start(PauseSender::no_class));
    takes(Step::none, 200, 532);
    takes(Step::frame, 532, 532);
    CHECK(sender.may_start(lossless));
}

TEST(PauseSenderTest, hearsWhatTakesEffectAtTheStartOfAFrame) {
    says(0, 100);
    takes(Step::heard, 50, 50);
    takes(Step::none, 50, 532);
}

TEST(PauseSenderTest, hearsWithoutAFrameToSendAndItsClockGoesOn) {
    says(0, 100);
    says(10, 0);
    takes(Step::none, 49, std::nullopt);
    takes(Step::heard, 60, std::nullopt);
    free_at(50);
    CHECK(at(60) == *sender.next_change());
    takes(Step::heard, 60, std::nullopt);
    free_at(60);
    CHECK(at(60) == sender.earliest_start(lossless));
    takes(Step::none, 60, std::nullopt);
    CHECK_FALSE(sender.next_change().has_value());
}

// A frame that its class forbids is chosen and put aside: time has passed, the wire is still free.
TEST(PauseSenderTest, aFrameThatIsHeldBackTakesNoTimeOnTheWire) {
    says(0, 100);
    takes(Step::heard, 70, 70);
    takes(Step::frame, 70, 70);
    free_at(70);
}

TEST(PauseSenderTest, whoOvershootsStartsFramesOfAPausedClass) {
    sender.set_overshoot(frame);
    says(0, 100);
    takes(Step::heard, 60, 60);
    CHECK(at(50) == sender.earliest_start(lossless));
    takes(Step::frame, 60, 60);
    sender.started(lossless, frame);
    CHECK(at(532) == sender.earliest_start(lossless));
}

}  // namespace sluice::pause_sender_test
