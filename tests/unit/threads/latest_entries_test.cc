#include "lib/threads/latest_entries.hh"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::latest_entries_test {
namespace {

// Torn entries are told by their parts: all are the same.
struct Entry {
    std::array<std::uint64_t, 20> parts;
    explicit constexpr Entry(std::uint64_t value) : parts{} { parts.fill(value); }
    Entry() = default;
    bool is_whole() const {
        for (const std::uint64_t part : parts)
            if (part != parts[0]) return false;
        return true;
    }
};

std::vector<std::uint64_t> values(const LatestEntries<Entry>& ring) {
    std::vector<std::uint64_t> found;
    ring.for_each([&](std::uint64_t, const Entry& entry) { found.push_back(entry.parts[0]); });
    return found;
}

}  // namespace

TEST_GROUP(LatestEntries){};

TEST(LatestEntries, hasNothingAtFirst) {
    const LatestEntries<Entry> ring(3);
    CHECK_TRUE(values(ring).empty());
    CHECK_FALSE(ring.read(0).has_value());
    CHECK_FALSE(ring.holds(0));
}

TEST(LatestEntries, keepsTheLastOnes) {
    LatestEntries<Entry> ring(3);
    for (std::uint64_t n = 0; n < 3; ++n) LONGS_EQUAL(n, ring.add(Entry(10 + n)));
    CHECK_TRUE(values(ring) == (std::vector<std::uint64_t>{10, 11, 12}));
    LONGS_EQUAL(3, ring.add(Entry(13)));
    CHECK_TRUE(values(ring) == (std::vector<std::uint64_t>{11, 12, 13}));
    LONGS_EQUAL(4, ring.total());
    CHECK_FALSE(ring.read(0).has_value());
    CHECK_FALSE(ring.read(4).has_value());
    LONGS_EQUAL(11, ring.read(1)->parts[0]);
}

TEST(LatestEntries, replacesAnEntryUntilItIsGone) {
    LatestEntries<Entry> ring(2);
    const auto first = ring.add(Entry(1));
    CHECK_TRUE(ring.replace(first, Entry(2)));
    LONGS_EQUAL(2, ring.read(first)->parts[0]);
    LONGS_EQUAL(1, ring.total());
    ring.add(Entry(3));
    CHECK_TRUE(ring.replace(first, Entry(4)));
    ring.add(Entry(5));
    CHECK_FALSE(ring.replace(first, Entry(6)));
    CHECK_TRUE(values(ring) == (std::vector<std::uint64_t>{3, 5}));
    CHECK_FALSE(ring.replace(7, Entry(6)));
}

// Any number of readers, while the writer adds and replaces: whole entries under the numbers they have.
TEST(LatestEntries, readersSeeWholeEntriesAlone) {
    LatestEntries<Entry> ring(4);
    std::atomic<bool> stop{false};
    std::array<std::uint64_t, 2> seen{};
    std::array<std::uint64_t, 2> wrong{};
    std::vector<std::thread> readers;
    for (std::size_t r = 0; r < seen.size(); ++r)
        readers.emplace_back([&, r] {
            while (!stop.load(std::memory_order_relaxed) || seen[r] == 0)
                ring.for_each([&](std::uint64_t number, const Entry& entry) {
                    ++seen[r];
                    // Each number was written with its own tens, and ones that count up.
                    if (!entry.is_whole() || entry.parts[0] / 10 != number) ++wrong[r];
                });
        });
    for (std::uint64_t n = 0; n < 200'000; ++n) {
        const std::uint64_t number = ring.add(Entry(10 * n));
        for (std::uint64_t again = 1; again < 4; ++again) ring.replace(number, Entry(10 * n + again));
    }
    stop.store(true, std::memory_order_relaxed);
    for (std::thread& reader : readers) reader.join();
    for (std::size_t r = 0; r < seen.size(); ++r) {
        CHECK_TRUE(seen[r] > 0);
        LONGS_EQUAL(0, wrong[r]);
    }
}

}  // namespace sluice::latest_entries_test
