// Pauses over hops: their causes, their victims, and circles of them.
#include <fmt/format.h>

#include "control/fabric/plan/deadlock.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/run/pause_words.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/plans.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pause_test {

using namespace sluice::fabric;

namespace {

constexpr Time at_us(std::int64_t us) { return Time{} + microseconds(us); }

// h8 takes what comes at 10G; h1 sends to it and to h6; h3 sends to h5, which shares no link with them.
const std::string slow_host = R"(
[topology]
kind = "leaf-spine"
leaves = 4
spines = 1
hosts = 2
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[host.h8]
drain = "10G"
[[flow]]
name = "slow"
from = "h1"
to = "h8"
message = "100KB"
depth = 24
stop = "1ms"
[[flow]]
name = "victim"
from = "h1"
to = "h6"
message = "100KB"
stop = "1ms"
[[flow]]
name = "beside"
from = "h3"
to = "h5"
message = "100KB"
stop = "1ms"
)";

std::string ring(const std::string& policy, const std::string& action) {
    return fmt::format(R"(
[topology]
kind = "ring"
switches = 3
hosts = 2
[routing]
policy = "{}"
[switch.default]
buffer.size = "2MB"
[switch.default.watchdog]
detection = "100ms"
restoration = "100ms"
action = "{}"
[host.default]
cc = "none"
retry_count = "unlimited"
timeout = "20ms"
[[flow]]
from = "sw1"
to = "sw3"
message = "1MB"
depth = 4
messages = 8
[[flow]]
from = "sw2"
to = "sw1"
message = "1MB"
depth = 4
messages = 8
[[flow]]
from = "sw3"
to = "sw2"
message = "1MB"
depth = 4
messages = 8
)",
                       policy, action);
}

}  // namespace

TEST_GROUP(Pauses){};

TEST(Pauses, EachHasItsCauseBackToTheSlowHostAndNamesTheVictim) {
    CheckedFabric run(slow_host);
    run.run_until(at_us(800));
    const auto& pauses = run.fabric().pauses().pauses();
    CHECK_TRUE(!pauses.empty());
    bool to_host = false;
    for (std::uint32_t id = 0; id < pauses.size(); ++id) {
        for_each_chain(run.fabric().pauses(), id, run.now(), [&](const PauseChain& chain) {
            const PauseRecord& root = pauses[chain.pauses.back()];
            STRCMP_EQUAL("leaf4", run.fabric().switches()[root.device].plan->name.c_str());
            CHECK_TRUE(chain.causes.back()->kind == PauseCause::Kind::host);
        });
        to_host |= run.fabric().switches()[pauses[id].device].plan->name == "leaf1";
    }
    CHECK_TRUE(to_host);
    const auto trees = pause_trees_json(run.fabric());
    LONGS_EQUAL(1, trees.size());
    STRCMP_EQUAL("h8 receives too slowly from leaf4, at 10G", trees[0]["text"].get<std::string>().c_str());
    LONGS_EQUAL(1, trees[0]["victims"].get<unsigned>());
    STRCMP_EQUAL("victim", trees[0]["worst_victims"][0]["flow"].get<std::string>().c_str());
    const std::string why = why_text(trees, "h1");
    CHECK_TRUE(why.find("h1 was paused by leaf1, leaf1 by spine1, spine1 by leaf4") != std::string::npos);
    STRCMP_EQUAL("", why_text(trees, "h3").c_str());
    // The records and h1's NIC agree on its paused time.
    const auto hosts = trees[0]["hosts"]["h1"].get<std::int64_t>();
    const auto counted = run.fabric().host(run.node("h1")).paused_time(3, run.now()).ps / 1000;
    CHECK_TRUE(std::abs(hosts - counted) < counted / 20);
    run.drain();
    for (const PauseRecord& pause : pauses) CHECK_TRUE(pause.until.has_value());
    LONGS_EQUAL(0, run.fabric().pauses().cycles().size());
}

TEST(Pauses, AnIncastBeginsAtTheCongestedEgressAndHasNoSlowHost) {
    CheckedFabric run(R"(
[topology]
kind = "dumbbell"
hosts = 3
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[[flow]]
from = ["h1", "h2", "h3"]
to = "h4"
message = "100KB"
depth = 8
messages = 16
)");
    run.drain();
    const auto trees = pause_trees_json(run.fabric());
    LONGS_EQUAL(1, trees.size());
    STRCMP_EQUAL("left has more for right than the link carries",
                 trees[0]["text"].get<std::string>().c_str());
    LONGS_EQUAL(0, trees[0]["victims"].get<unsigned>());
}

TEST(Pauses, ACircleOfRoutesIsRefusedBeforehandAndShortestOrUpDownPathsAreNot) {
    auto clockwise = plan_of(ring("clockwise", "off"));
    const auto cycles = dependency_cycles(clockwise);
    LONGS_EQUAL(1, cycles.size());
    LONGS_EQUAL(3, cycles[0].switches.size());
    STRCMP_EQUAL(
        "pauses of class 3 can wait for each other in a circle: sw1 > sw2 > sw3 > sw1; closed by routes "
        "to 10.0.1.0/24, 10.0.2.0/24, 10.0.3.0/24",
        cycle_text(clockwise, cycles[0]).c_str());
    bool refused = false;
    for (const FabricFinding& each : judge_plan(clockwise, false))
        refused |= each.finding.id == "pause-cycle" && each.finding.severity == Severity::error;
    CHECK_TRUE(refused);
    for (const FabricFinding& each : judge_plan(clockwise, true))
        CHECK_TRUE(each.finding.id != "pause-cycle" || each.finding.severity == Severity::warning);
    LONGS_EQUAL(0, dependency_cycles(plan_of(slow_host)).size());
    // Each circle is named, of each class that makes one.
    const auto two_classes =
        dependency_cycles(plan_of(ring("clockwise", "off") + "[switch.default.default]\npfc = [3, 4]\n"));
    LONGS_EQUAL(2, two_classes.size());
    CHECK_TRUE(two_classes[0].priority == 3 && two_classes[1].priority == 4);
    // A triangle's shortest paths are its sides; with one of them cut they are a line.
    LONGS_EQUAL(0, dependency_cycles(plan_of(ring("shortest", "off"))).size());
}

TEST(Pauses, ALossyClassMakesNoCircle) {
    LONGS_EQUAL(0, dependency_cycles(
                       plan_of(ring("clockwise", "off") + "[switch.default.default]\nqos = \"lossy\"\n"))
                       .size());
}

TEST(Pauses, ACircleThatOnlyAFailureMakesNamesTheLink) {
    // Four switches around, and a chord: without it paths go all the way round.
    std::string text = "[switch.default]\nbuffer.size = \"4MB\"\n";
    for (const int n : {1, 2, 3, 4})
        text += fmt::format(
            "[[node]]\nname = \"sw{0}\"\n[[node]]\nname = \"h{0}\"\nkind = \"host\"\n"
            "[[link]]\nends = [\"h{0}\", \"sw{0}\"]\n[[link]]\nends = [\"sw{0}\", \"sw{1}\"]\n",
            n, n % 4 + 1);
    text += "[[link]]\nends = [\"sw1\", \"sw3\"]\n";
    const auto cycles = dependency_cycles(plan_of(text));
    LONGS_EQUAL(2, cycles.size());  // either way round
    STRCMP_EQUAL("sw1-sw3", cycles[0].failed_link.c_str());
    LONGS_EQUAL(4, cycles[0].switches.size());
}

TEST(Pauses, ACircleDeadlocksAndIsNamedWithItsFlowsAndItsBeginning) {
    CheckedFabric run(ring("clockwise", "off"));
    run.run_until(at_us(2000));
    const auto& cycles = run.fabric().pauses().cycles();
    LONGS_EQUAL(1, cycles.size());
    LONGS_EQUAL(3, cycles[0].pauses.size());
    CHECK_FALSE(cycles[0].dissolved.has_value());
    CHECK_TRUE(cycles[0].at < at_us(100));
    CHECK_TRUE(!cycles[0].flows.empty());
    const auto sent = run.fabric().ledger().delivered;
    run.run_until(at_us(50'000));
    // Nothing moves any more but PFC, which hosts get, too.
    CHECK_TRUE(run.fabric().ledger().queued > 0);
    std::uint64_t bytes = 0;
    for (const char* host : {"h1", "h2", "h3", "h4", "h5", "h6"})
        bytes += run.fabric().host(run.node(host)).nic().statistics().frames_received;
    CHECK_TRUE(bytes < sent);
    LONGS_EQUAL(1, cycles.size());
    // The link was the cause until the circle closed, and the circle has been from then on.
    const auto trees = pause_trees_json(run.fabric());
    STRCMP_EQUAL("sw1 waits for sw2 waits for sw3 waits for sw1: a circle",
                 trees[0]["text"].get<std::string>().c_str());
    LONGS_EQUAL(4, trees[0]["hops"].get<unsigned>());
    LONGS_EQUAL(0, trees[0]["victims"].get<unsigned>());
    for (const char* host : {"h1", "h3", "h5"})
        CHECK_TRUE(trees[0]["hosts"][host].get<std::int64_t>() > 49'000'000);
    const std::string why = why_text(trees, "h1");
    CHECK_TRUE(why.find("h1 was paused by sw1, sw1 by sw2, sw2 by sw3, sw3 by sw1, sw1 by sw2: ") !=
               std::string::npos);
}

TEST(Pauses, ACircleClosesWhenAnotherQueueBecomesTheFullestAndIsTheCauseFromThenOn) {
    CheckedFabric run(ring("clockwise", "off"));
    std::vector<Switch*> devices;
    for (FabricSwitch& each : run.fabric().switches()) devices.push_back(&each.running->device());
    PauseWatch watch(run.fabric().plan(), std::move(devices));
    const auto port = [&](const char* device, const char* name) { return run.at(device).ports->id_of(name); };
    const auto took = [&](const char* device, PauseChange change) {
        watch.follow(static_cast<std::uint32_t>(run.fabric().plan().switch_of[run.node(device)]), change);
    };
    using Kind = PauseChange::Kind;
    const auto began = [&](int us, const char* device, const char* from, const char* to) {
        took(device, {at_us(us), Kind::began, port(device, from), 3, 0, {port(device, to), 3, 8, 10}});
    };
    const auto held = [&](int us, const char* device, const char* by) {
        took(device, {at_us(us), Kind::held, port(device, by), 0, 1U << 3});
    };
    began(1, "sw1", "sw3", "h1");
    held(2, "sw3", "sw1");
    began(3, "sw3", "sw2", "sw1");
    held(4, "sw2", "sw3");
    began(4, "sw2", "sw1", "sw3");
    held(5, "sw1", "sw2");
    LONGS_EQUAL(0, watch.cycles().size());
    took("sw1", {at_us(6), Kind::moved, port("sw1", "sw3"), 3, 0, {port("sw1", "sw2"), 3, 5, 5}});
    LONGS_EQUAL(1, watch.cycles().size());
    CHECK_TRUE(watch.cycles()[0].at == at_us(6));
    LONGS_EQUAL(0, watch.cycles()[0].began_with);
    std::string parts;
    for_each_chain(watch, 2, at_us(10), [&](const PauseChain& chain) {
        parts += fmt::format("{} ns over {}{}; ", (chain.until - chain.from).ps / 1000, chain.pauses.size(),
                             chain.closes_at == PauseChain::open_ended ? "" : ", closed");
    });
    STRCMP_EQUAL("2000 ns over 3; 4000 ns over 3, closed; ", parts.c_str());
    // It ends for its own reason: what waited for it goes on, and the circle is none any more.
    took("sw1", {at_us(8), Kind::ended, port("sw1", "sw3"), 3});
    CHECK_TRUE(watch.cycles()[0].dissolved == at_us(8));
    LONGS_EQUAL(2, watch.open());
}

TEST(Pauses, AHoldIsTheCauseWhileItLastsAndALittleAfterwards) {
    CheckedFabric run(slow_host);
    std::vector<Switch*> devices;
    for (FabricSwitch& each : run.fabric().switches()) devices.push_back(&each.running->device());
    PauseWatch watch(run.fabric().plan(), std::move(devices));
    const auto leaf = static_cast<std::uint32_t>(run.fabric().plan().switch_of[run.node("leaf4")]);
    const PortId to = run.at("leaf4").ports->id_of("h8"), from = run.at("leaf4").ports->id_of("spine1");
    using Kind = PauseChange::Kind;
    watch.follow(leaf, {at_us(10), Kind::began, from, 3, 0, {to, 3, 8, 8}});
    watch.follow(leaf, {at_us(11), Kind::held, to, 0, 1U << 3});
    watch.follow(leaf, {at_us(13), Kind::held, to});
    watch.follow(leaf, {at_us(20), Kind::held, to, 0, 1U << 3});
    watch.follow(leaf, {at_us(21), Kind::held, to});
    watch.follow(leaf, {at_us(50), Kind::ended, from, 3});
    std::string parts;
    for_each_chain(watch, 0, at_us(90), [&](const PauseChain& chain) {
        parts += fmt::format("{} us {}; ", (chain.until - chain.from).ps / 1000'000,
                             chain.causes[0]->kind == PauseCause::Kind::host ? "host" : "link");
    });
    // Held for 2 us, and again within eight times as long; then for 1 us, and 8 us more.
    STRCMP_EQUAL("1 us link; 18 us host; 21 us link; ", parts.c_str());
}

TEST(Pauses, TheWatchdogResolvesItAndTheLossIsCounted) {
    CheckedFabric run(ring("clockwise", "drop"));
    run.run_until(at_us(100'500));
    CHECK_TRUE(run.dropped(DropReason::watchdog_drop) > 0);
    CHECK_TRUE(run.fabric().pauses().cycles()[0].dissolved.has_value());
    CHECK_TRUE(run.lossless_lost() >= run.dropped(DropReason::watchdog_drop));
}

#ifndef SLUICE_SANITIZED  // a minute and a half there, of what the test above does, too
TEST(Pauses, TheWatchdogsAnswersToACircleDiffer) {
    struct Answer {
        const char* action;
        bool resolves, drops_queues;
    };
    for (const auto& [action, resolves, drops_queues] :
         {Answer{"drop", true, true}, Answer{"forward", true, false}, Answer{"alert", false, false}}) {
        constexpr bool unchecked = false;  // the test above holds such a run to the invariants
        CheckedFabric run(ring("clockwise", action), action, unchecked);
        run.run_until(at_us(90'000));
        const std::uint64_t before = run.delivered_bytes("h1", "h5");
        LONGS_EQUAL(1, run.fabric().pauses().cycles().size());
        CHECK_FALSE(run.fabric().pauses().cycles()[0].dissolved.has_value());
        LONGS_EQUAL(0, run.lossless_lost());
        const auto dissolved = [&] { return run.fabric().pauses().cycles()[0].dissolved.has_value(); };
        for (unsigned ms = 100; ms < 150 && !dissolved(); ++ms) run.run_until(at_us(ms * 1000));
        run.run_until(run.now() + milliseconds(1));
        CHECK_TRUE(dissolved() == resolves);
        CHECK_TRUE((run.dropped(DropReason::watchdog_drop) != 0) == drops_queues);
        CHECK_TRUE((run.lossless_lost() != 0) == resolves);
        // Only who forwards lets frames arrive while the storm lasts.
        CHECK_TRUE((run.delivered_bytes("h1", "h5") > before) == (resolves && !drops_queues));
    }
}
#endif

}  // namespace sluice::pause_test
