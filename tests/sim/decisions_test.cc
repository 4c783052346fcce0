// Decision records against the law and the counters: one a packet, with the numbers that decided; the same
// for any number of workers; and observation changes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/decisions/decision_log.hh"
#include "tests/sim/sim_switch.hh"

#include "CppUTest/TestHarness.h"

using namespace sluice;
using namespace sluice::sim;

namespace {

constexpr ClassId lossless = 3;
constexpr std::uint32_t frame = 1500;
constexpr std::uint32_t frame_cells = 6;

PortNames names(std::size_t ports) {
    PortNames list;
    for (std::size_t id = 0; id < ports; ++id) list.push_back("p" + std::to_string(id));
    return list;
}

// Empties the rings after every instant, as control does, and keeps the events as well.
class Recorder {
  public:
    explicit Recorder(SimSwitch& sim)
        : sim_(sim), log_(names(sim.device().port_count()), 1U << 20, [this](const std::string& line) {
              lines.push_back(line);
          }) {
        sim.on_instant = [this] { drain(); };
    }
    void drain() {
        log_.keep(sim_.policy().decisions.verdicts);
        for (unsigned w = 0; w < sim_.device().worker_count(); ++w) {
            auto& ring = sim_.device().worker(static_cast<WorkerId>(w)).decisions;
            std::array<DecisionEvent, 1> event;
            while (ring && ring->events.collect(event) == 1) {
                events.push_back(event[0]);
                log_.take(event[0]);
            }
        }
        log_.settle();
    }
    void finish() {
        drain();
        log_.finish(sim_.now());
    }
    std::uint64_t lost() {
        std::uint64_t sum = 0;
        for (unsigned w = 0; w < sim_.device().worker_count(); ++w)
            sum += sim_.device().worker(static_cast<WorkerId>(w)).decisions->lost.get();
        return sum;
    }
    template <class What>
    std::vector<What> all(std::optional<DecisionKey> key = {}) const {
        std::vector<What> found;
        for (const DecisionEvent& event : events)
            if (const auto* what = std::get_if<What>(&event.what);
                what != nullptr && (!key || event.key == *key))
                found.push_back(*what);
        return found;
    }
    const DecisionLog& log() const { return log_; }

    std::vector<std::string> lines;
    std::vector<DecisionEvent> events;

  private:
    SimSwitch& sim_;
    DecisionLog log_;
};

Flow flow_to(PortId to, std::uint32_t bytes = frame) {
    Flow flow;
    flow.to = to;
    flow.size = [bytes](Time) { return bytes; };
    return flow;
}

constexpr std::uint64_t reserved_cells = 2 * frame_cells + 3, headroom_cells = 3 * frame_cells + 2,
                        limit_cells = 7 * frame_cells + 1;

// Port 0's lossless group is small and fixed, its peer ignores PFC.
Config small_group(unsigned ports, unsigned workers = 1) {
    Config config = sim_config(ports, gigabits(100));
    config.workers = workers;
    config.decisions.record = RecordMode::on;
    PortConfig& port = port_of(config, 0);
    port.small_xoff = true;
    port.peer = PeerKind::ignore;
    PriorityGroupConfig& group = port.priority_group[lossless];
    group.size_bytes = reserved_cells * 256;
    group.static_bytes = limit_cells * 256;
    group.xoff_bytes = headroom_cells * 256;
    group.xon_offset_bytes = std::uint64_t{2 * frame_cells * 256};
    return config;
}

// Incast, crossing traffic, a port that comes and goes, one group that overruns and lossy queues that are
// full.
Config busy(unsigned workers) {
    Config config = small_group(5, workers);
    config.buffer_size_bytes = 4'000'000;
    config.virtual_turn = nanoseconds(500);
    PortConfig& sink = port_of(config, 4);
    sink.queue[0].static_bytes = std::uint64_t{40'000};
    return config;
}

void load(SimSwitch& sim) {
    for (PortId id = 0; id < 4; ++id) {
        Flow flow = flow_to(4, 1200 + 100U * id);
        flow.frames = 400;
        sim.add(id, flow);
        flow.to = 2;  // which goes down with what is queued for it
        flow.frames = 100;
        if (id != 2) sim.add(id, flow);
        flow.to = static_cast<PortId>((id + 1) % 4);
        flow.dscp = 0;
        flow.priority = 0;
        flow.frames = 200;
        sim.add(id, flow);
        flow.to = 4;
        sim.add(id, flow);
    }
    sim.at(Time{} + microseconds(40), [&] { sim.set_port(2, false); });
    sim.at(Time{} + microseconds(70), [&] { sim.set_port(2, true); });
    sim.at(Time{} + microseconds(20), [&] { sim.hold(3, 0, true); });
    sim.at(Time{} + microseconds(90), [&] { sim.hold(3, 0, false); });
}

// Recorded from the start every cell of a group is known, and where it is.
void check_cells(const GroupPaused& pause) {
    std::uint32_t sum = pause.other_queues;
    for (std::size_t i = 0; i < pause.filler_count; ++i) sum += pause.fillers[i].cells;
    LONGS_EQUAL(0, pause.unknown);
    LONGS_EQUAL(pause.reserved + pause.shared + pause.headroom, sum);
}

bool contains(const std::string& line, const char* what) { return line.find(what) != std::string::npos; }

std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

}  // namespace

TEST_GROUP(Decisions){};

// The closed form of one blocked group: which packet fires, which is dropped, and what each of them saw.
TEST(Decisions, numbersOfABlockedGroupAreThoseOfTheLaw) {
    SimSwitch sim(small_group(2));
    Recorder recorder(sim);
    sim.hold(1, lossless, true);
    const std::uint64_t reserved = reserved_cells / frame_cells;
    const std::uint64_t shared = limit_cells / frame_cells;
    const std::uint64_t headroom = headroom_cells / frame_cells;
    const std::uint64_t packets = reserved + shared + headroom + 3;
    for (std::uint64_t n = 0; n < packets; ++n) {
        sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
    }
    for (std::uint64_t n = 0; n < packets; ++n) {
        const auto at = recorder.all<Admitted>(DecisionKey{0, n});
        LONGS_EQUAL(1, at.size());
        const Admitted& admitted = at[0];
        const std::uint64_t after = n < reserved ? 0 : n - reserved;
        LONGS_EQUAL(frame_cells, admitted.cells);
        LONGS_EQUAL(std::min(n, reserved) * frame_cells, admitted.reserved);
        LONGS_EQUAL(std::min(after, shared) * frame_cells, admitted.shared);
        LONGS_EQUAL(limit_cells, admitted.limit);
        LONGS_EQUAL((after < shared ? 0 : std::min(after - shared, headroom)) * frame_cells,
                    admitted.headroom);
        LONGS_EQUAL(admitted.shared, admitted.pool_used);
        LONGS_EQUAL(sim.pool_of(0, lossless).shared_cells, admitted.pool_size);
        const Admission part = n < reserved                ? Admission::reserved
                               : after < shared            ? Admission::shared
                               : after < shared + headroom ? Admission::headroom
                                                           : Admission::headroom_overrun;
        CHECK_TRUE(admitted.part == part);
        CHECK_EQUAL(n >= reserved && after == shared, admitted.fired_xoff);
        CHECK_EQUAL(after > shared, admitted.in_xoff);
        LONGS_EQUAL(part == Admission::headroom_overrun ? 1 : 0,
                    recorder.all<Dropped>(DecisionKey{0, n}).size());
    }
    // One pause, by the first in headroom, and the queue that it was for.
    const auto pauses = recorder.all<GroupPaused>();
    LONGS_EQUAL(1, pauses.size());
    CHECK_TRUE(pauses[0].xoff);
    LONGS_EQUAL(reserved * frame_cells, pauses[0].reserved);
    LONGS_EQUAL(shared * frame_cells, pauses[0].shared);
    LONGS_EQUAL(limit_cells, pauses[0].limit);
    LONGS_EQUAL(frame_cells, pauses[0].headroom);
    LONGS_EQUAL(headroom_cells, pauses[0].headroom_size);
    LONGS_EQUAL(shared * frame_cells, pauses[0].pool_used);
    LONGS_EQUAL(1, pauses[0].filler_count);
    LONGS_EQUAL(1, pauses[0].fillers[0].port);
    LONGS_EQUAL(lossless, pauses[0].fillers[0].queue);
    LONGS_EQUAL((reserved + shared + 1) * frame_cells, pauses[0].fillers[0].cells);
    LONGS_EQUAL(0, pauses[0].unknown + pauses[0].other_queues);
    for (const auto& [key, why] : recorder.log().why().entries())
        if (std::get<0>(key) == Verdict::dropped) {
            LONGS_EQUAL(3, why.count);
            STRCMP_EQUAL(
                "group p0.3 held 18 of 20 headroom cells, shared 42 of limit 43: 6 more did not fit; filled, "
                "when it was paused, by p1.3 (60 cells)",
                why.sentence.c_str());
        }
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(5));
    recorder.finish();
    LONGS_EQUAL(packets - 3, recorder.log().recorded(Verdict::sent));
    LONGS_EQUAL(3, recorder.log().recorded(Verdict::dropped));
    LONGS_EQUAL(2, recorder.log().recorded(Verdict::paused));  // and the XON
    LONGS_EQUAL(0, recorder.log().open());
}

TEST(Decisions, aPauseNamesTheQueuesThatHoldTheCells) {
    for (const unsigned workers : {1U, 2U, 4U}) {
        SimSwitch sim(small_group(4, workers));
        Recorder recorder(sim);
        for (PortId id = 1; id < 4; ++id) sim.hold(id, lossless, true);
        // Of ten packets that fit, three for p1, five for p3, two for p2; the eleventh, for p2, fires.
        for (const PortId to : {1, 3, 3, 2, 1, 3, 1, 3})
            sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(to), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
        LONGS_EQUAL(0, recorder.all<GroupPaused>().size());
        sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(2), {frame, frame});
        sim.run_until(sim.now() + nanoseconds(2));
        const auto pauses = recorder.all<GroupPaused>();
        LONGS_EQUAL(1, pauses.size());
        LONGS_EQUAL(3, pauses[0].filler_count);
        constexpr std::array<std::pair<PortId, unsigned>, 3> expected{{{3, 4}, {1, 3}, {2, 3}}};
        for (std::size_t i = 0; i < 3; ++i) {
            LONGS_EQUAL(expected[i].first, pauses[0].fillers[i].port);
            LONGS_EQUAL(expected[i].second * frame_cells, pauses[0].fillers[i].cells);
        }
        LONGS_EQUAL(0, pauses[0].unknown);
        for (PortId id = 1; id < 4; ++id) sim.hold(id, lossless, false);
        sim.drain(sim.now() + milliseconds(5));
    }
}

// By a link that went down; with two workers the egress side counts it, with one the ingress side may.
TEST(Decisions, cellsOfWhatWasDiscardedAreNotBlamed) {
    for (const unsigned workers : {1U, 2U}) {
        SimSwitch sim(small_group(3, workers));
        Recorder recorder(sim);
        for (PortId id = 1; id < 3; ++id) sim.hold(id, lossless, true);
        for (int n = 0; n < 4; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
        sim.at(sim.now() + nanoseconds(5), [&] { sim.set_port(1, false); });
        sim.run_until(sim.now() + nanoseconds(10));
        LONGS_EQUAL(4, sim.dropped(DropReason::link_down));
        for (int n = 0; n < 10; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(2), {frame});
        sim.run_until(sim.now() + nanoseconds(2));
        const auto pauses = recorder.all<GroupPaused>();
        LONGS_EQUAL(1, pauses.size());
        check_cells(pauses[0]);
        LONGS_EQUAL(1, pauses[0].filler_count);
        LONGS_EQUAL(2, pauses[0].fillers[0].port);
        sim.hold(2, lossless, false);
        sim.drain(sim.now() + milliseconds(5));
    }
}

TEST(Decisions, cellsFromBeforeAreCalledUnknown) {
    Config config = small_group(2);
    config.decisions.record = RecordMode::ready;
    SimSwitch sim(config);
    Recorder recorder(sim);
    sim.hold(1, lossless, true);
    for (int n = 0; n < 4; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
    sim.run_until(sim.now() + nanoseconds(2));
    CHECK_TRUE(recorder.events.empty());
    config.decisions.record = RecordMode::on;
    CHECK_TRUE(sim.apply(config));
    for (int n = 0; n < 8; ++n) sim.port(0).inject(sim.now() + nanoseconds(1), flow_to(1), {frame});
    sim.run_until(sim.now() + nanoseconds(2));
    const auto pauses = recorder.all<GroupPaused>();
    LONGS_EQUAL(1, pauses.size());
    LONGS_EQUAL(4 * frame_cells, pauses[0].unknown);
    LONGS_EQUAL(pauses[0].reserved + pauses[0].shared + pauses[0].headroom,
                pauses[0].fillers[0].cells + pauses[0].unknown);
    sim.hold(1, lossless, false);
    sim.drain(sim.now() + milliseconds(5));
    recorder.finish();
    LONGS_EQUAL(8, recorder.log().recorded(Verdict::sent));  // those from before are not recorded
}

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
        // What is not wanted takes no room in the ring from where that is known.
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
