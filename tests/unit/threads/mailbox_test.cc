#include "lib/threads/mailbox.hh"

#include <array>
#include <numeric>
#include <thread>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::mailbox_test {
namespace {

std::vector<unsigned> numbers(unsigned from, std::size_t count) {
    std::vector<unsigned> list(count);
    std::iota(list.begin(), list.end(), from);
    return list;
}

}  // namespace

TEST_GROUP(Mailbox){};

TEST(Mailbox, takesNoMoreThanItsCapacity) {
    Mailbox<unsigned> box(10);
    LONGS_EQUAL(10, box.post(numbers(0, 12)));
    LONGS_EQUAL(0, box.post(numbers(100, 1)));
    LONGS_EQUAL(10, box.size());
    std::array<unsigned, 4> out;
    LONGS_EQUAL(4, box.collect(out));
    LONGS_EQUAL(4, box.post(numbers(10, 6)));  // those from the front
    for (unsigned n = 4; n < 14; ++n) {
        LONGS_EQUAL(n, box.front());
        box.pop();
    }
    CHECK_TRUE(box.empty());
}

TEST(Mailbox, roomIsWhatIsSureToFit) {
    Mailbox<unsigned> box(10);
    LONGS_EQUAL(10, box.room());
    box.post(numbers(0, 7));
    LONGS_EQUAL(3, box.room());
    std::array<unsigned, 4> out;
    box.collect(out);
    LONGS_EQUAL(7, box.room());
    LONGS_EQUAL(7, box.post(numbers(0, 7)));
    LONGS_EQUAL(0, box.room());
}

TEST(Mailbox, anEmptyOneGivesNothing) {
    Mailbox<unsigned> box(4);
    std::array<unsigned, 4> out;
    LONGS_EQUAL(0, box.collect(out));
    LONGS_EQUAL(0, box.post({}));
    CHECK_TRUE(box.empty());
}

TEST(Mailbox, keepsOrderAroundItsEnd) {
    Mailbox<unsigned> box(7);
    unsigned in = 0, out = 0;
    for (unsigned round = 0; round < 1000; ++round) {
        in += static_cast<unsigned>(box.post(numbers(in, round % 7 + 1)));
        std::array<unsigned, 3> some;
        const std::size_t count = box.collect(some);
        for (std::size_t i = 0; i < count; ++i) LONGS_EQUAL(out++, some[i]);
    }
}

TEST(Mailbox, twoThreadsLoseNothingAndKeepOrder) {
    constexpr unsigned total = 300'000;
    Mailbox<unsigned> box(257);
    std::thread writer([&] {
        unsigned sent = 0;
        while (sent < total) {
            const auto wanted = numbers(sent, std::min<std::size_t>(32, total - sent));
            const std::size_t taken = box.post(wanted);
            if (taken == 0) std::this_thread::yield();
            sent += static_cast<unsigned>(taken);
        }
    });
    unsigned expected = 0, wrong = 0;
    std::array<unsigned, 32> some;
    while (expected < total) {
        const std::size_t count = box.collect(some);
        for (std::size_t i = 0; i < count; ++i) wrong += some[i] != expected++;
        if (count == 0) std::this_thread::yield();
    }
    writer.join();
    LONGS_EQUAL(0, wrong);
    CHECK_TRUE(box.empty());
}

TEST(Mailbox, twoThreadsOneByOne) {
    constexpr unsigned total = 100'000;
    Mailbox<unsigned> box(3);
    std::thread writer([&] {
        for (unsigned sent = 0; sent < total;) {
            if (box.post({&sent, 1}) == 1)
                ++sent;
            else
                std::this_thread::yield();
        }
    });
    unsigned wrong = 0;
    for (unsigned expected = 0; expected < total;) {
        if (box.empty()) {
            std::this_thread::yield();
            continue;
        }
        wrong += box.front() != expected++;
        box.pop();
    }
    writer.join();
    LONGS_EQUAL(0, wrong);
}

}  // namespace sluice::mailbox_test
