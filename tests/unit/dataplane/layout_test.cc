// Two threads that write one cache line hand it to each other each time, though they share nothing. So fields
// that different threads write lie in different lines, and fields that all read per packet in none that is
// written per packet.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dataplane/path/worker_context.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::layout_test {
namespace {

constexpr std::uintptr_t line_bytes = 64;

struct Lines {
    std::uintptr_t first, last;
    template <class Object>
    explicit Lines(const Object& object)
        : first(reinterpret_cast<std::uintptr_t>(&object) / line_bytes),
          last((reinterpret_cast<std::uintptr_t>(&object) + sizeof object - 1) / line_bytes) {}
    bool shares_with(const Lines& other) const { return first <= other.last && other.first <= last; }
};

template <class One, class Other>
bool share(const One& one, const Other& other) {
    return Lines(one).shares_with(Lines(other));
}

// Alone in its lines wherever it lies: of several side by side, or after anything else.
template <class Object>
constexpr bool has_lines_of_its_own = alignof(Object) % line_bytes == 0 && sizeof(Object) % line_bytes == 0;

}  // namespace

TEST_GROUP(Layout) {
    // Not a member by value: CppUTest's own new knows nothing of alignment.
    std::unique_ptr<Shared> made = std::make_unique<Shared>(2, 2, std::make_unique<Policy>(), false, 1);
    Shared& shared = *made;
};

TEST(Layout, whatHasOneWriterHasLinesOfItsOwn) {
    CHECK(has_lines_of_its_own<PortContext>);    // the port's owner
    CHECK(has_lines_of_its_own<PortCounters>);   // likewise; control reads
    CHECK(has_lines_of_its_own<ReceiveQueue>);   // its poller
    CHECK(has_lines_of_its_own<WorkerContext>);  // the worker
    CHECK(has_lines_of_its_own<DropCounters>);
    CHECK(has_lines_of_its_own<Scheduler>);
    CHECK(has_lines_of_its_own<Mailbox<Packet*>>);  // writer and reader; Boost keeps their indices apart
    CHECK(has_lines_of_its_own<Mailbox<DecisionEvent>>);
    CHECK(has_lines_of_its_own<PoolLevel>);  // all workers
    CHECK(has_lines_of_its_own<PoolUse>);
}

TEST(Layout, countersOfAPortLieApartFromItsState) {
    const auto port = std::make_unique<PortContext>();
    CHECK_FALSE(share(port->counters, port->generator));
    CHECK_FALSE(share(port->counters, port->trace));
}

TEST(Layout, whatAPollerTellsLiesApartFromWhatItCounts) {
    const auto queue = std::make_unique<ReceiveQueue>(PortId{0}, nullptr, std::uint16_t{1}, WorkerId{1});
    CHECK_FALSE(share(queue->is_behind, queue->counters));
    CHECK_FALSE(share(queue->is_behind, queue->state));
    CHECK_FALSE(share(queue->is_behind, queue->handed_off));
    CHECK_FALSE(share(queue->counters, queue->handed_off));
}

TEST(Layout, levelsAndMarksOfAPoolLieApart) {
    const PoolUse& pool = shared.ingress_use[0];
    CHECK_FALSE(share(pool.shared, pool.headroom));
    CHECK_FALSE(share(pool.shared, pool.shared_watermark));
    CHECK_FALSE(share(pool.headroom, pool.shared_watermark));
    CHECK_FALSE(share(pool, shared.ingress_use[1]));
    CHECK_FALSE(share(shared.ingress_use[max_pools - 1], shared.egress_use[0]));
}

// The links, the owners and the flag that ends it all are read for every packet or turn.
TEST(Layout, whatAllWorkersReadIsNotWrittenPerPacket) {
    for (const auto* pools : {&shared.ingress_use, &shared.egress_use}) {
        CHECK_FALSE(share(shared.owner, *pools));
        CHECK_FALSE(share(shared.link_up, *pools));
        CHECK_FALSE(share(shared.draining, *pools));
        CHECK_FALSE(share(shared.ports, *pools));
        CHECK_FALSE(share(shared.mailboxes, *pools));
        CHECK_FALSE(share(shared.policy, *pools));
    }
}

}  // namespace sluice::layout_test
