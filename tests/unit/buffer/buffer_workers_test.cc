// Two workers on one pool, each owner of two groups and egress worker for the other's packets: never
// over-committed, and zero at the end. Run it under ThreadSanitizer. Bounded in packets, blind to time.
#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/buffer/release_board.hh"
#include "lib/threads/mailbox.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::buffer_workers_test {
namespace {

constexpr int bursts = 20'000;  // of each worker
constexpr unsigned workers = 2;
constexpr ClassId lossless = 3;

struct Sent {
    PortId ingress;
    ClassId group;
    std::uint32_t cells;
};

struct Shared {
    PoolLimits ingress_limits{.shared_cells = 400, .shared_headroom_cells = 60};
    PoolLimits egress_limits{.shared_cells = 10'000};
    std::array<GroupLimits, classes> groups{};
    std::array<QueueLimits, classes> queues{};
    PoolUse ingress, egress;
    ReleaseBoard board{workers, workers};
    std::array<Mailbox<Sent>, workers> inbox{Mailbox<Sent>(1000), Mailbox<Sent>(1000)};
    std::barrier<> started{workers}, produced{workers}, served{workers};
    // A ledger that is behind on admission and ahead on release, so it never shows more than there is.
    std::atomic<std::int64_t> shared_ledger{0};
    std::atomic<std::int64_t> headroom_ledger{0};
    std::atomic<unsigned> overcommitted{0};
    std::atomic<unsigned> refused{0};

    Shared() {
        groups[0] = {.threshold = Threshold::none()};  // up to S itself
        groups[lossless] = {.threshold = Threshold::dynamic(1),
                            .reserved_cells = 5,
                            .headroom_cells = 40,
                            .xon_offset_cells = 3,
                            .lossless = true};
        queues[0] = {.threshold = Threshold::dynamic(7)};
        queues[lossless] = {.lossless = true};
    }
};

class Worker {
  public:
    Worker(Shared& shared, WorkerId id) : shared_(shared), id_(id), random_(id + 1U) {}

    void run() {
        shared_.started.arrive_and_wait();
        for (int i = 0; i < bursts; ++i) {
            collect();
            ingress();
            evaluate();
            egress();
        }
        shared_.produced.arrive_and_wait();  // nothing more goes into the mailboxes
        while (!shared_.inbox[id_].empty()) egress();
        shared_.served.arrive_and_wait();  // everything has been posted
        collect();
        evaluate();
    }

    std::uint32_t used() const { return groups_[0].used_cells() + groups_[lossless].used_cells(); }
    std::uint32_t queued() const { return queues_[0].used_cells() + queues_[lossless].used_cells(); }
    bool in_xoff() const { return groups_[lossless].in_xoff(); }
    unsigned xoffs = 0;

  private:
    void collect() {
        PoolBurst burst(shared_.ingress, shared_.ingress_limits, 0);
        shared_.board.collect(id_, 0xFF, [&](ClassId g, std::uint32_t cells) {
            const std::uint32_t shared = groups_[g].shared_cells();
            const std::uint32_t headroom = groups_[g].headroom_cells();
            // The group knows which part the cells leave; the ledger must hear of it before the pool does.
            const std::uint32_t from_headroom = std::min(cells, headroom);
            shared_.headroom_ledger.fetch_sub(from_headroom);
            groups_[g].release(burst, cells);
            shared_.shared_ledger.fetch_sub(shared - groups_[g].shared_cells());
        });
    }

    void ingress() {
        std::array<Sent, burst_size> packets;
        std::uint32_t bound = 0;
        for (Sent& packet : packets) {
            random_ = scramble(random_);
            packet = {id_, (random_ & 1) != 0 ? lossless : ClassId{0},
                      1 + static_cast<std::uint32_t>(random_ >> 61)};
            bound += packet.cells;
        }
        PoolBurst burst(shared_.ingress, shared_.ingress_limits, bound);
        for (const Sent& packet : packets) {
            const Admission admission =
                groups_[packet.group].admit(shared_.groups[packet.group], burst, packet.cells);
            if (admission == Admission::shared)
                note(shared_.shared_ledger, packet.cells, shared_.ingress_limits.shared_cells);
            if (admission == Admission::headroom)
                note(shared_.headroom_ledger, packet.cells, shared_.ingress_limits.shared_headroom_cells);
            if (is_admitted(admission))
                shared_.inbox[1U - id_].post({&packet, 1});
            else
                shared_.refused.fetch_add(1);
        }
    }

    void note(std::atomic<std::int64_t>& ledger, std::uint32_t cells, std::int64_t limit) {
        if (ledger.fetch_add(cells) + cells > limit) shared_.overcommitted.fetch_add(1);
    }

    void evaluate() {
        const PoolView view(shared_.ingress, shared_.ingress_limits);
        const XoffSignal signal = groups_[lossless].update_xoff(shared_.groups[lossless], view);
        xoffs += signal == XoffSignal::send_xoff;
    }

    void egress() {
        std::array<Sent, burst_size> packets;
        const std::size_t count = shared_.inbox[id_].collect(packets);
        std::uint32_t bound = 0;
        for (std::size_t i = 0; i < count; ++i) bound += packets[i].cells;
        PoolBurst burst(shared_.egress, shared_.egress_limits, bound);
        for (std::size_t i = 0; i < count; ++i) {
            const auto [ingress, g, cells] = packets[i];
            if (is_admitted(queues_[g].admit(shared_.queues[g], burst, cells)))
                queues_[g].release(burst, cells);
            shared_.board.post(id_, ingress, g, cells);
        }
    }

    Shared& shared_;
    WorkerId id_;
    std::uint64_t random_;
    std::array<PriorityGroup, classes> groups_;
    std::array<EgressQueueUse, classes> queues_;
};

}  // namespace

TEST_GROUP(BufferWorkers){};

TEST(BufferWorkers, twoWorkersNeverOverCommitAndEndAtZero) {
    Shared shared;
    Worker first(shared, 0), second(shared, 1);
    std::thread thread([&] { second.run(); });
    first.run();
    thread.join();
    LONGS_EQUAL(0, shared.overcommitted.load());
    CHECK(shared.refused.load() > 0);  // the limits were felt
    CHECK(first.xoffs + second.xoffs > 0);
    for (const Worker* worker : {&first, &second}) {
        LONGS_EQUAL(0, worker->used());
        LONGS_EQUAL(0, worker->queued());
        CHECK_FALSE(worker->in_xoff());
    }
    LONGS_EQUAL(0, shared.ingress.shared.get());
    LONGS_EQUAL(0, shared.ingress.headroom.get());
    LONGS_EQUAL(0, shared.egress.shared.get());
    CHECK(shared.ingress.headroom_watermark.persistent() <= 60);
}

// The race itself, step by step on one thread: bursts that are open at the same time do not see the cells
// that the others take, only their bounds.
TEST(BufferWorkers, burstsThatOverlapNeverOverCommit) {
    const PoolLimits limits{.shared_cells = 300};
    const GroupLimits group_limits{.threshold = Threshold::none()};
    std::uint64_t random = 1;
    for (int round = 0; round < 2'000; ++round) {
        PoolUse pool;
        std::array<PriorityGroup, 4> groups;
        for (int again = 0; again < 6; ++again) {
            std::array<std::optional<PoolBurst>, 4> open_bursts;
            std::array<std::uint32_t, 4> left{};
            for (int step = 0; step < 60; ++step) {
                random = scramble(random);
                const std::size_t i = random & 3;
                const std::uint32_t cells = 1 + static_cast<std::uint32_t>(random >> 61);
                if (!open_bursts[i]) {
                    left[i] = 40 + static_cast<std::uint32_t>(random >> 32 & 63);
                    open_bursts[i].emplace(pool, limits, left[i]);
                } else if (left[i] >= cells) {
                    left[i] -= cells;
                    groups[i].admit(group_limits, *open_bursts[i], cells);
                } else {
                    groups[i].release(*open_bursts[i], groups[i].used_cells() / 2);
                    open_bursts[i].reset();
                }
                std::uint32_t used = 0;
                for (const PriorityGroup& group : groups) used += group.used_cells();
                CHECK(used <= limits.shared_cells);
            }
        }
        std::uint32_t used = 0;
        for (const PriorityGroup& group : groups) used += group.used_cells();
        LONGS_EQUAL(used, pool.shared.get());
    }
}

TEST(BufferWorkers, boardSaysForWhichPortsThereIsSomething) {
    ReleaseBoard board(2, 256);
    const auto touched = [&] {
        std::vector<PortId> ports;
        board.take_touched().for_each([&](PortId id) { ports.push_back(id); });
        return ports;
    };
    CHECK(touched().empty());
    for (const PortId port : {0, 7, 8, 63, 64, 255}) board.post(port % 2, port, 3, 1);
    CHECK((touched() == std::vector<PortId>{0, 7, 8, 63, 64, 255}));
    CHECK(touched().empty());
    static_cast<void>(board.poster(1));  // a batch without a release
    CHECK(touched().empty());
    board.post(1, 9, 3, 1);
    board.post(1, 9, 4, 1);
    CHECK((touched() == std::vector<PortId>{9}));
}

TEST(BufferWorkers, boardGivesEachReleaseOnce) {
    ReleaseBoard board(3, 2);
    board.post(0, 1, 7, 5);
    board.post(2, 1, 7, 6);
    board.post(2, 1, 0, 1);
    board.post(1, 0, 7, 100);
    std::array<std::uint32_t, classes> sum{};
    const auto add = [&](ClassId g, std::uint32_t cells) { sum[g] += cells; };
    board.collect(1, 0xFF, add);
    board.collect(1, 0xFF, add);
    LONGS_EQUAL(11, sum[7]);
    LONGS_EQUAL(1, sum[0]);
    board.post(0, 1, 7, 1);
    board.collect(1, 0xFF, add);
    LONGS_EQUAL(12, sum[7]);
    board.collect(0, 0xFF, add);
    LONGS_EQUAL(112, sum[7]);
}

TEST(BufferWorkers, boardKeepsWhatIsNotAskedFor) {
    ReleaseBoard board(2, 1);
    board.post(0, 0, 3, 9);
    board.post(1, 0, 7, 5);
    std::array<std::uint32_t, classes> sum{};
    const auto add = [&](ClassId g, std::uint32_t cells) { sum[g] += cells; };
    board.collect(0, 1U << 7, add);
    LONGS_EQUAL(0, sum[3]);
    LONGS_EQUAL(5, sum[7]);
    board.collect(0, 1U << 3 | 1U << 7, add);
    LONGS_EQUAL(9, sum[3]);
    LONGS_EQUAL(5, sum[7]);
}

}  // namespace sluice::buffer_workers_test
