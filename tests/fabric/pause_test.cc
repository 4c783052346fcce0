// Pauses over hops: their causes, their victims, and circles of them.
#include <fmt/format.h>

#include "tests/fabric/checked_fabric.hh"
#include "tools/fabric/plan/deadlock.hh"
#include "tools/fabric/plan/fabric_lint.hh"
#include "tools/fabric/report/fabric_report.hh"
#include "tools/fabric/report/pause_report.hh"

#include "CppUTest/TestHarness.h"

using namespace sluice;
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

FabricPlan plan_of(const std::string& text) {
    auto file = parse_fabric(text, "test");
    CHECK_TRUE(file.has_value());
    auto plan = make_plan(std::move(*file));
    CHECK_TRUE(plan.has_value());
    return std::move(*plan);
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
        const PauseRecord& root = pauses[run.fabric().pauses().root(id)];
        STRCMP_EQUAL("leaf4", run.fabric().switches()[root.device].plan->name.c_str());
        CHECK_TRUE(root.slow_host);
        to_host |= run.fabric().switches()[pauses[id].device].plan->name == "leaf1";
    }
    CHECK_TRUE(to_host);
    const auto trees = pause_trees_json(run.fabric());
    LONGS_EQUAL(1, trees.size());
    STRCMP_EQUAL("h8 takes what leaf4 sends too slowly, at 10G", trees[0]["text"].get<std::string>().c_str());
    LONGS_EQUAL(1, trees[0]["victims"].get<unsigned>());
    STRCMP_EQUAL("victim", trees[0]["worst_victims"][0]["flow"].get<std::string>().c_str());
    const std::string why = why_text(trees, "h1");
    CHECK_TRUE(why.find("h1 was paused by leaf1, leaf1 by spine1, spine1 by leaf4") != std::string::npos);
    STRCMP_EQUAL("", why_text(trees, "h3").c_str());
    // What h1 waited by the records is what its NIC counted.
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
    STRCMP_EQUAL("left has more for right than the link takes", trees[0]["text"].get<std::string>().c_str());
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
    for (const FabricFinding& each : judge(clockwise, false))
        refused |= each.finding.id == "pause-cycle" && each.finding.severity == Severity::error;
    CHECK_TRUE(refused);
    for (const FabricFinding& each : judge(clockwise, true))
        CHECK_TRUE(each.finding.id != "pause-cycle" || each.finding.severity == Severity::warning);
    LONGS_EQUAL(0, dependency_cycles(plan_of(slow_host)).size());
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
    LONGS_EQUAL(1, cycles.size());
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
}

TEST(Pauses, TheWatchdogResolvesItAndTheLossIsCounted) {
    CheckedFabric run(ring("clockwise", "drop"));
    run.run_until(at_us(150'000));
    CHECK_TRUE(run.dropped(DropReason::watchdog_drop) > 0);
    CHECK_TRUE(run.fabric().pauses().cycles()[0].dissolved.has_value());
    CHECK_TRUE(run.lossless_lost() >= run.dropped(DropReason::watchdog_drop));
}
