#include "lib/route/prefix_trie.hh"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lib/values/endian.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::prefix_trie_test {
namespace {

using Address = std::array<std::uint8_t, 16>;

struct Prefix {
    Address address;
    unsigned length;
    auto operator<=>(const Prefix&) const = default;
};

Prefix network(Address address, unsigned length) {
    for (unsigned byte = length / 8; byte < 16; ++byte)
        address[byte] =
            static_cast<std::uint8_t>(byte == length / 8 ? address[byte] & ~(0xFFU >> length % 8) : 0);
    return {address, length};
}

Address v4(std::uint32_t address) {
    Address wide{};
    store_be<std::uint32_t>(wide.data(), address);
    return wide;
}

// The trie, and beside it every prefix in a map, which is also what says who covers whom.
struct Table {
    explicit Table(unsigned root_bits, std::size_t tables)
        : memory(PrefixTrie::entries(root_bits, tables)), trie(memory, root_bits), root(root_bits) {}

    bool set(const Prefix& prefix, std::uint32_t value) {
        if (!trie.set(prefix.address.data(), prefix.length, value)) return false;
        model[prefix] = value;
        return true;
    }
    void remove(Prefix prefix) {
        model.erase(prefix);
        const auto cover = covering(prefix.address, prefix.length);
        trie.remove(prefix.address.data(), prefix.length,
                    cover ? PrefixTrie::Cover{cover->first, cover->second} : PrefixTrie::Cover{});
    }
    // Length and value of the longest prefix up to `length` that covers the address.
    std::optional<std::pair<unsigned, std::uint32_t>> covering(const Address& address,
                                                               unsigned length) const {
        for (unsigned bits = length + 1; bits-- > 0;)
            if (const auto found = model.find(network(address, bits)); found != model.end())
                return std::pair(bits, found->second);
        return std::nullopt;
    }
    std::uint32_t wanted(const Address& address) const {
        const auto found = covering(address, 128);
        return found ? found->second : 0;
    }
    // A table for each step of 8 bits that a longer prefix needs.
    std::size_t tables_wanted() const {
        std::set<Prefix> tables;
        for (const auto& [prefix, value] : model)
            for (unsigned bits = root; bits < prefix.length; bits += 8)
                tables.insert(network(prefix.address, bits));
        return tables.size();
    }
    std::uint32_t found(const Address& address) const { return trie.lookup().find(address.data()); }

    std::vector<std::uint32_t> memory;
    PrefixTrie trie;
    unsigned root;
    std::map<Prefix, std::uint32_t> model;
};

// Few bits differ, so that prefixes nest and cover one another; some reach the top of the address space.
Address some_address(std::uint64_t drawn) {
    Address address{0x20, 1, 0x0D, 0xB8};
    if (drawn >> 62 == 0) address.fill(0xFF);
    if (drawn >> 62 == 1) address[0] = static_cast<std::uint8_t>(drawn >> 50);
    for (const unsigned byte : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 11U, 15U}) {
        address[byte] = static_cast<std::uint8_t>(address[byte] ^ (drawn & 3U));
        drawn >>= 2;
    }
    return address;
}

}  // namespace

TEST_GROUP(PrefixTrie){};

TEST(PrefixTrie, refusesWhatNeedsMoreTablesThanThereAre) {
    Table table(24, 3);
    CHECK_FALSE(table.set(network(v4(0x0A000000), 57), 7));  // five steps beyond the root
    CHECK_TRUE(table.set(network(v4(0x0A000000), 25), 7));
    CHECK_TRUE(table.set(network(v4(0x0A000100), 32), 8));
    CHECK_FALSE(table.set(network(v4(0x0A000200), 33), 9));  // two, and there is one
    LONGS_EQUAL(2, table.trie.tables_used());
    LONGS_EQUAL(0, table.found(v4(0x0A000200)));
    CHECK_TRUE(table.set(network(v4(0x0A000200), 32), 9));
    CHECK_FALSE(table.set(network(v4(0x0A000300), 32), 9));
    CHECK_TRUE(table.set(network(v4(0x0A000280), 25), 10));  // where there is a table already
    CHECK_TRUE(table.set(network(v4(0x0B000000), 24), 11));  // none is needed
    table.remove(network(v4(0x0A000000), 25));
    CHECK_TRUE(table.set(network(v4(0x0A000300), 32), 12));
    LONGS_EQUAL(12, table.found(v4(0x0A000300)));
    LONGS_EQUAL(3, table.trie.tables_used());
}

TEST(PrefixTrie, anEmptyOneKnowsNothing) {
    for (const unsigned root : {16U, 24U}) {
        const Table table(root, 1);
        for (const std::uint32_t address : {0U, 1U, 0x0A000001U, 0xFFFFFFFFU}) {
            LONGS_EQUAL(0, table.found(v4(address)));
            LONGS_EQUAL(0, table.trie.lookup().find(address));
        }
    }
}

TEST(PrefixTrie, everyLengthOfOnePrefix) {
    for (const unsigned root : {16U, 24U}) {
        Table table(root, 16);
        Address all;
        all.fill(0xAA);
        for (unsigned length = 0; length <= 128; ++length)
            CHECK_TRUE(table.set(network(all, length), 200 + length));
        LONGS_EQUAL(328, table.found(all));
        for (unsigned bit = 0; bit < 128; ++bit) {
            Address other = all;
            other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 0x80U >> bit % 8);
            LONGS_EQUAL(200 + bit, table.found(other));
        }
        for (unsigned length = 129; length-- > 0;) {
            table.remove(network(all, length));
            LONGS_EQUAL(length == 0 ? 0 : 199 + length, table.found(all));
            LONGS_EQUAL(table.tables_wanted(), table.trie.tables_used());
        }
    }
}

TEST(PrefixTrie, aDefaultRouteComesAndGoesOverRoutesThatCoverEverything) {
    for (const unsigned root : {16U, 24U}) {
        Table table(root, 1);
        const Prefix all = network({}, 0), low = network({}, 1), high = network({0x80}, 1);
        const auto holds = [&](std::uint32_t in_low, std::uint32_t in_high) {
            for (const std::uint32_t address : {0U, 0x0A000001U, 0x7FFFFFFFU})
                LONGS_EQUAL(in_low, table.trie.lookup().find(address));
            for (const std::uint32_t address : {0x80000000U, 0xC0000201U, 0xFFFFFFFFU})
                LONGS_EQUAL(in_high, table.trie.lookup().find(address));
        };
        CHECK_TRUE(table.set(all, 10));
        holds(10, 10);
        CHECK_TRUE(table.set(low, 11) && table.set(high, 12));
        holds(11, 12);
        table.remove(all);
        holds(11, 12);
        CHECK_TRUE(table.set(all, 13));
        holds(11, 12);
        table.remove(high);
        holds(11, 13);
        table.remove(low);
        table.remove(all);
        holds(0, 0);
    }
}

TEST(PrefixTrie, theLargestValueSurvives) {
    Table table(16, 16);
    constexpr std::uint32_t largest = (1U << PrefixTrie::value_bits) - 1;
    CHECK_TRUE(table.set(network(v4(0x0A000000), 8), largest));
    CHECK_TRUE(table.set(network(v4(0x0A000001), 128), largest - 1));
    LONGS_EQUAL(largest, table.found(v4(0x0A000002)));
    LONGS_EQUAL(largest - 1, table.found(v4(0x0A000001)));
}

TEST(PrefixTrie, answersAsAModelDoes) {
    for (const unsigned root : {16U, 24U}) {
        Table table(root, 400);
        unsigned refused = 0;
        for (std::uint64_t step = 0; step < 5'000; ++step) {
            const std::uint64_t drawn = draw({root, 5, 0, step});
            const Prefix prefix = network(some_address(draw({root, 6, 0, step})), drawn % 129);
            if (drawn >> 62 == 0) {
                if (table.model.contains(prefix)) table.remove(prefix);
            } else if (!table.set(prefix, 1 + drawn % 1000)) {
                ++refused;
            }
            // It may be full; then some go.
            while (table.model.size() > 300 + drawn % 200) table.remove(table.model.begin()->first);
            if (step % 8 == 0) LONGS_EQUAL(table.tables_wanted(), table.trie.tables_used());
            for (std::uint32_t i = 0; i < 4; ++i) {
                const Address asked = some_address(draw({root, 7, i, step}));
                LONGS_EQUAL(table.wanted(asked), table.found(asked));
            }
        }
        CHECK_TRUE(refused > 50 && refused < 3'000);
        while (!table.model.empty()) table.remove(table.model.begin()->first);
        LONGS_EQUAL(0, table.trie.tables_used());
    }
}

TEST(PrefixTrie, ipv4InHostOrderIsTheSame) {
    for (const unsigned root : {16U, 24U}) {
        Table table(root, 4000);
        const auto some = [](std::uint64_t drawn) {
            return static_cast<std::uint32_t>(0x0A000000U ^ (drawn & 0xC1030307U));
        };
        for (std::uint64_t step = 0; step < 5000; ++step) {
            const std::uint64_t drawn = draw({31, 4, 0, step});
            const Prefix prefix = network(v4(some(drawn)), (drawn >> 40) % 33);
            if (drawn >> 62 != 0)
                CHECK_TRUE(table.set(prefix, 1 + step));
            else if (table.model.contains(prefix))
                table.remove(prefix);
            const std::uint32_t asked = some(draw({32, 4, 0, step}));
            LONGS_EQUAL(table.wanted(v4(asked)), table.trie.lookup().find(asked));
            LONGS_EQUAL(table.wanted(v4(asked)), table.found(v4(asked)));
        }
    }
}

}  // namespace sluice::prefix_trie_test
