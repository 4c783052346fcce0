#include "dataplane/path/post_decisions.hh"

#include <array>
#include <vector>

#include "dataplane/base/packet_pool.hh"
#include "dataplane/path/worker_context.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::decisions_test {
namespace {

std::vector<DecisionKey> posted(WorkerContext& worker) {
    std::vector<DecisionKey> keys;
    std::array<DecisionEvent, 1> event;
    while (worker.decisions->events.collect(event) == 1) keys.push_back(event[0].key);
    return keys;
}

}  // namespace

TEST_GROUP(DepartureRecords){};

// A frame that the driver refuses stays queued: it has left only when it is taken.
TEST(DepartureRecords, onlyWhatTheDriverTookHasLeft) {
    const PacketPool pool("departures", 64, 0);
    Shared shared(1, 0, std::make_unique<Policy>(), true, 1);
    WorkerContext worker(shared, 0, 64, pool.pool());
    worker.policy = &shared.policy.latest();
    OutBatch out;
    for (std::uint64_t n = 0; n < 6; ++n) {
        Packet* packet = rte_pktmbuf_alloc(pool.pool());
        meta(packet) = {};
        meta(packet).sequence = n;
        meta(packet).observed = n % 2 == 0 ? observed_record : observed_fill;
        out.add_run(0, 1, 60);
        out.extend(1)[0] = packet;
    }
    const DeparturePost off(worker, out);  // a switch without rings
    off.post(worker, 6);
    worker.decisions = std::make_unique<EventRing<DecisionEvent>>(64);
    for (unsigned sent = 0; sent <= 6; ++sent) {
        const DeparturePost record(worker, out);
        record.post(worker, sent);
        const auto keys = posted(worker);
        LONGS_EQUAL((sent + 1) / 2, keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) LONGS_EQUAL(2 * i, keys[i].sequence);
    }
    out.discard([](Packet* packet) { rte_pktmbuf_free(packet); });
    LONGS_EQUAL(0, pool.in_use());
}

TEST(DepartureRecords, aRingTakesWhatFitsAndCountsTheRest) {
    EventRing<DecisionEvent> ring(4);
    for (std::uint64_t n = 0; n < 7; ++n) CHECK_EQUAL(n < 4, ring.post({{0, n}, {}, Unwanted{}}));
    LONGS_EQUAL(3, ring.lost.get());
    std::array<DecisionEvent, 8> events;
    LONGS_EQUAL(4, ring.events.collect(events));
    LONGS_EQUAL(3, events[3].key.sequence);
}

}  // namespace sluice::decisions_test
