// A run leaves the same bytes behind with any number of threads: report, summary and decision records, over
// fabrics drawn from seeds with all that goes wrong in them, and over larger ones whose windows hold work for
// every thread. SLUICE_LONG=1 takes 1000 seeds, SLUICE_SEED=N that one.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/run/fabric.hh"
#include "control/fabric/scenario/run_once.hh"
#include "tests/fabric/plans.hh"
#include "tests/fabric/random_fabric.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::threads_test {

using namespace sluice::fabric;

namespace {

// 16 hosts over 40 m cables: an incast and others, a slow host, and a spine that dies under load.
const std::string leaf_spine = R"(
[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts = 4
cable = "40m"
[routing]
detection = "10us"
convergence = "20us"
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[host.h13]
drain = "20G"
[[flow]]
from = ["h1", "h5", "h9"]
to = "h16"
message = "200KB"
messages = 4
depth = 4
[[flow]]
from = ["h2", "h6", "h10", "h3", "h7"]
to = "h13"
message = "200KB"
messages = 4
depth = 4
[[flow]]
from = ["h16", "h15"]
to = "h4"
message = "1KB..30KB"
messages = 10
[[phase]]
name = "before"
from = "0us"
to = "25us"
[[event]]
at = "25us"
do = "switch spine1 down"
[[event]]
at = "60us"
do = "switch spine1 up"
[[event]]
at = "35us"
do = "link leaf2-spine2 delay 1us"
)";

// A circle of pauses, which stands.
const std::string circle = R"(
[topology]
kind = "ring"
switches = 3
hosts = 2
[routing]
policy = "clockwise"
[switch.default]
buffer.size = "2MB"
[switch.default.watchdog]
action = "off"
[host.default]
cc = "none"
retry_count = "unlimited"
timeout = "1ms"
[[flow]]
from = "sw1"
to = "sw3"
message = "300KB"
depth = 4
messages = 2
[[flow]]
from = "sw2"
to = "sw1"
message = "300KB"
depth = 4
messages = 2
[[flow]]
from = "sw3"
to = "sw2"
message = "300KB"
depth = 4
messages = 2
)";

// Servers whose hosts are at different leaves, and learn of each other out of band.
const std::string servers = R"(
[topology]
kind = "rail"
servers = 4
rails = 4
spines = 2
cable = "40m"
[switch.default]
buffer.size = "4MB"
[host.default]
cc = "none"
[host.s2r3]
drain = "20G"
[[collective]]
kind = "hierarchical-allreduce"
hosts = "all"
group_size = 4
bytes = "1MB"
steps = 3
control = "64B"
)";

}  // namespace

TEST_GROUP(Threads) {
    std::string records = std::filesystem::temp_directory_path() / fmt::format("sluice-records-{}", getpid());
    void teardown() override { std::filesystem::remove(records); }

    // All that the run leaves behind. Its last switch records the fate of each packet.
    std::string outcome_of(FabricPlan plan, unsigned threads, std::optional<Duration> duration,
                           const std::string& label) {
        plan.switches.back().config.decisions.file = records;
        RunOptions options;
        options.threads = threads;
        options.duration = duration;
        const auto outcome = run_once(plan, options);
        if (!outcome) FAIL((label + ": " + outcome.error().texts.front()).c_str());
        for (const std::string& error : outcome->errors) FAIL((label + ": " + error).c_str());
        const auto recorded = read_config_file(records);
        CHECK_TRUE(recorded.has_value());
        return outcome->report.dump(1) + summarise(outcome->report) + *recorded;
    }
    std::string check(const std::string& text, const std::string& label,
                      std::optional<Duration> duration = {}) {
        const FabricPlan plan = plan_of(text + "\n[results]\ndepths = true\n");
        const std::string one = outcome_of(plan, 1, duration, label);
        CHECK_TRUE(one.size() > 1000);
        for (const unsigned threads : {2U, 3U, 5U}) {
            const std::string several = outcome_of(plan, threads, duration, label);
            if (several == one) continue;
            const auto differs = static_cast<std::size_t>(
                std::mismatch(one.begin(), one.end(), several.begin(), several.end()).first - one.begin());
            FAIL(fmt::format("{}, {} threads: {} is not {}", label, threads,
                             several.substr(differs < 40 ? 0 : differs - 40, 80),
                             one.substr(differs < 40 ? 0 : differs - 40, 80))
                     .c_str());
        }
        return one;
    }
};

TEST(Threads, ChangeNothingWhateverGoesWrong) {
    const auto run_seed = [&](std::uint64_t seed) {
        check(random_fabric(seed).text, fmt::format("SLUICE_SEED={}", seed));
    };
    if (const char* one = std::getenv("SLUICE_SEED")) return run_seed(std::strtoull(one, nullptr, 10));
    const std::uint64_t seeds = is_long() ? 200 : 12;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) run_seed(seed);
}

TEST(Threads, ChangeNothingWhenASpineDiesUnderLoad) { check(leaf_spine, "spine"); }

TEST(Threads, ChangeNothingWhereRanksOfAServerMeet) { check(servers, "servers"); }

TEST(Threads, ChangeNothingInACircleOfPauses) {
    CHECK_TRUE(check(circle, "circle", milliseconds(1)).find("wait_for_cycle") != std::string::npos);
}

TEST(Threads, ShareTheSwitchesOfEveryTierAndNeighborsStayTogether) {
    const LoopWindows windows = windows_of(plan_of(leaf_spine), 2);
    CHECK_TRUE(windows.length == propagation_delay(40));
    CHECK_TRUE((windows.thread_of == std::vector<unsigned>{0, 0, 1, 1, 0, 1}));
}

TEST(Threads, AreFewerWhereTheyWouldWaitForOneAnother) {
    const auto check_why = [](const std::string& text, unsigned wanted, unsigned threads, const char* why) {
        const ThreadChoice choice = threads_for(plan_of(text), wanted);
        LONGS_EQUAL(threads, choice.threads);
        CHECK_EQUAL_TEXT(*why == '\0', choice.why.empty(), choice.why.c_str());
        CHECK_TRUE_TEXT(choice.why.find(why) != std::string::npos, choice.why.c_str());
    };
    check_why(leaf_spine, 1, 1, "");
    check_why(leaf_spine, 2, 1, "its hosts send at most 40400 bytes in the 202.0 ns");
    const auto more = [](const std::string& with) {
        return fmt::format(
            "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts = 16\n{}\n"
            "[[flow]]\nfrom = \"h1\"\nto = \"h20\"\n",
            with);
    };
    check_why(more("cable = \"40m\""), 2, 2, "");
    check_why(more("cable = \"40m\""), 8, 3, "it has so many switches");
    check_why(more("cable = \"40m\"\n[switch.default]\nvirtual.turn = \"500ns\""), 2, 1, "virtual.turn");
    check_why("[topology]\nkind = \"star\"\nhosts = 4\n[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n", 2, 1,
              "a switch and its hosts");
}

}  // namespace sluice::threads_test
