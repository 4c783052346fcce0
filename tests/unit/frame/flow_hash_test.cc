#include "lib/frame/flow_hash.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "lib/route/ecmp.hh"
#include "tests/unit/frames.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::flow_hash_test {
namespace {

using namespace sluice::frames;

struct Flow {
    std::uint32_t source = 0x0A000002;
    std::uint32_t destination = 0x0A000102;
    std::uint16_t source_port = 49152;
    std::uint16_t destination_port = roce_udp_port;
    std::uint32_t qp = 0;
    std::uint8_t protocol = ip_protocol::udp;
    bool is_v6 = false;
};

std::uint32_t hash_of(const Flow& flow, const HashKey& key = {}) {
    std::array<std::uint8_t, 40> l3{};
    const std::size_t source = flow.is_v6 ? 20 : 12;  // its last four bytes
    const std::size_t destination = flow.is_v6 ? 36 : 16;
    store_be<std::uint32_t>(&l3[source], flow.source);
    store_be<std::uint32_t>(&l3[destination], flow.destination);
    Parsed parsed;
    parsed.kind = flow.is_v6 ? FrameKind::ipv6 : FrameKind::ipv4;
    parsed.protocol = flow.protocol;
    parsed.roce = true;
    parsed.flow = {std::uint32_t{flow.source_port} << 16 | flow.destination_port, flow.qp, flow.protocol};
    return flow_hash(parsed, l3.data(), key);
}

// As the switch does, from a frame.
std::uint32_t hash_of_frame(const Frame& frame, const HashKey& key) {
    const Parsed parsed = parse(frame, static_cast<std::uint32_t>(frame.size()), station);
    CHECK_TRUE(parsed.drop == DropReason::none);
    return flow_hash(parsed, frame.data() + parsed.l3_offset, key);
}

// The ways in which flows of one data center differ: by a counter in one field.
std::vector<std::function<Flow(std::uint32_t)>> families() {
    return {
        [](std::uint32_t n) { return Flow{.source_port = static_cast<std::uint16_t>(n)}; },
        [](std::uint32_t n) { return Flow{.destination_port = static_cast<std::uint16_t>(n)}; },
        [](std::uint32_t n) { return Flow{.qp = 0x100 + n}; },
        [](std::uint32_t n) { return Flow{.qp = 0x100 + n, .is_v6 = true}; },
        [](std::uint32_t n) { return Flow{.source_port = static_cast<std::uint16_t>(n), .is_v6 = true}; },
        [](std::uint32_t n) { return Flow{.source = 0x0A000000 + n}; },
        [](std::uint32_t n) { return Flow{.destination = 0x0A000000 + (n << 8)}; },
        [](std::uint32_t n) { return Flow{.source = 0x0A000000 + n, .destination = 0x0A000000 + n}; },
        [](std::uint32_t n) { return Flow{.source = 0x0A000000 + n, .is_v6 = true}; },
        [](std::uint32_t n) {
            return Flow{.destination = n, .source_port = static_cast<std::uint16_t>(n % 7), .is_v6 = true};
        },
    };
}

// Sum of (seen - expected)^2 / expected; for k cells and a fair hash about k, with a standard deviation of
// sqrt(2k).
double chi_square(const std::vector<unsigned>& seen, double expected) {
    double sum = 0;
    for (const unsigned n : seen) sum += (n - expected) * (n - expected) / expected;
    return sum;
}

double limit(std::size_t k) { return static_cast<double>(k) + 5 * std::sqrt(2.0 * static_cast<double>(k)); }

}  // namespace

TEST_GROUP(FlowHash){};

TEST(FlowHash, spreadsEveryFamilyOfFlows) {
    constexpr unsigned flows = 16384, cells = 256;
    constexpr double expected = 64;  // flows / cells
    for (const auto& family : families()) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            std::vector<unsigned> upper(cells), lower(cells);
            for (std::uint32_t n = 0; n < flows; ++n) {
                const std::uint32_t hash = hash_of(family(n), {seed, true});
                ++upper[hash >> 24];
                ++lower[hash & 0xFF];
            }
            CHECK_TRUE(chi_square(upper, expected) < limit(cells));
            CHECK_TRUE(chi_square(lower, expected) < limit(cells));
        }
    }
}

TEST(FlowHash, everyFieldTakesPart) {
    const std::uint32_t base = hash_of({});
    CHECK_TRUE(hash_of({.source = 0x0A000003}) != base);
    CHECK_TRUE(hash_of({.destination = 0x0A000103}) != base);
    CHECK_TRUE(hash_of({.source_port = 49153}) != base);
    CHECK_TRUE(hash_of({.destination_port = 4792}) != base);
    CHECK_TRUE(hash_of({.protocol = ip_protocol::tcp}) != base);
    // Not symmetric: the way back is another flow.
    CHECK_TRUE(hash_of({.source = 0x0A000102, .destination = 0x0A000002}) != base);
}

TEST(FlowHash, everyBitOfAnAddressMovesHalfOfTheHash) {
    for (const bool is_v6 : {false, true}) {
        for (unsigned bit = 0; bit < 32; ++bit) {
            unsigned changed = 0;
            for (std::uint32_t n = 0; n < 1000; ++n) {
                const Flow one{.source = n * 2654435761U, .destination = n, .is_v6 = is_v6};
                Flow other = one;
                other.source ^= 1U << bit;
                changed += static_cast<unsigned>(std::popcount(hash_of(one) ^ hash_of(other)));
            }
            DOUBLES_EQUAL(16.0, changed / 1000.0, 0.5);
        }
    }
}

TEST(FlowHash, theSeedChangesThePath) {
    unsigned same = 0;
    for (std::uint32_t n = 0; n < 10'000; ++n) {
        const Flow flow{.source_port = static_cast<std::uint16_t>(n)};
        same += hash_of(flow, {1, false}) >> 30 == hash_of(flow, {2, false}) >> 30;
    }
    DOUBLES_EQUAL(0.25, same / 10'000.0, 0.025);
}

TEST(FlowHash, twoSwitchesWithTheirOwnSeedsAreNotPolarised) {
    // The flows that the first switch sends to one of its four links are spread by the second over all of its
    // own.
    const auto table = assign_buckets(std::vector<WeightedMember>{{0, 1}, {1, 1}, {2, 1}, {3, 1}}, 256);
    const auto pick = [&](std::uint32_t hash) {
        return pick_member(table.data(), 8, hash, [](std::uint32_t) { return true; });
    };
    const std::uint64_t seeds[] = {1, 2, 3, 4, 5, 1001, 0x1'0000'0001, ~0ULL};
    for (const auto& family : families()) {
        for (const std::uint64_t first : seeds) {
            for (const std::uint64_t second : seeds) {
                if (first == second) continue;
                std::vector<unsigned> seen(16);
                constexpr unsigned flows = 8000;
                for (std::uint32_t n = 0; n < flows; ++n) {
                    const Flow flow = family(n);
                    ++seen[pick(hash_of(flow, {first, true})) * 4 + pick(hash_of(flow, {second, true}))];
                }
                CHECK_TRUE(chi_square(seen, flows / 16.0) < limit(16));
            }
        }
    }
}

TEST(FlowHash, theQueuePairTakesPartOnlyWhenConfiguredAndOnlyOfRoce) {
    const Flow one{.qp = 0x100}, other{.qp = 0x101};
    LONGS_EQUAL(hash_of(one), hash_of(other));
    CHECK_TRUE(hash_of(one, {1, true}) != hash_of(other, {1, true}));
    const auto to_port = [](unsigned port, std::uint32_t qp) {
        return hash_of_frame(v4_frame(udp(49152, port, joined({bth(4, qp), Frame(20)}))), {1, true});
    };
    CHECK_TRUE(to_port(roce_udp_port, 0x100) != to_port(roce_udp_port, 0x101));
    LONGS_EQUAL(to_port(roce_udp_port + 1, 0x100), to_port(roce_udp_port + 1, 0x101));
    std::vector<unsigned> seen(64);
    for (std::uint32_t qp = 0; qp < 16'384; ++qp) ++seen[hash_of({.qp = qp}, {1, true}) >> 26];
    CHECK_TRUE(chi_square(seen, 256) < limit(64));
}

TEST(FlowHash, allFragmentsOfAPacketTakeOnePath) {
    // IPv6 too, where the first fragment may have a header of options between fragment and transport header.
    const auto chain = [](std::initializer_list<std::uint8_t> bytes) {
        return hash_of_frame(v6_frame(bytes, {.next = ip_protocol::fragment}), {1, true});
    };
    const std::uint32_t first = chain({17, 0, 0, 1, 0, 0, 0, 9, 0xC0, 0, 0x12, 0xB7, 0, 8, 0, 0});
    LONGS_EQUAL(first, chain({17, 0, 0, 9, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8}));
    const std::uint32_t optioned =
        chain({60, 0, 0, 1, 0, 0, 0, 9, 17, 0, 1, 4, 0, 0, 0, 0, 0xC0, 0, 0x12, 0xB7, 0, 8, 0, 0});
    LONGS_EQUAL(optioned, chain({60, 0, 0, 9, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace sluice::flow_hash_test
