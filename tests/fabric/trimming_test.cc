// Packet trimming at several hops, of frames whose payload hosts describe.
#include <fmt/format.h>

#include "control/fabric/plan/fabric_lint.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/plans.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::trimming_test {

using namespace sluice::fabric;

namespace {

// The hosts of two leaves write to those of the third, for which the spine has one port.
std::string incast(const std::string& more, std::string_view payload = "described") {
    return fmt::format(R"(
[topology]
kind = "leaf-spine"
leaves = 3
spines = 1
hosts = 2
[switch.default]
buffer.size = "1MB"
[switch.default.default]
qos = "lossy-trim"
[host.default]
cc = "none"
ack_dscp = 48
payload = "{}"
mtu = 4096
[[flow]]
from = ["h1", "h2", "h3", "h4"]
to = ["h5", "h6"]
message = "64KB"
messages = 8
depth = 4
{})",
                       payload, more);
}

std::uint64_t trimmed_at(CheckedFabric& run, const std::string& device) {
    const Switch& of = run.at(device).running->device();
    std::uint64_t sum = 0;
    for (PortId id = 0; id < of.port_count(); ++id)
        for (const TrimCounters& queue : of.view(id).counters().trim)
            sum += queue.sent.get() + queue.dropped.get();
    return sum;
}

bool refuses(std::string_view id, const std::string& text) {
    auto plan = plan_of(text);
    for (const FabricFinding& each : judge_plan(plan, false))
        if (each.finding.id == id && each.finding.severity == Severity::error) return true;
    return false;
}
bool refuses_size(const std::string& more, std::string_view payload) {
    return refuses("trim-described", incast(more, payload));
}

}  // namespace

TEST_GROUP(Trimming){};

TEST(Trimming, refusesMoreThanDescribedFramesHave) {
    for (const char* device : {"spine1", "leaf1"}) {
        const std::string large = fmt::format("[switch.{}.trimming]\nsize = 257\n", device);
        CHECK_TRUE(refuses_size(large, "described"));
        CHECK_FALSE(refuses_size(large, "carried"));
        CHECK_FALSE(refuses_size(fmt::format("[switch.{}.trimming]\nsize = 256\n", device), "described"));
    }
}

// leaf3 trims nothing itself.
TEST(Trimming, refusesAHopThatWouldPauseTrimmedPackets) {
    const auto with = [](std::string_view map) {
        return incast(
            fmt::format("[switch.leaf3.default]\nqos = \"lossless\"\n[switch.leaf3.map.default]\n{}\n", map));
    };
    CHECK_TRUE(refuses("trim-class", with("dscp_to_tc = {11 = 3}")));
    CHECK_TRUE(refuses("trim-roce-tc", with("dscp_to_tc = {11 = 5}\nroce_tc = 3")));
    for (const char* id : {"trim-class", "trim-roce-tc"})
        CHECK_FALSE(refuses(id, with("dscp_to_tc = {11 = 5}")));
}

TEST(Trimming, leavesNothingBehind) {
    CheckedFabric run(incast(""), "trimming");
    run.drain();
    CHECK(trimmed_at(run, "spine1") > 100);
    LONGS_EQUAL(0, run.lossless_lost());
}

// A command may ask a switch that knows no hosts for more than their frames have.
TEST(Trimming, cutsDescribedFramesToTheirBytesAtMost) {
    CheckedFabric run(incast("[[event]]\nat = \"1us\"\ndo = \"spine1: set trimming.size 1024\"\n"),
                      "trimming by command");
    run.drain();
    CHECK(trimmed_at(run, "spine1") > 100);
}

}  // namespace sluice::trimming_test
