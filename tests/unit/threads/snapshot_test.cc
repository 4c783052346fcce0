#include "lib/threads/snapshot.hh"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::snapshot_test {
namespace {

// Counts how many of its kind live, and is recognizably dead afterwards.
struct Value {
    Value(unsigned n, std::atomic<int>& counter) : number(n), twice(2 * n), living(counter) { ++living; }
    ~Value() {
        number = twice = 0xDEAD;
        --living;
    }
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    bool is_whole() const { return twice == 2 * number; }

    unsigned number;
    unsigned twice;
    std::atomic<int>& living;
};

const Value& read(Snapshot<Value>& snapshot, WorkerId worker) {
    const auto now = snapshot.view();
    snapshot.acknowledge(worker, now.generation);
    return *now.value;
}

}  // namespace

TEST_GROUP(Snapshot) {
    std::atomic<int> living{0};
    std::unique_ptr<const Value> value(unsigned number) {
        return std::make_unique<const Value>(number, living);
    }
};

TEST(Snapshot, isNotAcknowledgedBeforeEveryWorkerRunsIt) {
    Snapshot<Value> snapshot(3, value(1));
    CHECK_FALSE(snapshot.acknowledged(1));
    read(snapshot, 0);
    read(snapshot, 2);
    CHECK_FALSE(snapshot.acknowledged(1));
    read(snapshot, 1);
    CHECK_TRUE(snapshot.acknowledged(1));
    const std::uint64_t second = snapshot.publish(value(2));
    CHECK_FALSE(snapshot.acknowledged(second));
    CHECK_TRUE(snapshot.acknowledged(1));
}

TEST(Snapshot, isNotFreedWhileAWorkerMayUseIt) {
    Snapshot<Value> snapshot(2, value(1));
    const Value& old = read(snapshot, 0);
    read(snapshot, 1);
    for (unsigned n = 2; n < 10; ++n) {
        const std::uint64_t generation = snapshot.publish(value(n));
        read(snapshot, 1);
        CHECK_FALSE(snapshot.acknowledged(generation));
        LONGS_EQUAL(1, old.number);  // worker 0 has not asked again
        CHECK_TRUE(old.is_whole());
    }
    LONGS_EQUAL(9, living);
    read(snapshot, 0);
    CHECK_TRUE(snapshot.acknowledged(snapshot.generation()));
    LONGS_EQUAL(1, living);  // all others went with it
}

TEST(Snapshot, aWorkerGetsTheLastOne) {
    Snapshot<Value> snapshot(1, value(1));
    LONGS_EQUAL(1, read(snapshot, 0).number);
    snapshot.publish(value(2));
    LONGS_EQUAL(3, snapshot.publish(value(3)));
    LONGS_EQUAL(3, read(snapshot, 0).number);
    LONGS_EQUAL(3, snapshot.latest().number);
    CHECK_TRUE(snapshot.acknowledged(3));
    LONGS_EQUAL(1, living);
}

TEST(Snapshot, oneThatLastsLongerThanItsReadersFreesAll) {
    {
        Snapshot<Value> snapshot(4, value(1));
        for (unsigned n = 2; n < 6; ++n) snapshot.publish(value(n));
    }
    LONGS_EQUAL(0, living);
}

TEST(Snapshot, workersReadWhileControlPublishes) {
    constexpr unsigned workers = 2, generations = 2000;
    Snapshot<Value> snapshot(workers, value(1));
    std::atomic<unsigned> broken{0};
    std::vector<std::thread> threads;
    for (WorkerId w = 0; w < workers; ++w) {
        threads.emplace_back([&, w] {
            unsigned last = 0;
            while (last < generations) {
                const Value& mine = read(snapshot, w);
                for (unsigned use = 0; use < 10; ++use) broken += !mine.is_whole() || mine.number < last;
                last = mine.number;
            }
        });
    }
    for (unsigned n = 2; n <= generations; ++n) {
        const std::uint64_t generation = snapshot.publish(value(n));
        if (n % 3 == 0)  // control asks now and then, and waits as it does for a client's answer
            while (!snapshot.acknowledged(generation)) std::this_thread::yield();
    }
    for (auto& thread : threads) thread.join();
    LONGS_EQUAL(0, broken);
    CHECK_TRUE(snapshot.acknowledged(generations));
    LONGS_EQUAL(1, living);
}

}  // namespace sluice::snapshot_test
