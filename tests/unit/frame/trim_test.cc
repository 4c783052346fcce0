#include "lib/frame/trim.hh"

#include <vector>

#include "lib/values/rng.hh"
#include "tests/unit/frames.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::trim_test {
namespace {

using namespace frames;

constexpr std::uint64_t all_dscps = ~std::uint64_t{0};
constexpr TrimPolicy policy_of(std::uint16_t bytes) { return {all_dscps, bytes, 0x08, 11, 5, 5}; }
constexpr TrimPolicy usual = policy_of(128);
constexpr unsigned data_dscp = 26, ecn_bits = 2;
constexpr auto data_tos = static_cast<std::uint8_t>(data_dscp << 2 | ecn_bits);
constexpr auto trimmed_tos = static_cast<std::uint8_t>(11U << 2 | ecn_bits);

Frame counted(std::size_t bytes) {
    Frame payload(bytes);
    for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::uint8_t>(i * 7);
    return payload;
}

// What is left of a frame: by the rule, put together anew, with a checksum made anew. `l3`: where its IP
// header begins.
Frame expected(const Frame& frame, std::size_t l3, std::size_t bytes) {
    Frame left(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, frame.size())));
    if (l3 > 14) left[14] = static_cast<std::uint8_t>((left[14] & 0x1FU) | 5U << 5);
    const std::size_t room = left.size() - l3;
    if (left[l3] >> 4 == 6) {
        const std::size_t payload = load_be<std::uint16_t>(&frame[l3 + 4]);
        put16(left, l3 + 4, static_cast<unsigned>(std::min(payload, room - 40)));
        left[l3] = static_cast<std::uint8_t>((left[l3] & 0xF0U) | trimmed_tos >> 4);
        left[l3 + 1] = static_cast<std::uint8_t>((left[l3 + 1] & 0x0FU) | (trimmed_tos & 0xFU) << 4);
        return left;
    }
    const std::size_t length = load_be<std::uint16_t>(&frame[l3 + 2]);
    left[l3 + 1] = trimmed_tos;
    put16(left, l3 + 2, static_cast<unsigned>(std::min(length, room)));
    Frame ip(left.begin() + static_cast<std::ptrdiff_t>(l3), left.end());
    fix_checksum(ip);
    std::copy(ip.begin(), ip.end(), left.begin() + static_cast<std::ptrdiff_t>(l3));
    return left;
}

// The frame after trim_headers of its first `head` bytes, cut; empty: it was left alone.
Frame trimmed(Frame frame, const TrimPolicy& policy, std::size_t head = 256) {
    const Frame before = frame;
    const auto bytes = trim_headers(std::span(frame).first(std::min(head, frame.size())),
                                    static_cast<std::uint32_t>(frame.size()), policy);
    if (!bytes) {
        CHECK_TRUE(frame == before);
        return {};
    }
    CHECK_TRUE(*bytes <= frame.size());
    frame.resize(*bytes);
    return frame;
}

Frame ipv4_frame(std::size_t payload, const V4& set = {.tos = data_tos},
                 std::initializer_list<unsigned> tags = {}) {
    return ethernet(ether_type::ipv4, ipv4(udp(1000, 4791, counted(payload)), set), tags);
}
Frame ipv6_frame(std::size_t payload, const V6& set = {.traffic_class = data_tos},
                 std::initializer_list<unsigned> tags = {}) {
    return ethernet(ether_type::ipv6, ipv6(udp(1000, 4791, counted(payload)), set), tags);
}

void is_left_alone(const Frame& frame, const TrimPolicy& policy = usual) {
    CHECK_TRUE(trimmed(frame, policy).empty());
}

}  // namespace

TEST_GROUP(Trim){};

TEST(Trim, leavesAloneWhatIsNoUnicastIpPacket) {
    is_left_alone({});
    is_left_alone(Frame(13));
    is_left_alone(ethernet(ether_type::arp, counted(300)));
    is_left_alone(ethernet(ether_type::ipv4, counted(19)));  // no whole header
    is_left_alone(ethernet(ether_type::ipv6, counted(39)));
    is_left_alone(ipv4_frame(500, {.destination = 0xE0000001, .tos = data_tos}));
    is_left_alone(ipv4_frame(500, {.destination = 0xFFFFFFFF, .tos = data_tos}));
    is_left_alone(ipv6_frame(500, {.destination = v6(0xFF, 2, 1), .traffic_class = data_tos}));
    Frame group = ipv4_frame(500);
    group[0] |= 1;
    is_left_alone(group);
    is_left_alone(ipv4_frame(500, {.tos = data_tos}, {0x88A80001, 0x81000002, 0x91000003}));
}

TEST(Trim, leavesAloneWhatItsOwnHeaderContradicts) {
    const auto with = [](Frame frame, std::size_t at, std::uint8_t value) {
        frame[at] = value;
        return frame;
    };
    is_left_alone(with(ipv4_frame(500), 14, 0x55));  // version 5
    is_left_alone(with(ipv4_frame(500), 14, 0x44));  // a header of 16 bytes
    is_left_alone(with(ipv4_frame(500), 16, 0x7F));  // longer than the frame
    is_left_alone(with(with(ipv4_frame(500), 16, 0), 17, 19));
    is_left_alone(with(ipv6_frame(500), 14, 0x50));
    is_left_alone(with(ipv6_frame(500), 18, 0x7F));
}

TEST(Trim, leavesAloneOtherDscps) {
    TrimPolicy some = usual;
    some.trimmable = std::uint64_t{1} << data_dscp;
    CHECK_FALSE(trimmed(ipv4_frame(500), some).empty());
    CHECK_FALSE(trimmed(ipv6_frame(500), some).empty());
    some.trimmable = ~some.trimmable;
    is_left_alone(ipv4_frame(500), some);
    is_left_alone(ipv6_frame(500), some);
}

TEST(Trim, keepsSoManyBytesOfTheFrame) {
    for (const std::uint16_t bytes : {64, 74, 94, 128, 256, 1024})
        for (const std::size_t payload : {0, 1, 20, 60, 99, 100, 500, 1472, 8992}) {
            const TrimPolicy policy = policy_of(bytes);
            for (const auto& [frame, l3] :
                 {std::pair{ipv4_frame(payload), 14U},
                  {ipv4_frame(payload, {.tos = data_tos}, {0x8100E064}), 18U},
                  {ipv6_frame(payload), 14U},
                  {ipv6_frame(payload, {.traffic_class = data_tos}, {0x81000FFF}), 18U}})
                CHECK_TRUE(trimmed(frame, policy) == expected(frame, l3, bytes));
        }
}

TEST(Trim, givesAShortFrameANewDscpAndNothingElse) {
    const Frame frame = ipv4_frame(128 - 14 - 28);
    LONGS_EQUAL(128, frame.size());
    const Frame left = trimmed(frame, usual);
    LONGS_EQUAL(128, left.size());
    for (std::size_t i = 0; i < left.size(); ++i)
        if (i != 15 && i != 24 && i != 25) LONGS_EQUAL(frame[i], left[i]);  // TOS and checksum
}

TEST(Trim, leavesTheLengthOfAPacketInFrontOfPaddingAlone) {
    Frame frame = ipv4_frame(10);
    frame.resize(300);
    const Frame left = trimmed(frame, usual);
    LONGS_EQUAL(128, left.size());
    LONGS_EQUAL(38, load_be<std::uint16_t>(&left[16]));
}

TEST(Trim, keepsAnIpHeaderWhole) {
    const Frame frame = ipv4_frame(500, {.tos = data_tos, .options = 40}, {0x81000001});
    const Frame left = trimmed(frame, policy_of(64));
    LONGS_EQUAL(18 + 60, left.size());
    CHECK_TRUE(left == expected(frame, 18, 18 + 60));
    CHECK_FALSE(trimmed(frame, policy_of(64), 18 + 20).empty());  // options may lie elsewhere
}

TEST(Trim, keepsUdpLengthEcnAndTtl) {
    for (const unsigned ecn : {0U, 1U, 2U, 3U}) {
        const auto tos = static_cast<std::uint8_t>(data_dscp << 2 | ecn);
        const Frame v4 = trimmed(ipv4_frame(500, {.ttl = 9, .tos = tos}), usual);
        LONGS_EQUAL(11U << 2 | ecn, v4[15]);
        LONGS_EQUAL(9, v4[22]);
        LONGS_EQUAL(508, load_be<std::uint16_t>(&v4[38]));
        const Frame v6_left = trimmed(ipv6_frame(500, {.hops = 9, .traffic_class = tos}), usual);
        LONGS_EQUAL(11U << 2 | ecn, (v6_left[14] << 4 | v6_left[15] >> 4) & 0xFF);
        LONGS_EQUAL(9, v6_left[21]);
        LONGS_EQUAL(508, load_be<std::uint16_t>(&v6_left[58]));
    }
}

// The incremental checksum is the one made anew, for any header.
TEST(Trim, hasTheRightChecksum) {
    std::uint64_t drawn = 0;
    const auto next = [&](std::uint64_t below) { return draw({55, 0, 0, drawn++}) % below; };
    for (unsigned n = 0; n < 20'000; ++n) {
        const TrimPolicy policy = policy_of(static_cast<std::uint16_t>(64 + next(961)));
        Frame frame = ipv4_frame(next(1500), {.source = static_cast<std::uint32_t>(next(1ULL << 32)),
                                              .destination = static_cast<std::uint32_t>(next(0xE0000000)),
                                              .ttl = static_cast<std::uint8_t>(next(256)),
                                              .tos = data_tos,
                                              .fragment = static_cast<unsigned>(next(0x10000)),
                                              .options = static_cast<unsigned>(4 * next(11))});
        const std::size_t l4 = 14 + (frame[14] & 0xFU) * 4U;
        const Frame left = trimmed(frame, policy);
        CHECK_TRUE(left == expected(frame, 14, std::max<std::size_t>(policy.bytes, l4)));
    }
}

}  // namespace sluice::trim_test
