#include "dataplane/fib.hh"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "dataplane/policy.hh"
#include "lib/rng.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;

using V6 = std::array<std::uint8_t, 16>;

constexpr Fib::Sizes small{FibSize::small, FibSize::small};
constexpr Fib::Sizes large{FibSize::large, FibSize::large};

// The model: every prefix of either family as 16 bytes, and the longest that covers an address.
struct Model {
    std::map<std::pair<unsigned, V6>, std::uint32_t> routes;  // by length and network

    static V6 network(V6 address, unsigned length) {
        for (unsigned bit = length; bit < 128; ++bit)
            address[bit / 8] = static_cast<std::uint8_t>(address[bit / 8] & ~(0x80U >> bit % 8));
        return address;
    }
    std::uint32_t lookup(const V6& address, unsigned longest) const {
        for (unsigned length = longest + 1; length-- > 0;) {
            const auto found = routes.find({length, network(address, length)});
            if (found != routes.end()) return found->second;
        }
        return group_no_route;
    }
};

V6 widened(std::uint32_t address) {
    V6 wide{};
    store_be<std::uint32_t>(wide.data(), address);
    return wide;
}

std::uint32_t lookup(const Fib& fib, std::uint32_t address) {
    std::uint64_t group = 0;
    fib.lookup(&address, &group, 1);
    return static_cast<std::uint32_t>(group);
}

std::uint32_t lookup(const Fib& fib, const V6& address) {
    std::uint8_t bytes[1][16];
    std::copy(address.begin(), address.end(), bytes[0]);
    std::uint64_t group = 0;
    fib.lookup(bytes, &group, 1);
    return static_cast<std::uint32_t>(group);
}

// Few bits differ, so that prefixes nest and cover one another.
std::uint32_t some_v4(std::uint64_t drawn) {
    if (drawn >> 62 == 0) return ~(static_cast<std::uint32_t>(drawn) & 0x10000101U);  // up to the top
    return 0x0A000000U | (static_cast<std::uint32_t>(drawn) & 0x01030307U) |
           (static_cast<std::uint32_t>(drawn >> 32) & 0x3U) << 30;
}
V6 some_v6(std::uint64_t drawn) {
    V6 address{0x20, 1, 0x0D, 0xB8};
    if (drawn >> 62 == 0) address.fill(0xFF);  // up to the top of the address space
    if (drawn >> 62 == 1) address[0] = static_cast<std::uint8_t>(drawn >> 50);
    for (const unsigned byte : {2U, 4U, 5U, 7U, 8U, 11U, 15U}) {
        address[byte] = static_cast<std::uint8_t>(address[byte] | (drawn & 3U));
        drawn >>= 2;
    }
    return address;
}

}  // namespace

TEST_GROUP(Fib) {
    unsigned made = 0;
    std::unique_ptr<Fib> fib(Fib::Sizes sizes, unsigned routes = 1000) {
        auto table = Fib::create("fib_test" + std::to_string(made++), sizes, routes);
        CHECK_TRUE(table != nullptr);
        return table;
    }
};

TEST(Fib, anEmptyTableHasNoRoute) {
    for (const auto& sizes : {small, large}) {
        const auto table = fib(sizes);
        for (const std::uint32_t address : {0U, 1U, 0x0A000001U, 0xFFFFFFFFU})
            LONGS_EQUAL(group_no_route, lookup(*table, address));
        LONGS_EQUAL(group_no_route, lookup(*table, V6{}));
        LONGS_EQUAL(group_no_route, lookup(*table, V6{0xFF, 0xFF, 0xFF}));
    }
}

TEST(Fib, refusesToRemoveWhatIsNotThere) {
    for (const auto& sizes : {small, large}) {
        const auto table = fib(sizes);
        CHECK_FALSE(table->remove(0x0A000000U, 8));
        CHECK_FALSE(table->remove(V6{0x20, 1}, 16));
        CHECK_TRUE(table->add(0x0A000000U, 8, 9));
        CHECK_FALSE(table->remove(0x0A000000U, 9));
        LONGS_EQUAL(9, lookup(*table, 0x0A010203U));
        CHECK_TRUE(table->remove(0x0A000000U, 8));
        CHECK_FALSE(table->remove(0x0A000000U, 8));
    }
}

TEST(Fib, refusesMoreThanItHolds) {
    const auto table = fib(small, 10);
    unsigned taken = 0;
    for (std::uint32_t n = 0; n < 1000; ++n) taken += table->add(0x0A000000U + (n << 8), 24, 4 + n);
    CHECK_TRUE(taken >= 10 && taken < 1000);
    LONGS_EQUAL(4, lookup(*table, 0x0A000001U));  // what it took, it has
}

TEST(Fib, everyLengthOfOnePrefix) {
    for (const auto& sizes : {small, large}) {
        const auto table = fib(sizes);
        for (unsigned length = 0; length <= 32; ++length)
            CHECK_TRUE(table->add(length == 0 ? 0 : 0xAAAAAAAAU & (~0U << (32 - length)),
                                  static_cast<std::uint8_t>(length), 100 + length));
        LONGS_EQUAL(132, lookup(*table, 0xAAAAAAAAU));
        for (unsigned bit = 0; bit < 32; ++bit)
            LONGS_EQUAL(100 + bit, lookup(*table, 0xAAAAAAAAU ^ 0x80000000U >> bit));
        V6 all;
        all.fill(0xAA);
        for (unsigned length = 0; length <= 128; ++length)
            CHECK_TRUE(
                table->add(Model::network(all, length), static_cast<std::uint8_t>(length), 200 + length));
        LONGS_EQUAL(328, lookup(*table, all));
        for (unsigned bit = 0; bit < 128; ++bit) {
            V6 other = all;
            other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 0x80U >> bit % 8);
            LONGS_EQUAL(200 + bit, lookup(*table, other));
        }
    }
}

TEST(Fib, aDefaultRouteComesAndGoesOverRoutesThatCoverEverything) {
    for (const auto& sizes : {small, large}) {
        const auto table = fib(sizes);
        const auto holds = [&](std::uint32_t low, std::uint32_t high) {
            for (const std::uint32_t address : {0U, 0x0A000001U, 0x7FFFFFFFU})
                LONGS_EQUAL(low, lookup(*table, address));
            for (const std::uint32_t address : {0x80000000U, 0xC0000201U, 0xFFFFFFFFU})
                LONGS_EQUAL(high, lookup(*table, address));
            for (const V6& address : {V6{}, V6{0x20, 1}, V6{0x7F, 0xFF}})
                LONGS_EQUAL(low, lookup(*table, address));
            for (const V6& address : {V6{0x80}, V6{0xFE, 0xC0}, V6{0xFF, 0xFF}})
                LONGS_EQUAL(high, lookup(*table, address));
        };
        const auto add = [&](std::uint32_t top, std::uint8_t length, std::uint32_t group) {
            CHECK_TRUE(table->add(top << 24, length, group));
            CHECK_TRUE(table->add(V6{static_cast<std::uint8_t>(top)}, length, group));
        };
        const auto remove = [&](std::uint32_t top, std::uint8_t length) {
            CHECK_TRUE(table->remove(top << 24, length));
            CHECK_TRUE(table->remove(V6{static_cast<std::uint8_t>(top)}, length));
        };
        add(0, 0, 10);
        holds(10, 10);
        add(0, 1, 11);
        add(0x80, 1, 12);
        holds(11, 12);
        remove(0, 0);
        holds(11, 12);
        add(0, 0, 13);
        holds(11, 12);
        add(0, 0, 14);
        remove(0x80, 1);
        holds(11, 14);
        remove(0, 1);
        remove(0, 0);
        holds(group_no_route, group_no_route);
        CHECK_FALSE(table->remove(0U, 0));
    }
}

TEST(Fib, theLargestGroupNumberSurvives) {
    for (const auto& sizes : {small, large}) {
        const auto table = fib(sizes);
        CHECK_TRUE(table->add(0x0A000000U, 8, Fib::max_groups - 1));
        CHECK_TRUE(table->add(0x0A000001U, 32, Fib::max_groups - 2));
        CHECK_TRUE(table->add(V6{0x20, 1}, 16, Fib::max_groups - 1));
        LONGS_EQUAL(Fib::max_groups - 1, lookup(*table, 0x0A000002U));
        LONGS_EQUAL(Fib::max_groups - 2, lookup(*table, 0x0A000001U));
        LONGS_EQUAL(Fib::max_groups - 1, lookup(*table, V6{0x20, 1, 7}));
    }
}

TEST(Fib, smallAndLargeAgreeWithAModelOfIpv4) {
    const auto one = fib(small, 20'000), other = fib(large, 20'000);
    Model model;
    for (std::uint64_t step = 0; step < 3000; ++step) {
        const std::uint64_t drawn = draw({11, 4, 0, step});
        const auto length = static_cast<std::uint8_t>((drawn >> 40) % 33);
        const std::uint32_t address = length == 0 ? 0 : some_v4(drawn) & (~0U << (32 - length));
        const auto key = std::pair{unsigned{length}, widened(address)};
        if ((drawn >> 60) < 6) {
            const bool there = model.routes.erase(key) != 0;
            LONGS_EQUAL(there, one->remove(address, length));
            LONGS_EQUAL(there, other->remove(address, length));
        } else {  // adds, or replaces
            const auto group = static_cast<std::uint32_t>(first_free_group + step % 30'000);
            model.routes[key] = group;
            CHECK_TRUE(one->add(address, length, group));
            CHECK_TRUE(other->add(address, length, group));
        }
        std::array<std::uint32_t, 32> addresses;
        std::array<std::uint64_t, 32> found_one, found_other;
        for (std::uint32_t i = 0; i < 32; ++i) addresses[i] = some_v4(draw({12, i, 0, step}));
        one->lookup(addresses.data(), found_one.data(), 32);
        other->lookup(addresses.data(), found_other.data(), 32);
        for (std::size_t i = 0; i < 32; ++i) {
            const std::uint32_t wanted = model.lookup(widened(addresses[i]), 32);
            UNSIGNED_LONGLONGS_EQUAL(wanted, found_one[i]);
            UNSIGNED_LONGLONGS_EQUAL(wanted, found_other[i]);
        }
    }
}

TEST(Fib, smallAndLargeAgreeWithAModelOfIpv6) {
    const auto one = fib(small, 20'000), other = fib(large, 20'000);
    Model model;
    for (std::uint64_t step = 0; step < 2000; ++step) {
        const std::uint64_t drawn = draw({21, 6, 0, step});
        const auto length = static_cast<std::uint8_t>((drawn >> 40) % 129);
        const V6 address = Model::network(some_v6(drawn), length);
        const auto key = std::pair{unsigned{length}, address};
        if ((drawn >> 60) < 6) {
            const bool there = model.routes.erase(key) != 0;
            LONGS_EQUAL(there, one->remove(address, length));
            LONGS_EQUAL(there, other->remove(address, length));
        } else {
            const auto group = static_cast<std::uint32_t>(first_free_group + step % 30'000);
            model.routes[key] = group;
            CHECK_TRUE(one->add(address, length, group));
            CHECK_TRUE(other->add(address, length, group));
        }
        for (std::uint32_t i = 0; i < 16; ++i) {
            const V6 asked = some_v6(draw({22, i, 0, step}));
            const std::uint32_t wanted = model.lookup(asked, 128);
            LONGS_EQUAL(wanted, lookup(*one, asked));
            LONGS_EQUAL(wanted, lookup(*other, asked));
        }
    }
}

TEST(Fib, aBulkLookupIsManyLookups) {
    for (const auto& sizes : {small, large}) {
        const auto table = fib(sizes);
        for (std::uint32_t n = 0; n < 200; ++n) CHECK_TRUE(table->add(0x0A000000U + (n << 8), 24, 4 + n));
        for (unsigned count = 1; count <= 32; ++count) {
            std::array<std::uint32_t, 32> addresses;
            std::array<std::uint64_t, 32> groups;
            groups.fill(77'777);
            for (std::uint32_t i = 0; i < 32; ++i) addresses[i] = 0x0A000000U + (i * 37 % 256 << 8) + i;
            table->lookup(addresses.data(), groups.data(), count);
            for (unsigned i = 0; i < count; ++i)
                UNSIGNED_LONGLONGS_EQUAL(lookup(*table, addresses[i]), groups[i]);
            for (unsigned i = count; i < 32; ++i) UNSIGNED_LONGLONGS_EQUAL(77'777, groups[i]);
        }
    }
}
