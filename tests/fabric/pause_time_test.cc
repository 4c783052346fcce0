// Check against run, for pauses between switches and of slow hosts: what check passes loses nothing, and what
// it refuses loses. SLUICE_LONG=1 takes more seeds, SLUICE_SEED=N that one.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "control/fabric/plan/fabric_lint.hh"
#include "lib/pfc/headroom.hh"
#include "lib/values/rng.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pause_time_test {

using namespace sluice::fabric;

namespace {

// Two hosts send to a third beyond a cable, and data of a lossy class goes the other way.
std::string dumbbell(const std::string& speed, unsigned cable, unsigned quanta, const std::string& host) {
    return fmt::format(R"(
[topology]
kind = "dumbbell"
hosts = 2
host_speed = "{0}"
cable = "{1}m"
[switch.default]
buffer.size = "12MB"
[switch.default.default]
pfc_quanta = {2}
[switch.default.default.priority_group.3]
static_th = "40KB"
[host.default]
cc = "none"
timeout = "50ms"
[host.h3]
{3}
[[flow]]
name = "incast"
from = ["h1", "h2"]
to = "h3"
message = "1MB"
depth = 4
stop = "400us"
[[flow]]
name = "against"
from = "h4"
to = "h2"
dscp = 0
message = "100KB"
depth = 4
stop = "400us"
)",
                       speed, cable, quanta, host);
}

// The worst about pause times: "", "warning", "error".
std::string judged(const std::string& text) {
    auto file = parse_fabric(text, "test");
    CHECK_TRUE(file.has_value());
    auto plan = make_plan(std::move(*file));
    CHECK_TRUE(plan.has_value());
    std::string worst;
    for (const FabricFinding& each : judge_plan(*plan, false)) {
        if (each.finding.id != "pause-time" && each.finding.id != "host-pause-time") continue;
        const bool error = each.finding.severity == Severity::error;
        if (worst != "error") worst = error ? "error" : "warning";
        CHECK_TEXT(error || each.finding.message.find("a bound") != std::string::npos,
                   each.finding.message.c_str());
    }
    return worst;
}

std::uint64_t lost(const std::string& text, const std::string& label) {
    constexpr bool unchecked = false;
    CheckedFabric run(text, label, unchecked);
    run.run_until(Time{} + microseconds(600));
    std::uint64_t overrun = 0;
    for (const char* host : {"h1", "h2", "h3", "h4"}) overrun += run.fabric().host(run.node(host)).overrun();
    return overrun + run.dropped(DropReason::headroom_overrun);
}

}  // namespace

TEST_GROUP(PauseTime){};

TEST(PauseTime, ofADumbbellOf400GIsRefusedWhereItLoses) {
    const std::string slow = "drain = \"40G\"";
    const std::string bad = dumbbell("400G", 40, 5000, slow), good = dumbbell("400G", 40, 8000, slow);
    STRCMP_EQUAL("error", judged(bad).c_str());
    STRCMP_EQUAL("", judged(good).c_str());
    CHECK_TRUE(lost(bad, "5000 quanta") > 100);
    LONGS_EQUAL(0, lost(good, "8000 quanta"));
}

TEST(PauseTime, ofASlowHostIsWarnedOfWhereItLoses) {
    const auto host = [](unsigned quanta) {
        return dumbbell("100G", 40, 65535, fmt::format("drain = \"5G\"\npause_quanta = {}", quanta));
    };
    STRCMP_EQUAL("warning", judged(host(16)).c_str());
    STRCMP_EQUAL("", judged(host(4000)).c_str());
    LONGS_EQUAL(0, lost(host(4000), "4000 quanta"));
}

TEST(PauseTime, checkPassesWhatLosesNothingAndRefusesWhatLoses) {
    const char* one = std::getenv("SLUICE_SEED");
    const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
    const std::uint64_t seeds = one != nullptr ? 1 : tries({.in_long = 100, .usual = 14, .sanitized = 4});
    std::uint64_t passed = 0, refused = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        std::uint64_t n = seed * 1000;
        const auto draw = [&](std::uint64_t below) { return scramble(++n) % below; };
        const std::uint64_t gigabit = std::array{25U, 50U, 100U, 200U, 400U}[draw(5)];
        const auto cable = std::array{1U, 40U, 300U}[draw(3)];
        HeadroomInputs inputs;
        inputs.rate = gigabits(gigabit);
        inputs.cable_m = cable;
        const Headroom loop = headroom(inputs);
        // Far enough from what holds that there is a gap after every pause, or none.
        const std::uint64_t bytes =
            draw(2) == 0 ? loop.obeying_bytes() * 7 / 10 : loop.wire_bytes * (105 + draw(40)) / 100;
        const auto quanta = static_cast<unsigned>(std::min<std::uint64_t>(quanta_to_hold(bytes), UINT16_MAX));
        const std::string text =
            dumbbell(fmt::format("{}G", gigabit), cable, quanta,
                     fmt::format("drain = \"{}G\"\npause_quanta = {}", 1 + gigabit / 20, 16 + draw(65'000)));
        const std::string label =
            fmt::format("SLUICE_SEED={}: {}G {} m {} quanta", seed, gigabit, cable, quanta);
        const std::string found = judged(text);
        ++(found.empty() ? passed : refused);
        if (found != "warning") CHECK_TEXT((found == "error") == (lost(text, label) != 0), label.c_str());
    }
    if (one == nullptr && !is_sanitized) CHECK_TRUE(passed > 1 && refused > 1);
}

}  // namespace sluice::pause_time_test
