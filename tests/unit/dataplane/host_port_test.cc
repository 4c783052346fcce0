// A simulated host behind a port: what a packet may not cost.
#include "dataplane/peers/host_port.hh"

#include <array>
#include <memory>

#include "dataplane/base/packet_pool.hh"
#include "tests/unit/ip_addresses.hh"

#include "CppUTest/TestHarness.h"
// Not complete without it.
#include "CppUTest/MemoryLeakDetector.h"
#include "CppUTest/MemoryLeakWarningPlugin.h"

namespace sluice::host_port_test {
namespace {

constexpr std::uint32_t first_qp = 0x100;
constexpr unsigned queue_pairs = 8;

IpAddress address_of(unsigned end) { return v4(0x0A000002U + end); }

HostPortSpec spec_of(unsigned end, rte_mempool* pool) {
    HostPortSpec spec;
    spec.pool = pool;
    spec.obeys = PeerDelay{};
    spec.nic.address = address_of(end);
    spec.nic.first_qp = first_qp;
    spec.nic.reaction = roce::ReactionParameters::of(roce::CongestionControl::dcqcn_paper, spec.speed);
    spec.flows.resize(1);
    spec.flows[0].sizes = roce::MessageSizes::fixed(20'000);
    spec.flows[0].arrivals.depth = 2;
    for (std::uint32_t n = 0; n < queue_pairs; ++n)
        spec.queue_pairs.push_back({0, end == 0, address_of(1 - end), first_qp + n, n});
    return spec;
}

}  // namespace

TEST_GROUP(HostPort) {
    PacketPool pool{"host", 4096, 0};
    std::array<std::unique_ptr<HostPort>, 2> ends;
    std::unique_ptr<int> proof;  // a local one would be optimized away

    void setup() override {
        for (unsigned end = 0; end < 2; ++end)
            ends[end] = std::make_unique<HostPort>(spec_of(end, pool.pool()));
    }
    void teardown() override {
        for (auto& end : ends) end.reset();
        UNSIGNED_LONGS_EQUAL(0, pool.in_use());
    }
    // Every frame of one end reaches the other at once.
    void exchange(Time from, Time until) {
        for (Time now = from; now < until; now = now + nanoseconds(100))
            for (unsigned end = 0; end < 2; ++end) {
                std::array<Packet*, burst_size> burst{};
                const unsigned count = ends[end]->receive(burst, now);
                for (unsigned n = 0; n < count; ++n) meta(burst[n]).departure = now;
                UNSIGNED_LONGS_EQUAL(count, ends[1 - end]->transmit(std::span(burst).first(count)));
            }
    }
};

// This program has CppUTest's count of allocations switched off: it is on for as long as nothing is freed
// that it has not seen.
TEST(HostPort, nothingIsAllocatedPerPacket) {
    constexpr Time warm = Time{} + microseconds(300);
    exchange(Time{}, warm);
    const std::uint64_t frames = ends[1]->nic().statistics().frames_received;
    CHECK_TRUE(frames > 1000);
    MemoryLeakDetector* detector = MemoryLeakWarningPlugin::getGlobalDetector();
    MemoryLeakWarningPlugin::turnOnDefaultNotThreadSafeNewDeleteOverloads();
    const unsigned before = detector->getCurrentAllocationNumber();
    exchange(warm, warm + microseconds(700));
    const unsigned after = detector->getCurrentAllocationNumber();
    proof = std::make_unique<int>(0);
    const unsigned proven = detector->getCurrentAllocationNumber();
    proof.reset();
    MemoryLeakWarningPlugin::turnOffNewDeleteOverloads();
    LONGS_EQUAL(before, after);
    CHECK_TRUE(after < proven);
    CHECK_TRUE(ends[1]->nic().statistics().frames_received > 3 * frames);
    CHECK_TRUE(ends[0]->nic().queue_pairs()[0].statistics.completed > 10);
}

}  // namespace sluice::host_port_test
