#include "dataplane/path/fib.hh"

#include <array>

#include "dataplane/path/policy.hh"
#include "lib/values/endian.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fib_test {
namespace {

bool set(Fib& fib, std::uint32_t address, unsigned length, std::uint32_t group) {
    std::array<std::uint8_t, 4> bytes{};
    store_be<std::uint32_t>(bytes.data(), address);
    return fib.set(false, bytes.data(), length, group);
}

}  // namespace

TEST_GROUP(Fib){};

TEST(Fib, refusesMoreMemoryThanThereIs) {
    CHECK_TRUE(Fib::create({{true, std::size_t{1} << 40}, {}}) == nullptr);
    CHECK_TRUE(Fib::create({{}, {true, std::size_t{1} << 40}}) == nullptr);
}

TEST(Fib, startsEmptyInMemoryThatOthersHaveUsed) {
    for (unsigned turn = 0; turn < 3; ++turn) {
        const auto fib = Fib::create({{true, 16}, {false, 16}});
        CHECK_TRUE(fib != nullptr);
        const std::uint32_t address = 0x0A000001;
        LONGS_EQUAL(group_no_route, fib->lookup(address));
        LONGS_EQUAL(0, fib->tables(false).tables_used());
        CHECK_TRUE(set(*fib, 0x0A000000, 24, 9) && set(*fib, 0x0A000001, 32, 10) && set(*fib, 0, 0, 11));
        LONGS_EQUAL(10, fib->lookup(address));
    }
}

TEST(Fib, familiesAreApart) {
    const auto fib = Fib::create({});
    const std::array<std::uint8_t, 16> address{10, 0, 0, 1};
    CHECK_TRUE(fib->set(true, address.data(), 32, 9));
    const std::uint32_t v4 = 0x0A000001;
    LONGS_EQUAL(group_no_route, fib->lookup(v4));
    const std::array<std::uint8_t, 16> v6{10, 0, 0, 1, 5};
    LONGS_EQUAL(9, fib->lookup(v6.data()));
    fib->remove(true, address.data(), 32, {});
    LONGS_EQUAL(group_no_route, fib->lookup(v6.data()));
}

TEST(Fib, findsEachOfMany) {
    const auto fib = Fib::create({{true, 16}, {}});
    for (std::uint32_t n = 0; n < 200; ++n) CHECK_TRUE(set(*fib, 0x0A000000U + (n << 8), 24, 4 + n));
    for (std::uint32_t n = 0; n < 256; ++n)
        LONGS_EQUAL(n < 200 ? 4 + n : std::uint32_t{group_no_route}, fib->lookup(0x0A000000U + (n << 8) + n));
}

}  // namespace sluice::fib_test
