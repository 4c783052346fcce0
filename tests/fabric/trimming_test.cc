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
constexpr std::string_view ignores = "ack_dscp = 48";
constexpr std::string_view naks = "recovery = \"selective\"\ntrim = \"nak\"";

std::string incast(const std::string& more, std::string_view payload = "described",
                   std::string_view host = ignores) {
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
{}
payload = "{}"
mtu = 4096
[[flow]]
from = ["h1", "h2", "h3", "h4"]
to = ["h5", "h6"]
message = "64KB"
messages = 8
depth = 4
{})",
                       host, payload, more);
}

std::uint64_t trimmed_at(CheckedFabric& run, const std::string& device) {
    const Switch& of = run.at(device).running->device();
    std::uint64_t sum = 0;
    for (PortId id = 0; id < of.port_count(); ++id)
        for (const TrimCounters& queue : of.view(id).counters().trim)
            sum += queue.sent.get() + queue.dropped.get();
    return sum;
}

// Sums over all hosts, at their end.
struct HostSums {
    std::uint64_t trimmed = 0, asked = 0, again = 0, timeouts = 0, cnps = 0, refused = 0;
};
HostSums sums_of(CheckedFabric& run) {
    HostSums sums;
    for (const HostPort* port : run.fabric().hosts()) {
        const roce::Nic& nic = port->nic();
        sums.trimmed += nic.statistics().trimmed;
        sums.refused += nic.statistics().refused;
        for (const roce::QueuePair& qp : nic.queue_pairs()) {
            sums.asked += qp.statistics.trimmed_asked;
            sums.cnps += qp.statistics.cnps_sent;
            if (const roce::Requester* end = qp.requester()) {
                sums.again += end->counters().retransmissions;
                sums.timeouts += end->counters().timeouts;
            }
        }
    }
    return sums;
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

// Each trimmed packet that a host got is sent again once, and nothing else is: no time-out, no reorder
// window.
TEST(Trimming, hostsAskForTrimmedPacketsAlone) {
    for (const char* payload : {"described", "carried"})
        for (const char* kind : {"write", "send", "read"}) {
            const std::string more = fmt::format("kind = \"{}\"\n", kind);
            CheckedFabric run(incast(more, payload, naks), "trimmed packets asked for");
            run.drain();
            const HostSums sums = sums_of(run);
            CHECK(sums.trimmed > 100);
            LONGS_EQUAL(trimmed_at(run, "spine1") + trimmed_at(run, "leaf1") + trimmed_at(run, "leaf2") +
                            trimmed_at(run, "leaf3"),
                        sums.trimmed + run.dropped(DropReason::trim_limit));
            LONGS_EQUAL(0, run.dropped(DropReason::trim_limit));
            LONGS_EQUAL(sums.trimmed, sums.asked);
            LONGS_EQUAL(sums.trimmed, sums.again);
            LONGS_EQUAL(0, sums.timeouts + sums.refused);
            CHECK(sums.cnps > 0);
        }
}

TEST(Trimming, congestionControlNeedNotHearOfIt) {
    const std::string quiet = std::string(naks) + "\ntrim_cc = \"none\"\necn = \"not-ect\"";
    CheckedFabric run(incast("", "described", quiet), "trimmed packets that mark nothing");
    run.drain();
    CHECK(sums_of(run).asked > 100);
    LONGS_EQUAL(0, sums_of(run).cnps);
}

TEST(Trimming, hostsThatGoBackCannotAskForThem) {
    CHECK_TRUE(refuses("host-trim", incast("", "described", "trim = \"nak\"\nack_dscp = 48")));
    CHECK_FALSE(refuses("host-trim", incast("", "described", naks)));
}

// A command may ask a switch that knows no hosts for more than their frames have.
TEST(Trimming, cutsDescribedFramesToTheirBytesAtMost) {
    CheckedFabric run(incast("[[event]]\nat = \"1us\"\ndo = \"spine1: set trimming.size 1024\"\n"),
                      "trimming by command");
    run.drain();
    CHECK(trimmed_at(run, "spine1") > 100);
}

}  // namespace sluice::trimming_test
