#include "lib/frame/parse.hh"
#include "lib/frame/ip_address.hh"

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/unit/frame/parse_exact.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::parse_test {

using namespace sluice::frames;

// Octets that are not judged have no reason, whatever follows; judged ones have one for some address.
static_assert([] {
    for (unsigned octet = 0; octet < 256; ++octet) {
        const std::uint32_t v4 = octet << 24;
        const bool has_v4_reason = judge_ipv4_by_rules(v4, v4) != DropReason::none ||
                                   judge_ipv4_by_rules(v4 | 0xFE'0000, v4 | 0xFE'0000) != DropReason::none;
        if (has_v4_reason != judged_ipv4_octets[octet]) return false;
        Ipv6Octets low{}, high{};
        low[0] = high[0] = static_cast<std::uint8_t>(octet);
        high[1] = 0x80;
        const bool has_v6_reason =
            judge_ipv6(low, low) != DropReason::none || judge_ipv6(high, high) != DropReason::none;
        if (has_v6_reason != is_judged_ipv6_octet(low[0])) return false;
    }
    return true;
}());

TEST_GROUP(Parse){};

TEST(Parse, plainIpv4) {
    const Parsed parsed = accepts(v4_frame(udp(1000, 2000, Frame(18)), {.tos = 26 << 2 | 2}));
    CHECK_TRUE(parsed.kind == FrameKind::ipv4);
    LONGS_EQUAL(14, parsed.l3_offset);
    LONGS_EQUAL(46, parsed.ip_bytes);
    LONGS_EQUAL(26, parsed.dscp());
    CHECK_TRUE(parsed.ecn() == Ecn::ect0);
    LONGS_EQUAL(ip_protocol::udp, parsed.protocol);
    LONGS_EQUAL(1000, parsed.flow.source_port());
    LONGS_EQUAL(2000, parsed.flow.destination_port());
    LONGS_EQUAL(0, parsed.tags);
    CHECK_FALSE(parsed.fragment || parsed.roce || parsed.cnp);
}

TEST(Parse, plainIpv6) {
    const Parsed parsed = accepts(v6_frame(udp(1000, 2000), {.traffic_class = 48 << 2 | 3}));
    CHECK_TRUE(parsed.kind == FrameKind::ipv6);
    LONGS_EQUAL(14, parsed.l3_offset);
    LONGS_EQUAL(48, parsed.ip_bytes);
    LONGS_EQUAL(48, parsed.dscp());
    CHECK_TRUE(parsed.ecn() == Ecn::ce);
    LONGS_EQUAL(1000, parsed.flow.source_port());
    LONGS_EQUAL(2000, parsed.flow.destination_port());
}

TEST(Parse, everyTrafficClass) {
    for (unsigned tos = 0; tos < 256; ++tos) {
        const auto octet = static_cast<std::uint8_t>(tos);
        for (const Parsed& parsed :
             {accepts(v4_frame({}, {.tos = octet})), accepts(v6_frame({}, {.traffic_class = octet}))}) {
            LONGS_EQUAL(tos >> 2, parsed.dscp());
            LONGS_EQUAL(tos & 3, static_cast<int>(parsed.ecn()));
        }
    }
}

TEST(Parse, paddingIsNotPartOfThePacket) {
    LONGS_EQUAL(28, accepts(joined({v4_frame(udp(1, 2)), Frame(18)})).ip_bytes);
    LONGS_EQUAL(48, accepts(joined({v6_frame(udp(1, 2)), Frame(200)})).ip_bytes);
    // BTH and ports that lie in the padding are none.
    const Parsed parsed = accepts(joined({v4_frame(udp(1, roce_udp_port)), bth(cnp_opcode, 5), Frame(20)}));
    CHECK_FALSE(parsed.roce || parsed.cnp);
    LONGS_EQUAL(0, accepts(joined({v4_frame({}), udp(1, 2)})).flow.destination_port());
}

TEST(Parse, tags) {
    for (unsigned pcp = 0; pcp < 8; ++pcp) {
        const unsigned tci = pcp << 13 | 0x1005;
        const Parsed one = accepts(ethernet(ether_type::ipv4, ipv4(roce()), {vlan | tci}));
        LONGS_EQUAL(1, one.tags);
        LONGS_EQUAL(pcp, one.pcp);
        LONGS_EQUAL(18, one.l3_offset);
        const Parsed two = accepts(ethernet(ether_type::ipv6, ipv6(roce()), {qinq | tci, vlan | 0x4007}));
        LONGS_EQUAL(2, two.tags);
        LONGS_EQUAL(pcp, two.pcp);  // of the outer one
        LONGS_EQUAL(22, two.l3_offset);
        CHECK_TRUE(one.roce && two.roce);
    }
    LONGS_EQUAL(2, accepts(ethernet(ether_type::ipv4, ipv4({}), {old | 1, old | 2})).tags);
}

TEST(Parse, options) {
    for (unsigned bytes = 4; bytes <= 40; bytes += 4) {
        const Parsed parsed = accepts(v4_frame(roce(4, 0xABCDEF), {.options = bytes}));
        CHECK_TRUE(parsed.roce);
        LONGS_EQUAL(0xABCDEF, parsed.flow.destination_qp());
        LONGS_EQUAL(49152, parsed.flow.source_port());
    }
}

TEST(Parse, extensionHeaders) {
    const Frame payload =
        joined({extension(ip_protocol::routing, 16), extension(ip_protocol::authentication, 24),
                Frame{ip_protocol::destination_options, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                      0},  // AH: (2 + 2) * 4
                extension(ip_protocol::udp, 8), roce(cnp_opcode, 9)});
    const Parsed parsed = accepts(v6_frame(payload, {.next = ip_protocol::hop_by_hop}));
    LONGS_EQUAL(ip_protocol::udp, parsed.protocol);
    CHECK_TRUE(parsed.roce && parsed.cnp);
    LONGS_EQUAL(9, parsed.flow.destination_qp());
    CHECK_FALSE(parsed.fragment);
    // A chain may end in what we do not know, or in nothing, or with the packet.
    LONGS_EQUAL(59, accepts(v6_frame(extension(59, 8), {.next = 0})).protocol);
    LONGS_EQUAL(17, accepts(v6_frame(extension(17, 8), {.next = 0})).protocol);
    LONGS_EQUAL(50, accepts(v6_frame(Frame(3), {.next = 50})).protocol);
}

TEST(Parse, fragments) {
    // The first has a transport header, but all fragments of a packet must look alike to the hash: no ports.
    for (const unsigned field : {0x2000U, 0x2001U, 0x0001U, 0x1FFFU, 0x3FFFU}) {
        const Parsed parsed = accepts(v4_frame(roce(4, 0x77), {.fragment = field}));
        CHECK_TRUE(parsed.fragment);
        LONGS_EQUAL((field & 0x1FFF) == 0, parsed.roce);
        LONGS_EQUAL(
            0, parsed.flow.source_port() + parsed.flow.destination_port() + parsed.flow.destination_qp());
    }
    CHECK_FALSE(accepts(v4_frame(roce(), {.fragment = 0x4000})).fragment);  // only "do not fragment"
    for (const unsigned field : {0x0001U, 0x0008U, 0xFFF9U, 0xFFF8U}) {
        const Parsed parsed =
            accepts(v6_frame(joined({fragment_header(ip_protocol::udp, field), roce(4, 0x77)}),
                             {.next = ip_protocol::fragment}));
        CHECK_TRUE(parsed.fragment);
        LONGS_EQUAL((field & 0xFFF8) == 0, parsed.roce);
        LONGS_EQUAL(ip_protocol::udp, parsed.protocol);
        LONGS_EQUAL(
            0, parsed.flow.source_port() + parsed.flow.destination_port() + parsed.flow.destination_qp());
    }
    // An atomic fragment is a whole packet (RFC 6946).
    const Parsed atomic = accepts(v6_frame(joined({fragment_header(ip_protocol::udp, 0), roce(4, 0x77)}),
                                           {.next = ip_protocol::fragment}));
    CHECK_FALSE(atomic.fragment);
    CHECK_TRUE(atomic.roce);
    LONGS_EQUAL(0x77, atomic.flow.destination_qp());
}

TEST(Parse, roce) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        const auto octet = static_cast<std::uint8_t>(opcode);
        for (const Parsed& parsed : {accepts(v4_frame(roce(octet))), accepts(v6_frame(roce(octet)))}) {
            CHECK_TRUE(parsed.roce);
            LONGS_EQUAL(opcode, parsed.opcode);
            LONGS_EQUAL(opcode == 0x81, parsed.cnp);
            LONGS_EQUAL(0x123456, parsed.flow.destination_qp());
        }
    }
    CHECK_FALSE(accepts(v4_frame(udp(roce_udp_port, 5, Frame(40)))).roce);  // the source port says nothing
    CHECK_FALSE(accepts(v4_frame(roce(), {.protocol = ip_protocol::tcp})).roce);
}

TEST(Parse, aShortBthIsPlainUdp) {
    for (std::size_t bytes = 0; bytes < 12; ++bytes) {
        for (const Parsed& parsed : {accepts(v4_frame(udp(1, roce_udp_port, Frame(bytes)))),
                                     accepts(v6_frame(udp(1, roce_udp_port, Frame(bytes))))}) {
            CHECK_FALSE(parsed.roce || parsed.cnp);
            LONGS_EQUAL(roce_udp_port, parsed.flow.destination_port());
            LONGS_EQUAL(0, parsed.flow.destination_qp());
        }
    }
    CHECK_TRUE(accepts(v4_frame(udp(1, roce_udp_port, bth(4, 1)))).roce);
}

TEST(Parse, aTransportHeaderThatIsCutHasNoPorts) {
    for (std::size_t bytes = 0; bytes < 4; ++bytes) {
        const Parsed parsed = accepts(v4_frame(Frame(bytes, 0xFF)));
        LONGS_EQUAL(0, parsed.flow.source_port() + parsed.flow.destination_port());
    }
    LONGS_EQUAL(0xFFFF, accepts(v4_frame(Frame(4, 0xFF))).flow.destination_port());
    LONGS_EQUAL(443, accepts(v4_frame(udp(5, 443), {.protocol = ip_protocol::tcp})).flow.destination_port());
    LONGS_EQUAL(0, accepts(v4_frame(udp(5, 443), {.protocol = ip_protocol::icmp})).flow.destination_port());
}

TEST(Parse, theCnpOfARealAdapter) {
    const char* hex =
        "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118"
        "000000000000000000000000000000000000000082fd002a";
    Frame frame;
    for (const char* at = hex; *at != 0; at += 2)
        frame.push_back(static_cast<std::uint8_t>(std::stoul(std::string(at, 2), nullptr, 16)));
    const Parsed parsed = accepts(frame, {{{0xE4, 0x1D, 0x2D, 0xAB, 0x2B, 0xC2}}, false});
    CHECK_TRUE(parsed.cnp);
    LONGS_EQUAL(0x118, parsed.flow.destination_qp());
    LONGS_EQUAL(48, parsed.dscp());
    CHECK_TRUE(parsed.ecn() == Ecn::ect0);
}

TEST(Parse, macControlIsNoIpAndNeverRefused) {
    for (const std::size_t bytes : {0, 2, 20, 46}) {
        const Parsed parsed = accepts(ethernet(ether_type::mac_control, Frame(bytes)));
        CHECK_TRUE(parsed.kind == FrameKind::mac_control);
    }
    CHECK_TRUE(accepts(with(ethernet(ether_type::mac_control, Frame(46)), 0, 1)).kind ==
               FrameKind::mac_control);
    CHECK_TRUE(parse_exact(ethernet(ether_type::mac_control, Frame(46), {vlan})).drop == DropReason::not_ip);
}

}  // namespace sluice::parse_test
