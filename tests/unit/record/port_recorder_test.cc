#include "lib/record/port_recorder.hh"

#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::port_recorder_test {
namespace {

constexpr Time at(std::int64_t us) { return Time{} + microseconds(us); }

template <class Record>
std::vector<Record> all(const LatestEntries<Record>& ring) {
    std::vector<Record> found;
    ring.for_each([&](std::uint64_t, const Record& record) { found.push_back(record); });
    return found;
}

}  // namespace

TEST_GROUP(PortRecorder) {
    PortRecorder recorder{256};

    // An XOFF as the dataplane says it.
    void xoff(ClassId group, Time now, std::uint32_t shared = 0) {
        PortRecorder::Start start;
        start.group.shared = shared;
        recorder.xoff_sent(group, now, false, recorder.begins_spell(group, now) ? &start : nullptr);
    }
    void pause(ClassId group, std::int64_t from, std::int64_t to) {
        xoff(group, at(from));
        recorder.xon_sent(group, at(to));
    }
    static PortRecorder::Drop drop(DropReason reason, ClassId traffic_class, bool lossless = false) {
        return {reason, PortId{1}, PortId{2}, traffic_class, traffic_class, traffic_class, lossless, 100};
    }
    void dropped(DropReason reason, ClassId traffic_class, Time now) {
        recorder.dropped(drop(reason, traffic_class), now, {});
    }
};

TEST(PortRecorder, pausesThatFollowEachOtherAreOneSpell) {
    xoff(3, at(100), 7);
    recorder.headroom_used(3, 40);
    recorder.headroom_used(3, 20);
    recorder.xon_sent(3, at(130));
    xoff(3, at(500), 9);
    recorder.headroom_used(3, 10);
    recorder.xon_sent(3, at(510));
    const auto sent = all(recorder.sent());
    LONGS_EQUAL(1, sent.size());
    LONGS_EQUAL(2, sent[0].spell.count);
    LONGS_EQUAL(3, sent[0].spell.number);
    CHECK_TRUE(sent[0].spell.first == at(100) && sent[0].spell.last == at(500));
    LONGS_EQUAL(microseconds(40).ps, sent[0].spell.paused.ps);
    LONGS_EQUAL(microseconds(30).ps, sent[0].spell.longest.ps);
    CHECK_FALSE(sent[0].spell.running);
    LONGS_EQUAL(40, sent[0].peak_headroom);
    LONGS_EQUAL(7, sent[0].start.shared);  // the circumstances of the first
}

TEST(PortRecorder, aPauseAfterALongGapIsASpellOfItsOwn) {
    pause(3, 100, 130);
    pause(3, 130 + 1001, 1140);
    LONGS_EQUAL(2, all(recorder.sent()).size());
    pause(3, 1140 + 1000, 2150);
    LONGS_EQUAL(2, all(recorder.sent()).size());
    pause(4, 2160, 2170);  // another group
    LONGS_EQUAL(3, all(recorder.sent()).size());
}

TEST(PortRecorder, aPauseThatRunsIsThereAtOnce) {
    xoff(3, at(100));
    auto sent = all(recorder.sent());
    LONGS_EQUAL(1, sent.size());
    CHECK_TRUE(sent[0].spell.running);
    // However long it runs, it is not a new one.
    CHECK_FALSE(recorder.begins_spell(3, at(1'000'000)));
    recorder.xon_sent(3, at(1'000'000));
    recorder.xon_sent(3, at(1'000'001));  // nothing ran
    sent = all(recorder.sent());
    LONGS_EQUAL(microseconds(999'900).ps, sent[0].spell.paused.ps);
}

TEST(PortRecorder, receivedPausesLastAsLongAsTheyWereObeyed) {
    Duration paused{};
    const auto of = [&](ClassId) { return paused; };
    recorder.obeyed(1U << 3 | 1U << 4, at(10), of);
    paused = microseconds(15);
    recorder.obeyed(1U << 4, at(40), of);  // priority 3 ended 15 us ago
    paused = microseconds(15);
    recorder.obeyed(1U << 3 | 1U << 4, at(50), of);
    paused = microseconds(20);
    recorder.obeyed(0, at(60), of);
    const auto received = all(recorder.received());
    LONGS_EQUAL(2, received.size());
    LONGS_EQUAL(3, received[0].number);
    LONGS_EQUAL(2, received[0].count);
    LONGS_EQUAL(microseconds(20).ps, received[0].paused.ps);
    LONGS_EQUAL(microseconds(15).ps, received[0].longest.ps);
    LONGS_EQUAL(1, received[1].count);
    CHECK_FALSE(received[1].running);
    LONGS_EQUAL(0, recorder.obeyed());
}

TEST(PortRecorder, dropsForOneReasonAreOneEntry) {
    for (std::int64_t n = 0; n < 1000; ++n) dropped(DropReason::no_route, static_cast<ClassId>(n % 8), at(n));
    auto drops = all(recorder.drops());
    LONGS_EQUAL(1, drops.size());
    LONGS_EQUAL(1000, drops[0].packets);
    LONGS_EQUAL(100'000, drops[0].bytes);
    LONGS_EQUAL(0xFF, drops[0].classes);
    CHECK_TRUE(drops[0].first == at(0) && drops[0].last == at(999));
    CHECK_TRUE(drops[0].from.contains(1) && drops[0].to.contains(2));
    dropped(DropReason::ttl_expired, 0, at(1000));
    dropped(DropReason::no_route, 0, at(1001));  // between them nothing but time
    drops = all(recorder.drops());
    LONGS_EQUAL(2, drops.size());
    LONGS_EQUAL(1001, drops[0].packets);
}

TEST(PortRecorder, dropsInARowAreOneEntryAtAnyDistance) {
    dropped(DropReason::no_route, 0, at(0));
    dropped(DropReason::no_route, 0, at(1'000'000));
    LONGS_EQUAL(1, all(recorder.drops()).size());
    dropped(DropReason::no_route, 1, at(2'000'000));  // of another class
    LONGS_EQUAL(2, all(recorder.drops()).size());
    dropped(DropReason::ttl_expired, 1, at(3'000'000));
    dropped(DropReason::no_route, 1, at(4'000'000));  // not in a row any more
    LONGS_EQUAL(4, all(recorder.drops()).size());
}

TEST(PortRecorder, onlyTheFirstDropOfAnEntryHasItsFlow) {
    FlowKey flow;
    flow.source_port = 17;
    const auto one = drop(DropReason::queue_limit, 0, true);
    CHECK_FALSE(recorder.goes_on(one, at(0)));
    recorder.dropped(one, at(0), flow);
    CHECK_TRUE(recorder.goes_on(one, at(1)));
    recorder.dropped(one, at(1), {});
    const auto drops = all(recorder.drops());
    LONGS_EQUAL(17, drops[0].flow.source_port);
    LONGS_EQUAL(2, drops[0].lossless);
}

TEST(PortRecorder, aFloodOfDropsPushesOutNoPause) {
    pause(3, 100, 130);
    for (std::int64_t n = 0; n < 10'000; ++n)
        dropped(n % 2 == 0 ? DropReason::no_route : DropReason::ttl_expired, static_cast<ClassId>(n / 2 % 8),
                at(10'000 * n));
    LONGS_EQUAL(1, all(recorder.sent()).size());
    LONGS_EQUAL(64, all(recorder.drops()).size());
}

TEST(PortRecorder, aSpellThatWasPushedOutGoesOnInANewEntry) {
    PortRecorder small(4);  // one entry a kind
    PortRecorder::Start start;
    small.xoff_sent(3, at(0), false, &start);
    small.xoff_sent(4, at(1), false, &start);
    small.xon_sent(3, at(10));
    auto sent = all(small.sent());
    LONGS_EQUAL(1, sent.size());
    LONGS_EQUAL(3, sent[0].spell.number);
    LONGS_EQUAL(microseconds(10).ps, sent[0].spell.paused.ps);
}

TEST(PortRecorder, aLinkThatGoesDownEndsPauses) {
    xoff(3, at(100));
    recorder.link_changed(false, at(150));
    recorder.link_changed(true, at(200));
    const auto sent = all(recorder.sent());
    CHECK_FALSE(sent[0].spell.running);
    LONGS_EQUAL(microseconds(50).ps, sent[0].spell.paused.ps);
    const auto notes = all(recorder.notes());
    LONGS_EQUAL(2, notes.size());
    CHECK_TRUE(notes[0].kind == PortNote::Kind::link_down && notes[1].kind == PortNote::Kind::link_up);
}

TEST(PortRecorder, microburstsOfAQueueFollowEachOther) {
    Microburst burst{};
    burst.queue = 3;
    for (const std::int64_t start : {0, 100, 5000}) {
        burst.start = at(start);
        burst.length = microseconds(50);
        burst.peak_cells = static_cast<std::uint32_t>(1000 - start / 10);
        burst.marked = 2;
        burst.fed_by.add(static_cast<PortId>(start / 100));
        recorder.microburst(burst);
    }
    const auto bursts = all(recorder.bursts());
    LONGS_EQUAL(2, bursts.size());
    LONGS_EQUAL(2, bursts[0].count);
    LONGS_EQUAL(microseconds(100).ps, bursts[0].above.ps);
    LONGS_EQUAL(1000, bursts[0].peak_cells);
    LONGS_EQUAL(4, bursts[0].marked);
    CHECK_TRUE(bursts[0].fed_by.contains(0) && bursts[0].fed_by.contains(1));
}

TEST(PortRecorder, memoryIsThatOfItsRings) {
    CHECK_TRUE(PortRecorder::bytes(256) < 64 * 1024);
    CHECK_TRUE(PortRecorder::bytes(512) > PortRecorder::bytes(256));
}

}  // namespace sluice::port_recorder_test
