#include "dataplane/fib.hh"

#include <array>

#include "dataplane/policy.hh"
#include "lib/endian.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;

bool set(Fib& fib, std::uint32_t address, unsigned length, std::uint32_t group) {
    std::array<std::uint8_t, 4> bytes{};
    store_be<std::uint32_t>(bytes.data(), address);
    return fib.set(false, bytes.data(), length, group);
}

}  // namespace

TEST_GROUP(Fib){};

TEST(Fib, refusesMoreMemoryThanThereIs) {
    CHECK_TRUE(Fib::create({{true, std::size_t{1} << 21}, {}}) == nullptr);
    CHECK_TRUE(Fib::create({{}, {true, std::size_t{1} << 21}}) == nullptr);
}

TEST(Fib, startsEmptyInMemoryThatOthersHaveUsed) {
    for (unsigned turn = 0; turn < 3; ++turn) {
        const auto fib = Fib::create({{true, 16}, {false, 16}});
        CHECK_TRUE(fib != nullptr);
        const std::uint32_t address = 0x0A000001;
        std::uint64_t group = 77;
        fib->lookup(&address, &group, 1);
        LONGS_EQUAL(group_no_route, group);
        LONGS_EQUAL(0, fib->tables(false).tables_used());
        CHECK_TRUE(set(*fib, 0x0A000000, 24, 9) && set(*fib, 0x0A000001, 32, 10) && set(*fib, 0, 0, 11));
        fib->lookup(&address, &group, 1);
        LONGS_EQUAL(10, group);
    }
}

TEST(Fib, familiesAreApart) {
    const auto fib = Fib::create({});
    const std::array<std::uint8_t, 16> address{10, 0, 0, 1};
    CHECK_TRUE(fib->set(true, address.data(), 32, 9));
    const std::uint32_t v4 = 0x0A000001;
    std::uint64_t group = 77;
    fib->lookup(&v4, &group, 1);
    LONGS_EQUAL(group_no_route, group);
    const std::uint8_t v6[1][16] = {{10, 0, 0, 1, 5}};
    fib->lookup(v6, &group, 1);
    LONGS_EQUAL(9, group);
    fib->remove(true, address.data(), 32, {});
    fib->lookup(v6, &group, 1);
    LONGS_EQUAL(group_no_route, group);
}

TEST(Fib, aBulkLookupIsManyLookups) {
    const auto fib = Fib::create({{true, 16}, {}});
    for (std::uint32_t n = 0; n < 200; ++n) CHECK_TRUE(set(*fib, 0x0A000000U + (n << 8), 24, 4 + n));
    for (unsigned count = 1; count <= 32; ++count) {
        std::array<std::uint32_t, 32> addresses{};
        std::array<std::uint64_t, 32> groups{};
        groups.fill(77'777);
        for (std::uint32_t i = 0; i < 32; ++i) addresses[i] = 0x0A000000U + (i * 37 % 256 << 8) + i;
        fib->lookup(addresses.data(), groups.data(), count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t n = i * 37 % 256;
            UNSIGNED_LONGLONGS_EQUAL(n < 200 ? 4 + n : std::uint32_t{group_no_route}, groups[i]);
        }
        for (unsigned i = count; i < 32; ++i) UNSIGNED_LONGLONGS_EQUAL(77'777, groups[i]);
    }
}
