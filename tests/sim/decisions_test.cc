// Decision records against the counters: one a packet, the same for any number of workers; observation
// changes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/decision_recorder.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::decisions_test {

using namespace sluice::sim;

TEST_GROUP(Decisions){};

TEST(Decisions, oneRecordAPacketAsTheCountersSayWhateverTheNumberOfWorkers) {
    std::string first;
    for (const unsigned workers : {1U, 2U, 4U, 5U}) {
        SimSwitch sim(busy(workers), fmt::format("{} workers", workers));
        Recorder recorder(sim);
        load(sim);
        sim.drain(Time{} + milliseconds(20));
        recorder.finish();
        LONGS_EQUAL(0, recorder.lost());
        LONGS_EQUAL(0, recorder.log().given_up());
        std::map<std::pair<PortId, DropReason>, std::uint64_t> drops;
        std::uint64_t arrived = 0;
        std::map<DecisionKey, ClassId> class_of;
        for (const DecisionEvent& event : recorder.events) {
            if (const auto* it = std::get_if<Arrived>(&event.what)) class_of[event.key] = it->traffic_class;
            if (const auto* pause = std::get_if<GroupPaused>(&event.what)) check_cells(*pause);
            // Lossless groups but for port 0's have alpha 1.
            if (const auto* it = std::get_if<Admitted>(&event.what);
                it != nullptr && event.key.port != 0 && class_of.at(event.key) == lossless)
                LONGS_EQUAL(std::max<std::int64_t>(0, it->pool_size - it->pool_used - it->cells), it->limit);
            if (const auto* dropped = std::get_if<Dropped>(&event.what))
                ++drops[{event.key.port, dropped->reason}];
            arrived += std::holds_alternative<Arrived>(event.what) ? 1U : 0U;
        }
        std::uint64_t dropped = 0;
        std::uint64_t departed = 0;
        unsigned reasons = 0;
        for (PortId id = 0; id < 5; ++id) {
            departed += sim.port(id).departed();
            for (std::size_t i = 1; i < drop_reason_count; ++i) {
                const auto reason = static_cast<DropReason>(i);
                const std::uint64_t counted = sim.device().dropped(id, reason);
                reasons += counted != 0 ? 1U : 0U;
                dropped += counted;
                LONGS_EQUAL(counted, (drops[{id, reason}]));
            }
        }
        CHECK_TRUE(reasons >= 3);
        LONGS_EQUAL(dropped, recorder.log().recorded(Verdict::dropped));
        LONGS_EQUAL(departed, recorder.log().recorded(Verdict::sent));
        LONGS_EQUAL(arrived, dropped + departed);
        LONGS_EQUAL(0, recorder.log().recorded(Verdict::unfinished));
        const std::string text = text_of(recorder.lines);
        CHECK_TRUE(text.find("\"whole\":false") == std::string::npos);
        CHECK_TRUE(text.find("\"signal\":\"xon\"") != std::string::npos);
        if (first.empty()) first = text;
        CHECK_TRUE_TEXT(text == first, fmt::format("{} workers", workers).c_str());
    }
}

// On, ready, off, or with a ring that is far too small: the switch does the same.
TEST(Decisions, observationChangesNothing) {
    std::optional<std::uint64_t> first;
    for (const RecordMode mode : {RecordMode::off, RecordMode::ready, RecordMode::on}) {
        for (const std::uint32_t ring : {0U, 8U}) {
            Config config = busy(2);
            config.decisions.record = mode;
            if (ring != 0) config.decisions.ring = ring;
            SimSwitch sim(config);
            std::optional<Recorder> recorder;
            if (ring == 0) recorder.emplace(sim);  // with none, a ring that nobody empties
            load(sim);
            sim.drain(Time{} + milliseconds(20));
            const std::uint64_t digest = sim.digest();
            if (!first) first = digest;
            CHECK_TRUE(digest == *first);
            if (recorder) CHECK_EQUAL(mode == RecordMode::on, !recorder->events.empty());
        }
    }
}

TEST(Decisions, whatDoesNotFitARingIsCountedAndTheRestIsIntact) {
    Config config = busy(2);
    SimSwitch whole(config);
    Recorder everything(whole);
    load(whole);
    whole.drain(Time{} + milliseconds(20));
    everything.finish();
    config.decisions.ring = 24;
    SimSwitch sim(config);
    Recorder recorder(sim);
    load(sim);
    sim.drain(Time{} + milliseconds(20));
    recorder.finish();
    CHECK_TRUE(recorder.lost() > 100);
    CHECK_TRUE(recorder.events.size() > 100);
    std::set<DecisionKey> begun;  // an event of a packet whose beginning was lost would be of no use
    for (const DecisionEvent& event : recorder.events)
        if (std::holds_alternative<Arrived>(event.what)) begun.insert(event.key);
    for (const DecisionEvent& event : recorder.events)
        CHECK_TRUE(std::holds_alternative<GroupPaused>(event.what) || begun.contains(event.key));
    const std::string all = text_of(everything.lines);
    std::size_t intact = 0;
    for (const std::string& line : recorder.lines) {
        CHECK_TRUE(line.find("\"signal\"") != std::string::npos ||
                   line.find("\"arrival\"") != std::string::npos);
        if (line.find("\"whole\":true") == std::string::npos || line.find("unfinished") != std::string::npos)
            continue;
        // As if nothing had been lost, but for the time in the queue of what the other run has as well.
        CHECK_TRUE_TEXT(all.find(line) != std::string::npos, line.c_str());
        ++intact;
    }
    CHECK_TRUE(intact > 20);
}

TEST(Decisions, theFilterChoosesByPortsClassFlowAndVerdict) {
    struct Case {
        void (*set)(DecisionsConfig&);
        bool (*matches)(const std::string&);
    };
    const std::array<Case, 5> cases{{
        {[](DecisionsConfig& d) {
             d.ports = {"p1", "p3"};
         },
         [](const std::string& l) {
             return contains(l, "\"port\":\"p1\"") || contains(l, "\"port\":\"p3\"");
         }},
        {[](DecisionsConfig& d) { d.egress = {"p2"}; },
         [](const std::string& l) {
             return contains(l, "\"egress\":\"p2\",\"queue\":") || contains(l, "\"signal\"");
         }},
        {[](DecisionsConfig& d) { d.classes = {3}; },
         [](const std::string& l) {
             return contains(l, "\"tc\":3") || contains(l, "\"group\":3,\"at_ps\"");
         }},
        {[](DecisionsConfig& d) { d.verdicts = {Verdict::dropped}; },
         [](const std::string& l) { return contains(l, "\"verdict\":\"dropped\""); }},
        {[](DecisionsConfig& d) {
             d.flow.source = IpPrefix{{{10, 0, 2, 0}, false}, 24};
         },
         [](const std::string& l) {
             return contains(l, "\"source\":\"10.0.2.") || contains(l, "\"signal\"");
         }},
    }};
    SimSwitch whole(busy(2));
    Recorder everything(whole);
    load(whole);
    whole.drain(Time{} + milliseconds(20));
    everything.finish();
    for (const Case& c : cases) {
        Config config = busy(2);
        c.set(config.decisions);
        SimSwitch sim(config);
        Recorder recorder(sim);
        load(sim);
        sim.drain(Time{} + milliseconds(20));
        recorder.finish();
        std::vector<std::string> expected;
        for (const std::string& line : everything.lines)
            if (c.matches(line)) expected.push_back(line);
        CHECK_TRUE(!expected.empty() && expected.size() < everything.lines.size());
        STRCMP_EQUAL(text_of(expected).c_str(), text_of(recorder.lines).c_str());
        LONGS_EQUAL(0, recorder.log().open());
        // Unwanted events take no room in the ring once they are known to be unwanted.
        const auto forgotten = recorder.all<Unwanted>().size();
        LONGS_EQUAL(recorder.all<Arrived>().size() - forgotten,
                    recorder.all<Departed>().size() + recorder.all<Dropped>().size());
    }
}

TEST(Decisions, switchedOffAPacketIsRecordedToItsEnd) {
    Config config = small_group(2);
    SimSwitch sim(config);
    Recorder recorder(sim);
    sim.hold(1, lossless, true);
    sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
    sim.run_until(sim.now() + nanoseconds(2));
    config.decisions.record = RecordMode::ready;
    CHECK_TRUE(sim.apply(config));
    sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
    sim.run_until(sim.now() + nanoseconds(2));
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(5));
    recorder.finish();
    LONGS_EQUAL(1, recorder.log().recorded());
    LONGS_EQUAL(1, recorder.log().recorded(Verdict::sent));
}

}  // namespace sluice::decisions_test
