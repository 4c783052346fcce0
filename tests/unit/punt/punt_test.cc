#include "lib/punt/punt.hh"

#include <optional>
#include <vector>

#include "lib/frame/parse.hh"
#include "tests/unit/exact_copy.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::punt_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr MacAddress own{{2, 0, 0, 0, 0xFF, 1}};
constexpr MacAddress other{{2, 0, 0, 0, 0xFF, 2}};
constexpr MacAddress broadcast{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
constexpr MacAddress lldp{{1, 0x80, 0xC2, 0, 0, 0x0E}};
constexpr MacAddress group4{{1, 0, 0x5E, 0, 0, 5}};
constexpr MacAddress group6{{0x33, 0x33, 0, 0, 0, 1}};

Bytes frame(const MacAddress& to, std::uint16_t type, const Bytes& packet, unsigned tags = 0) {
    Bytes out(to.bytes.begin(), to.bytes.end());
    out.insert(out.end(), {2, 0, 0, 0, 0, 1});
    for (; tags != 0; --tags) out.insert(out.end(), {0x81, 0, 0, 7});
    out.push_back(static_cast<std::uint8_t>(type >> 8));
    out.push_back(static_cast<std::uint8_t>(type));
    out.insert(out.end(), packet.begin(), packet.end());
    return out;
}

Bytes v4(std::uint32_t to) {
    Bytes packet(40);
    packet[0] = 0x45;
    store_be<std::uint32_t>(&packet[16], to);
    return packet;
}

Bytes v6(std::uint16_t group, std::uint8_t next, std::uint8_t type = 0) {
    Bytes packet(48);
    packet[0] = 0x60;
    packet[6] = next;
    store_be<std::uint16_t>(&packet[24], group);
    packet[40] = type;
    return packet;
}

// "-" where it is dropped.
const char* class_of(DropReason reason, const Bytes& bytes) {
    const ExactCopy copy(bytes);
    const auto punt = punt_class(reason, copy.view(), own);
    return punt ? punt_class_texts[static_cast<std::size_t>(*punt)].name.data() : "-";
}

}  // namespace

TEST_GROUP(Punt){};

TEST(Punt, whatIsForForwardingOrBrokenIsNobodysBusiness) {
    const Bytes packet = frame(own, ether_type::ipv4, v4(0x0A000102));
    for (std::size_t n = 0; n < drop_reason_count; ++n) {
        const auto reason = static_cast<DropReason>(n);
        switch (reason) {
            case DropReason::not_ip:
            case DropReason::multicast:
            case DropReason::link_local:
            case DropReason::local_address:
            case DropReason::ttl_expired:
            case DropReason::mtu_exceeded:
            case DropReason::unresolved_next_hop:
                break;
            default:
                STRCMP_EQUAL("-", class_of(reason, packet));
        }
    }
}

TEST(Punt, framesThatAreTooShortToTellAreDropped) {
    const Bytes whole = frame(group6, ether_type::ipv6, v6(0xFF02, ip_protocol::icmpv6, 135));
    for (std::size_t bytes = 0; bytes < 14 + 40; ++bytes)
        STRCMP_EQUAL("-", class_of(DropReason::multicast,
                                   Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes))));
    STRCMP_EQUAL("control", class_of(DropReason::multicast, Bytes(whole.begin(), whole.begin() + 14 + 40)));
    STRCMP_EQUAL("-", class_of(DropReason::not_ip, Bytes(frame(broadcast, ether_type::arp, {}, 3))));
    STRCMP_EQUAL("-", class_of(DropReason::multicast, frame(broadcast, ether_type::ipv4, Bytes(19))));
}

TEST(Punt, notIp) {
    STRCMP_EQUAL("arp_nd", class_of(DropReason::not_ip, frame(broadcast, ether_type::arp, {})));
    STRCMP_EQUAL("arp_nd", class_of(DropReason::not_ip, frame(own, ether_type::arp, {}, 2)));
    STRCMP_EQUAL("-", class_of(DropReason::not_ip, frame(other, ether_type::arp, {})));
    STRCMP_EQUAL("control", class_of(DropReason::not_ip, frame(lldp, ether_type::lldp, {})));
    STRCMP_EQUAL("control", class_of(DropReason::not_ip, frame(own, 0x0026, {})));
    STRCMP_EQUAL("-", class_of(DropReason::not_ip, frame(other, ether_type::lldp, {})));
}

TEST(Punt, groupsOfTheLinkButNoOthers) {
    const auto reason = DropReason::multicast;
    STRCMP_EQUAL("control", class_of(reason, frame(group4, ether_type::ipv4, v4(0xE0000005))));
    STRCMP_EQUAL("control", class_of(reason, frame(group4, ether_type::ipv4, v4(0xE00000FF))));
    STRCMP_EQUAL("-", class_of(reason, frame(group4, ether_type::ipv4, v4(0xE0000100))));
    STRCMP_EQUAL("-", class_of(reason, frame(group4, ether_type::ipv4, v4(0xEF000001))));
    STRCMP_EQUAL("control", class_of(reason, frame(broadcast, ether_type::ipv4, v4(0xFFFFFFFF))));
    STRCMP_EQUAL("control", class_of(reason, frame(group6, ether_type::ipv6, v6(0xFF02, 89))));
    STRCMP_EQUAL("control", class_of(reason, frame(group6, ether_type::ipv6, v6(0xFF31, 89))));
    STRCMP_EQUAL("-", class_of(reason, frame(group6, ether_type::ipv6, v6(0xFF05, 89))));
    STRCMP_EQUAL("-", class_of(reason, frame(group6, ether_type::ipv6, v6(0xFE02, 89))));
}

TEST(Punt, neighborDiscoveryIsToldFromOtherIcmp) {
    for (unsigned type = 0; type < 256; ++type) {
        const bool nd = type >= 133 && type <= 137;
        const Bytes packet =
            frame(group6, ether_type::ipv6, v6(0xFF02, ip_protocol::icmpv6, static_cast<std::uint8_t>(type)));
        STRCMP_EQUAL(nd ? "arp_nd" : "control", class_of(DropReason::multicast, packet));
        STRCMP_EQUAL(nd ? "arp_nd" : "local", class_of(DropReason::link_local, packet));
        STRCMP_EQUAL(nd ? "arp_nd" : "local", class_of(DropReason::local_address, packet));
    }
}

TEST(Punt, whatThePacketPathFoundOut) {
    const Bytes packet = frame(own, ether_type::ipv4, v4(0x0A000102));
    STRCMP_EQUAL("local", class_of(DropReason::local_address, packet));
    STRCMP_EQUAL("ttl", class_of(DropReason::ttl_expired, packet));
    STRCMP_EQUAL("mtu", class_of(DropReason::mtu_exceeded, packet));
    STRCMP_EQUAL("unresolved", class_of(DropReason::unresolved_next_hop, packet));
}

TEST_GROUP(PuntLimits) {
    TokenBucket bucket;
    // How many of `offered` packets at one moment are let through.
    unsigned taken(Time now, unsigned offered) {
        unsigned count = 0;
        for (; offered != 0 && bucket.may_send(now); --offered, ++count) bucket.spend(1, now);
        return count;
    }
};

TEST(PuntLimits, aBurstAndThenTheRate) {
    configure(bucket, {100, 16});
    LONGS_EQUAL(16, taken(Time{} + seconds(1), 50));
    LONGS_EQUAL(0, taken(Time{} + seconds(1) + milliseconds(10) - Duration{1}, 50));
    LONGS_EQUAL(1, taken(Time{} + seconds(1) + milliseconds(10), 50));
    LONGS_EQUAL(5, taken(Time{} + seconds(1) + milliseconds(60), 50));
    LONGS_EQUAL(16, taken(Time{} + seconds(9), 50));
}

TEST(PuntLimits, oneAtATimeAndNoneAtAll) {
    configure(bucket, {1, 1});
    LONGS_EQUAL(1, taken(Time{}, 5));
    LONGS_EQUAL(0, taken(Time{} + seconds(1) - Duration{1}, 5));
    LONGS_EQUAL(1, taken(Time{} + seconds(1), 5));
    configure(bucket, {0, 1});
    CHECK_FALSE(bucket.limits());
}

}  // namespace sluice::punt_test
