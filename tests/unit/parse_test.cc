#include "lib/parse.hh"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "lib/parse_usual.hh"
#include "lib/rng.hh"
#include "tests/unit/exact_copy.hh"
#include "tests/unit/frames.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;
using namespace sluice::frames;

Frame cut(Frame frame, std::size_t bytes) {
    frame.resize(bytes);
    return frame;
}
Frame with(Frame frame, std::size_t at, unsigned value) {
    frame[at] = static_cast<std::uint8_t>(value);
    return frame;
}

// Parses as the switch does: the first 256 bytes, in a heap block of exactly that size.
Parsed parse_exact(const Frame& frame, const Station& where = station) {
    const ExactCopy copy(
        std::span<const std::uint8_t>(frame).first(std::min(frame.size(), parse_view_bytes)));
    return parse(copy.view(), static_cast<std::uint32_t>(frame.size()), where);
}

void refuses(DropReason reason, const Frame& frame) {
    STRCMP_EQUAL(std::string(to_string(reason)).c_str(),
                 std::string(to_string(parse_exact(frame).drop)).c_str());
}

Parsed accepts(const Frame& frame, const Station& where = station) {
    const Parsed parsed = parse_exact(frame, where);
    STRCMP_EQUAL("none", std::string(to_string(parsed.drop)).c_str());
    CHECK_TRUE(parsed.l3_offset + parsed.ip_bytes <= frame.size());
    return parsed;
}

constexpr unsigned vlan = 0x8100U << 16;
constexpr unsigned qinq = 0x88A8U << 16;
constexpr unsigned old = 0x9100U << 16;

}  // namespace

TEST_GROUP(Parse){};

TEST(Parse, refusesWhatIsShorterThanItsHeaders) {
    for (std::size_t bytes = 0; bytes < 14; ++bytes)
        refuses(DropReason::frame_too_short, cut(v4_frame(), bytes));
    for (std::size_t bytes = 14; bytes < 18; ++bytes)
        refuses(DropReason::frame_too_short, cut(ethernet(ether_type::ipv4, ipv4({}), {vlan | 5}), bytes));
    for (std::size_t bytes = 18; bytes < 22; ++bytes)
        refuses(DropReason::frame_too_short,
                cut(ethernet(ether_type::ipv4, ipv4({}), {qinq | 5, vlan | 5}), bytes));
}

TEST(Parse, refusesWhatIsLongerThanTheLargestFrame) {
    refuses(DropReason::frame_too_long, v4_frame(udp(1, 2, Frame(9238 - 14 - 28 + 1))));
    accepts(v4_frame(udp(1, 2, Frame(9238 - 14 - 28))));
    refuses(DropReason::frame_too_long, v4_frame(udp(1, 2, Frame(60000))));
}

TEST(Parse, refusesAThirdTag) {
    refuses(DropReason::too_many_tags, ethernet(ether_type::ipv4, ipv4({}), {vlan, vlan, vlan}));
    refuses(DropReason::too_many_tags, ethernet(ether_type::ipv4, ipv4({}), {qinq, vlan, old}));
    refuses(DropReason::too_many_tags, ethernet(0x8100, {}, {vlan, vlan}));  // nothing behind its type
}

TEST(Parse, refusesWhatIsNotIp) {
    for (const unsigned type :
         {0x0000U, 0x0600U, 0x05DCU, 0x0806U, 0x88CCU, 0x88B5U, 0xFFFFU, 0x0801U, 0x86DCU})
        refuses(DropReason::not_ip, ethernet(type, Frame(46)));
    refuses(DropReason::not_ip, ethernet(ether_type::arp, Frame(28), {vlan | 7}));
    refuses(DropReason::not_ip, with(ethernet(ether_type::arp, Frame(28)), 0, 0xFF));
}

TEST(Parse, refusesGroupAddresses) {
    refuses(DropReason::multicast, with(v4_frame(), 0, 3));
    refuses(DropReason::multicast, with(v6_frame(), 0, 0x33));
    refuses(DropReason::multicast, with(v4_frame(), 0, 0xFF));
    refuses(DropReason::multicast, v4_frame({}, {.destination = 0xE0000001}));
    refuses(DropReason::multicast, v4_frame({}, {.destination = 0xEFFFFFFF}));
    refuses(DropReason::multicast, v6_frame({}, {.destination = v6(0xFF, 2, 1)}));
    refuses(DropReason::group_source, with(v4_frame(), 6, 3));
    refuses(DropReason::group_source, with(v6_frame(), 6, 0xFF));
}

TEST(Parse, refusesWhatIsForAnotherStation) {
    for (std::size_t at = 0; at < 6; ++at) refuses(DropReason::not_for_us, with(v4_frame(), at, 0x40));
    accepts(with(v4_frame(), 5, 0x40), {station.mac, true});
    const Parsed group = parse_exact(with(v4_frame(), 0, 3), {station.mac, true});
    CHECK_TRUE(group.drop == DropReason::multicast);  // promiscuous is for unicast only
}

TEST(Parse, refusesAVersionThatIsNotOfTheType) {
    for (unsigned version = 0; version < 16; ++version) {
        if (version != 4) refuses(DropReason::ip_bad_version, with(v4_frame(), 14, version << 4 | 5));
        if (version != 6) refuses(DropReason::ip_bad_version, with(v6_frame(), 14, version << 4));
    }
}

TEST(Parse, refusesIpv4HeaderLengthsThatCannotBe) {
    for (unsigned words = 0; words < 5; ++words)
        refuses(DropReason::ip_bad_header_length, with(v4_frame(), 14, 0x40 | words));
    refuses(DropReason::ip_bad_header_length, with(v4_frame(udp(1, 2)), 14, 0x4F));  // 60 bytes of 28
}

TEST(Parse, refusesLengthsThatCannotBe) {
    for (std::size_t bytes = 14; bytes < 34; ++bytes)
        refuses(DropReason::ip_bad_length, cut(v4_frame(), bytes));
    for (std::size_t bytes = 14; bytes < 54; ++bytes)
        refuses(DropReason::ip_bad_length, cut(v6_frame(), bytes));
    Frame shorter = ipv4(Frame(26));
    put16(shorter, 2, 19);
    fix_checksum(shorter);
    refuses(DropReason::ip_bad_length, ethernet(ether_type::ipv4, shorter));
    refuses(DropReason::ip_bad_length, cut(v4_frame(), v4_frame().size() - 1));
    refuses(DropReason::ip_bad_length, cut(v6_frame(), v6_frame().size() - 1));
    Frame options = ipv4(udp(1, 2), {.options = 12});
    put16(options, 2, 31);
    fix_checksum(options);
    refuses(DropReason::ip_bad_length, ethernet(ether_type::ipv4, options));  // below its own header
}

TEST(Parse, refusesEveryFlippedBitOfAnIpv4Header) {
    for (const unsigned options : {0U, 4U, 40U}) {
        const Frame good = v4_frame(udp(1, 2, Frame(64)), {.options = options});
        accepts(good);
        for (std::size_t bit = 0; bit < (20 + options) * 8; ++bit) {
            Frame bad = good;
            bad[14 + bit / 8] = static_cast<std::uint8_t>(bad[14 + bit / 8] ^ 1U << bit % 8);
            CHECK_TRUE(parse_exact(bad).drop != DropReason::none);
        }
    }
    refuses(DropReason::ip_bad_checksum, with(v4_frame(), 24, v4_frame()[24] ^ 1));
    refuses(DropReason::ip_bad_checksum, with(v4_frame(udp(1, 2), {.options = 40}), 73, 0x55));
}

TEST(Parse, refusesHeadersBeyondTheView) {
    // Hop-by-hop and destination options up to the 256 bytes that parse sees; the frame goes on.
    for (unsigned bytes = 8; bytes <= 400; bytes += 8) {
        Frame payload = roce();
        std::uint8_t next = ip_protocol::udp;
        for (unsigned left = bytes; left != 0; left -= 8) {
            payload = joined({extension(next, 8), payload});
            next = left == 8 ? ip_protocol::hop_by_hop : ip_protocol::destination_options;
        }
        const Frame frame =
            v6_frame(joined({payload, Frame(300)}), {.next = ip_protocol::destination_options});
        const std::size_t end = 54 + bytes + 8 + 12;
        if (end > parse_view_bytes)
            refuses(DropReason::headers_too_long, frame);
        else
            CHECK_TRUE(accepts(frame).roce);
    }
}

TEST(Parse, refusesExtensionHeadersBeyondThePacket) {
    for (const std::uint8_t kind :
         {ip_protocol::hop_by_hop, ip_protocol::routing, ip_protocol::destination_options,
          ip_protocol::authentication, ip_protocol::fragment}) {
        for (std::size_t bytes = 0; bytes < 8; ++bytes)
            refuses(DropReason::ipv6_bad_extension, v6_frame(Frame(bytes), {.next = kind}));
        if (kind == ip_protocol::fragment) continue;
        Frame longer = extension(ip_protocol::udp, 16);
        longer.resize(8);
        refuses(DropReason::ipv6_bad_extension, v6_frame(longer, {.next = kind}));
    }
    Frame longest = extension(ip_protocol::udp, 8);
    longest[1] = 0xFF;
    refuses(DropReason::ipv6_bad_extension, v6_frame(longest, {.next = ip_protocol::routing}));
}

TEST(Parse, refusesSourcesThatNoHostMayHave) {
    for (const std::uint32_t source : {0x00000000U, 0x00FFFFFFU, 0x7F000000U, 0x7F000001U, 0x7FFFFFFFU,
                                       0xE0000000U, 0xEFFFFFFFU, 0xF0000000U, 0xFFFFFFFFU})
        refuses(DropReason::martian_source, v4_frame({}, {.source = source}));
    for (const V6Address& source : {v6(0, 0, 0), v6(0, 0, 1), v6(0xFF, 0, 0), v6(0xFF, 0x0E, 9)})
        refuses(DropReason::martian_source, v6_frame({}, {.source = source}));
    for (const std::uint32_t source : {0x01000000U, 0x7EFFFFFFU, 0x80000000U, 0xDFFFFFFFU})
        accepts(v4_frame({}, {.source = source}));
    for (const V6Address& source : {v6(0, 0, 2), v6(0, 1, 0), v6(0xFC, 0, 1), v6(0xFE, 0xC0, 1)})
        accepts(v6_frame({}, {.source = source}));
}

TEST(Parse, refusesDestinationsThatAreNeverRouted) {
    for (const std::uint32_t to : {0x00000000U, 0x00000001U, 0x7F000001U, 0xF0000000U, 0xFFFFFFFFU})
        refuses(DropReason::martian_destination, v4_frame({}, {.destination = to}));
    for (const V6Address& to : {v6(0, 0, 0), v6(0, 0, 1)})
        refuses(DropReason::martian_destination, v6_frame({}, {.destination = to}));
}

TEST(Parse, refusesLinkLocalAddresses) {
    for (const std::uint32_t address : {0xA9FE0000U, 0xA9FEFFFFU}) {
        refuses(DropReason::link_local, v4_frame({}, {.source = address}));
        refuses(DropReason::link_local, v4_frame({}, {.destination = address}));
    }
    for (const V6Address& address : {v6(0xFE, 0x80, 1), v6(0xFE, 0xBF, 1)}) {
        refuses(DropReason::link_local, v6_frame({}, {.source = address}));
        refuses(DropReason::link_local, v6_frame({}, {.destination = address}));
    }
    accepts(v4_frame({}, {.source = 0xA9FD0001, .destination = 0xA9FF0001}));
    accepts(v6_frame({}, {.source = v6(0xFE, 0x7F, 1), .destination = v6(0xFE, 0xC0, 1)}));
}

TEST(Parse, refusesWhatHasNoHopLeft) {
    for (const std::uint8_t ttl : {0, 1}) {
        refuses(DropReason::ttl_expired, v4_frame({}, {.ttl = ttl}));
        refuses(DropReason::ttl_expired, v6_frame({}, {.hops = ttl}));
    }
    accepts(v4_frame({}, {.ttl = 2}));
    accepts(v6_frame({}, {.hops = 2}));
}

TEST(Parse, mustNotLookBehindTheEndOfAnyPrefix) {
    // Whatever a frame is, every prefix of it is judged without a read too far (the sanitizers watch).
    const Frame frames[] = {
        v4_frame(roce(), {.options = 40}),
        ethernet(ether_type::ipv4, ipv4(roce(cnp_opcode)), {qinq | 0x6005, vlan | 5}),
        v6_frame(joined({extension(ip_protocol::fragment, 24), fragment_header(ip_protocol::udp, 1), roce()}),
                 {.next = ip_protocol::hop_by_hop}),
        v6_frame(joined({extension(ip_protocol::authentication, 200), Frame(60)}),
                 {.next = ip_protocol::routing})};
    for (const Frame& frame : frames)
        for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
            CHECK_TRUE(parse_exact(cut(frame, bytes)).drop != DropReason::none);
}

TEST(Parse, stopsAtTheFirstThatIsWrong) {
    // Everything is wrong here; the catalogue's order says what is told.
    Frame frame = v4_frame({}, {.source = 0x7F000001, .destination = 0xFFFFFFFF, .ttl = 0});
    frame[24] ^= 1;
    refuses(DropReason::ip_bad_checksum, frame);
    refuses(DropReason::not_for_us, with(frame, 5, 9));
    refuses(DropReason::multicast, with(frame, 0, 3));
    refuses(DropReason::martian_source,
            v4_frame({}, {.source = 0x7F000001, .destination = 0xFFFFFFFF, .ttl = 0}));
}

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

// RoCEv2 with one to three bytes of its headers changed, IPv4's checksum mended in half of them, cut in some.
template <unsigned tags>
void compare_shortcut(bool v4) {
    const Frame payload = udp(4792, roce_udp_port, Frame(40));
    const unsigned type = v4 ? ether_type::ipv4 : ether_type::ipv6;
    const Frame ip = v4 ? ipv4(payload) : ipv6(payload);
    const Frame roce_frame = tags == 1 ? ethernet(type, ip, {vlan | 0xA005}) : ethernet(type, ip);
    constexpr std::size_t l3 = UsualFrames<tags>::l3_offset;
    const Station anybody{{}, true};
    const std::size_t headers = roce_frame.size() - 28;
    unsigned taken = 0;
    constexpr unsigned trials = 200'000;
    for (unsigned trial = 0; trial < trials; ++trial) {
        std::uint64_t random = draw({1, 0, 0, trial});
        Frame frame = roce_frame;
        for (unsigned changes = random % 4; changes != 0; --changes) {
            random = scramble(random);
            // Few values of a byte are special, and those are near the ones that are there.
            const std::size_t at = random % (headers + 6);
            const unsigned value = (random >> 8 & 1U) != 0 ? static_cast<unsigned>(random >> 16) & 0xFFU
                                                           : frame[at] ^ 1U << (random >> 16 & 7U);
            frame[at] = static_cast<std::uint8_t>(value);
        }
        random = scramble(random);
        if (v4 && (random & 1U) != 0) {
            put16(frame, l3 + 10, 0);
            put16(frame, l3 + 10, internet_checksum(std::span<const std::uint8_t>(frame).subspan(l3, 20)));
        }
        if ((random >> 1 & 15U) == 0) frame.resize(random >> 8 & (v4 ? 63U : 127U));
        const Station& where = (random >> 5 & 7U) == 0 ? anybody : station;
        const ExactCopy copy(frame);
        const auto bytes = static_cast<std::uint32_t>(frame.size());
        const Parsed whole = parse_any(copy.view(), bytes, where);
        Parsed usual;
        const int key = parse_usual(copy.view().data(), bytes, bytes, UsualFrames<tags>(where), usual);
        if (key == not_usual) continue;
        LONGS_EQUAL(usual.class_key(), key);
        ++taken;
        CHECK_TRUE(whole == usual);
    }
    CHECK_TRUE(taken > trials / 4);
    CHECK_TRUE(taken < trials * 7 / 8);
}

TEST(Parse, theShortcutSaysWhatTheWholeParserSays) {
    compare_shortcut<0>(true);
    compare_shortcut<1>(true);
}

TEST(Parse, theShortcutSaysSoOfIpv6) {
    compare_shortcut<0>(false);
    compare_shortcut<1>(false);
}

// Every first octet of either address: those that rules speak of are left to the rules.
TEST(Parse, theShortcutLeavesJudgedAddressesToTheRules) {
    for (unsigned octet = 0; octet < 256; ++octet) {
        for (const std::size_t at : {22U, 38U}) {
            for (const bool last_is_one : {false, true}) {
                Frame frame = v6_frame(udp(4792, roce_udp_port, Frame(40)));
                std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(at), 16, std::uint8_t{0});
                frame[at] = static_cast<std::uint8_t>(octet);
                frame[at + 15] = last_is_one ? 1 : 0;
                const auto bytes = static_cast<std::uint32_t>(frame.size());
                const Parsed whole = parse_any(frame, bytes, station);
                Parsed usual;
                if (parse_usual(frame.data(), bytes, bytes, UsualFrames<0>(station), usual) != not_usual)
                    CHECK_TRUE(whole == usual);
            }
        }
    }
}
