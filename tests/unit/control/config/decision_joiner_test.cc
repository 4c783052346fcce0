#include "control/config/decisions/decision_joiner.hh"

#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::decision_joiner_test {
namespace {

Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

struct Fixture {
    explicit Fixture(std::size_t max_open = 100)
        : log({"a", "b", "c"}, max_open, [this](const std::string& line) { lines.push_back(line); }) {}

    template <class What>
    void join(DecisionKey key, Time time, const What& what) {
        log.join({key, time, what});
    }
    // The ingress half, and the egress half.
    void begin(DecisionKey key, Time time) {
        Arrived arrived;
        arrived.frame_bytes = 100;
        arrived.flow.kind = FrameKind::ipv4;
        arrived.flow.source = {10, 0, 0, 2};
        arrived.flow.destination = {10, 0, 1, 2};
        join(key, time, arrived);
        Routed routed;
        routed.chosen = true;
        routed.egress_port = 1;
        routed.queue = 3;
        join(key, time, routed);
        Admitted admitted;
        admitted.cells = 1;
        join(key, time, admitted);
    }
    void end(DecisionKey key, Time time) {
        join(key, time, Enqueued{});
        join(key, time + nanoseconds(7), Departed{100});
    }

    std::vector<std::string> lines;
    DecisionJoiner log;
};

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_GROUP(DecisionJoiner){};

TEST(DecisionJoiner, oneLineAPacketInOneForm) {
    Fixture it;
    it.begin({0, 5}, at(1));
    it.end({0, 5}, at(2));
    LONGS_EQUAL(0, it.lines.size());  // not before the round is over
    it.log.settle();
    LONGS_EQUAL(1, it.lines.size());
    STRCMP_EQUAL(
        R"({"verdict":"sent","port":"a","sequence":5,"whole":true,"arrival":{"at_ps":1000,"bytes":100,"kind":"ipv4",)"
        R"("tags":0,"dscp":0,"ecn":"not_ect","fragment":false,"protocol":0,"source":"10.0.0.2",)"
        R"("destination":"10.0.1.2","source_port":0,"destination_port":0},"class":{"tc":0,"group":0,)"
        R"("lossless":false},"route":{"group":0,"hash":0,"bucket":0,"buckets":1,"next_hop":0,"egress":"b","queue":3},)"
        R"("ingress":{"part":"reserved","cells":1,"reserved":0,"reserved_size":0,"shared":0,"limit":0,"headroom":0,)"
        R"("headroom_size":0,"pool_used":0,"pool_size":0,"in_xoff":false,"fired_xoff":false},)"
        R"("egress":{"at_ps":2000,"cells":0,"packets":0,"used":0,"limit":null,"pool_used":0,"pool_size":0},)"
        R"("departure":{"at_ps":9000,"bytes":100,"queued_ps":7000}})",
        it.lines[0].c_str());
    LONGS_EQUAL(1, it.log.recorded(Verdict::sent));
    LONGS_EQUAL(0, it.log.open());
}

TEST(DecisionJoiner, theOrderOfTheTwoHalvesDoesNotMatter) {
    Fixture one;
    Fixture other;
    for (std::uint64_t n = 0; n < 3; ++n) one.begin({0, n}, at(1));
    for (std::uint64_t n = 0; n < 3; ++n) one.end({0, n}, at(2));
    for (std::uint64_t n = 3; n-- > 0;) other.end({0, n}, at(2));
    for (std::uint64_t n = 0; n < 3; ++n) other.begin({0, n}, at(1));
    one.log.settle();
    other.log.settle();
    LONGS_EQUAL(3, one.lines.size());
    CHECK_TRUE(one.lines == other.lines);
}

TEST(DecisionJoiner, linesAreInOrderOfTimePausesFirst) {
    Fixture it;
    GroupPaused pause;
    pause.xoff = true;
    for (const PortId port : {2, 0}) {
        it.begin({port, 1}, at(1));
        it.join({port, 1}, at(5), Dropped{DropReason::headers_too_long});
        it.join({port, 3}, at(5), pause);
        it.join({port, 2}, at(4), Arrived{});
        it.join({port, 2}, at(4), Dropped{DropReason::not_ip});
    }
    it.log.settle();
    const std::vector<std::string> expected{"\"port\":\"a\",\"sequence\":2", "\"port\":\"c\",\"sequence\":2",
                                            "\"port\":\"a\",\"group\":3",    "\"port\":\"c\",\"group\":3",
                                            "\"port\":\"a\",\"sequence\":1", "\"port\":\"c\",\"sequence\":1"};
    LONGS_EQUAL(expected.size(), it.lines.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK_TRUE_TEXT(has(it.lines[i], expected[i]), it.lines[i].c_str());
}

// Under the real clock one ring is emptied a moment before another.
TEST(DecisionJoiner, aRecordWaitsOneRoundForWhatIsOnItsWay) {
    Fixture it;
    it.end({0, 1}, at(2));
    it.log.settle();
    LONGS_EQUAL(0, it.lines.size());
    it.begin({0, 1}, at(1));
    it.log.settle();
    LONGS_EQUAL(1, it.lines.size());
    CHECK_TRUE(has(it.lines[0], "\"whole\":true"));
}

TEST(DecisionJoiner, aStageThatNeverComesLeavesARecordThatSaysSo) {
    Fixture it;
    it.join({0, 1}, at(1), Arrived{});
    it.join({0, 1}, at(9), Departed{60});
    it.log.settle();
    it.log.settle();
    LONGS_EQUAL(1, it.lines.size());
    CHECK_TRUE(has(it.lines[0], "\"whole\":false"));
    it.join({0, 2}, at(9), Departed{60});  // its beginning was given up
    it.log.settle();
    it.log.settle();
    LONGS_EQUAL(1, it.lines.size());
    LONGS_EQUAL(0, it.log.open());
}

TEST(DecisionJoiner, theOldestIsGivenUpWhenThereAreTooMany) {
    Fixture it(2);
    for (std::uint64_t n = 0; n < 5; ++n) it.begin({0, n}, at(1));
    LONGS_EQUAL(3, it.log.given_up());
    LONGS_EQUAL(2, it.log.open());
    for (std::uint64_t n = 3; n < 5; ++n) it.end({0, n}, at(2));
    it.log.settle();
    LONGS_EQUAL(2, it.lines.size());
}

TEST(DecisionJoiner, anUnwantedPacketIsForgotten) {
    Fixture it;
    it.join({0, 1}, at(1), Arrived{});
    it.join({0, 1}, at(1), Unwanted{});
    it.log.finish(at(9));
    LONGS_EQUAL(0, it.lines.size());
}

TEST(DecisionJoiner, whatIsUnderWayAtTheEndIsUnfinished) {
    Fixture it;
    it.begin({0, 1}, at(1));
    it.log.settle();
    it.log.finish(at(9));
    LONGS_EQUAL(1, it.log.recorded(Verdict::unfinished));
    CHECK_TRUE(has(it.lines[0], "\"verdict\":\"unfinished\""));
}

TEST(DecisionJoiner, onlyWantedVerdictsAreKept) {
    Fixture it;
    it.log.keep(bit_of(Verdict::marked));
    it.begin({0, 1}, at(1));
    it.end({0, 1}, at(2));
    it.begin({0, 2}, at(1));
    Drawn drawn;
    drawn.outcome = MarkOutcome::marked;
    drawn.length_bytes = 700;
    drawn.average_bytes = 600;
    drawn.probability = 1ULL << 31;
    drawn.drawn = 1U << 30;
    it.end({0, 2}, at(2));
    it.join({0, 2}, at(2), drawn);
    it.log.settle();
    LONGS_EQUAL(1, it.log.recorded());
    CHECK_TRUE(has(it.lines[0], R"("draw":{"at":"dequeue","outcome":"marked","length_bytes":700)"));
    const auto& why = *it.log.why().entries().begin();
    STRCMP_EQUAL("700 bytes (average 600) in queue b.3: 50.00 % likely, random draw 25.00 %",
                 why.second.sentence.c_str());
}

TEST(DecisionJoiner, theLastRecordsAreKeptAndNoMore) {
    Fixture it;
    for (std::uint64_t n = 0; n < DecisionJoiner::max_latest + 7; ++n) {
        it.begin({0, n}, at(n));
        it.end({0, n}, at(n));
        it.log.settle();
    }
    LONGS_EQUAL(DecisionJoiner::max_latest, it.log.latest().size());
    LONGS_EQUAL(7, it.log.latest().front().key.sequence);
    LONGS_EQUAL(DecisionJoiner::max_latest + 6, it.log.latest().back().key.sequence);
}

TEST(DecisionJoiner, equalDecisionsAreCountedAndTheFirstExplained) {
    Fixture it;
    for (std::uint64_t n = 0; n < 4; ++n) {
        it.begin({0, n}, at(1));
        Enqueued enqueued;
        enqueued.limited = true;
        enqueued.cells = 2;
        enqueued.packets = 5;
        enqueued.used = static_cast<std::uint32_t>(10 + n);
        enqueued.limit = 11;
        enqueued.pool_used = 30;
        enqueued.pool_size = 50;
        it.join({0, n}, at(2), enqueued);
        it.join({0, n}, at(2), Dropped{DropReason::queue_limit});
    }
    it.log.settle();
    LONGS_EQUAL(1, it.log.why().entries().size());
    const auto& [key, why] = *it.log.why().entries().begin();
    CHECK_TRUE(std::get<2>(key) == (DecisionRecord::Place{DecisionRecord::At::queue, 1, 3}));
    LONGS_EQUAL(4, why.count);
    LONGS_EQUAL(0, why.first.sequence);
    STRCMP_EQUAL(
        "lossy queue b.3 held 2560 B in 5 packets, limit 2816 B (pool: 7680 B of 12.8 KB): 512 B more did "
        "not fit",
        why.sentence.c_str());
}

TEST(DecisionJoiner, aFrameThatWasNeverAdmittedIsThePortsBusiness) {
    Fixture it;
    it.join({2, 1}, at(1), Arrived{});
    it.join({2, 1}, at(1), Dropped{DropReason::no_route});
    it.log.settle();
    const auto& [key, why] = *it.log.why().entries().begin();
    CHECK_TRUE(std::get<2>(key) == (DecisionRecord::Place{DecisionRecord::At::port, 2, 0}));
    STRCMP_EQUAL("no route to the destination", why.sentence.c_str());
}

TEST(DecisionJoiner, theTableOfReasonsIsBounded) {
    WhyTable table;
    PortNames names;
    for (unsigned id = 0; id < max_ports; ++id) names.push_back("p" + std::to_string(id));
    for (unsigned n = 0; n < WhyTable::most + 7; ++n) {
        DecisionRecord record;
        record.key = {static_cast<PortId>(n % max_ports), n / max_ports};
        record.paused.emplace().xoff = true;
        table.add(record, names);
        table.add(record, names);
    }
    LONGS_EQUAL(WhyTable::most, table.entries().size());
    LONGS_EQUAL(14, table.left_out());
}

}  // namespace sluice::decision_joiner_test
