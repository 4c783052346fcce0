// Frames that the parser refuses, each with its drop reason.
#include "lib/frame/parse.hh"

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/unit/frame/parse_exact.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::parse_refusals_test {

using namespace sluice::frames;

TEST_GROUP(ParseRefusals){};

TEST(ParseRefusals, refusesWhatIsShorterThanItsHeaders) {
    for (std::size_t bytes = 0; bytes < 14; ++bytes)
        refuses(DropReason::frame_too_short, cut(v4_frame(), bytes));
    for (std::size_t bytes = 14; bytes < 18; ++bytes)
        refuses(DropReason::frame_too_short, cut(ethernet(ether_type::ipv4, ipv4({}), {vlan | 5}), bytes));
    for (std::size_t bytes = 18; bytes < 22; ++bytes)
        refuses(DropReason::frame_too_short,
                cut(ethernet(ether_type::ipv4, ipv4({}), {qinq | 5, vlan | 5}), bytes));
}

TEST(ParseRefusals, refusesWhatIsLongerThanTheLargestFrame) {
    refuses(DropReason::frame_too_long, v4_frame(udp(1, 2, Frame(9238 - 14 - 28 + 1))));
    accepts(v4_frame(udp(1, 2, Frame(9238 - 14 - 28))));
    refuses(DropReason::frame_too_long, v4_frame(udp(1, 2, Frame(60000))));
}

TEST(ParseRefusals, refusesAThirdTag) {
    refuses(DropReason::too_many_tags, ethernet(ether_type::ipv4, ipv4({}), {vlan, vlan, vlan}));
    refuses(DropReason::too_many_tags, ethernet(ether_type::ipv4, ipv4({}), {qinq, vlan, old}));
    refuses(DropReason::too_many_tags, ethernet(0x8100, {}, {vlan, vlan}));  // nothing behind its type
}

TEST(ParseRefusals, refusesWhatIsNotIp) {
    for (const unsigned type :
         {0x0000U, 0x0600U, 0x05DCU, 0x0806U, 0x88CCU, 0x88B5U, 0xFFFFU, 0x0801U, 0x86DCU})
        refuses(DropReason::not_ip, ethernet(type, Frame(46)));
    refuses(DropReason::not_ip, ethernet(ether_type::arp, Frame(28), {vlan | 7}));
    refuses(DropReason::not_ip, with(ethernet(ether_type::arp, Frame(28)), 0, 0xFF));
}

TEST(ParseRefusals, refusesGroupAddresses) {
    refuses(DropReason::multicast, with(v4_frame(), 0, 3));
    refuses(DropReason::multicast, with(v6_frame(), 0, 0x33));
    refuses(DropReason::multicast, with(v4_frame(), 0, 0xFF));
    refuses(DropReason::multicast, v4_frame({}, {.destination = 0xE0000001}));
    refuses(DropReason::multicast, v4_frame({}, {.destination = 0xEFFFFFFF}));
    refuses(DropReason::multicast, v6_frame({}, {.destination = v6(0xFF, 2, 1)}));
    refuses(DropReason::group_source, with(v4_frame(), 6, 3));
    refuses(DropReason::group_source, with(v6_frame(), 6, 0xFF));
}

TEST(ParseRefusals, refusesWhatIsForAnotherStation) {
    for (std::size_t at = 0; at < 6; ++at) refuses(DropReason::not_for_us, with(v4_frame(), at, 0x40));
    accepts(with(v4_frame(), 5, 0x40), {station.mac, true});
    const Parsed group = parse_exact(with(v4_frame(), 0, 3), {station.mac, true});
    CHECK_TRUE(group.drop == DropReason::multicast);  // promiscuous is for unicast only
}

TEST(ParseRefusals, refusesAVersionThatIsNotOfTheType) {
    for (unsigned version = 0; version < 16; ++version) {
        if (version != 4) refuses(DropReason::ip_bad_version, with(v4_frame(), 14, version << 4 | 5));
        if (version != 6) refuses(DropReason::ip_bad_version, with(v6_frame(), 14, version << 4));
    }
}

TEST(ParseRefusals, refusesIpv4HeaderLengthsThatCannotBe) {
    for (unsigned words = 0; words < 5; ++words)
        refuses(DropReason::ip_bad_header_length, with(v4_frame(), 14, 0x40 | words));
    refuses(DropReason::ip_bad_header_length, with(v4_frame(udp(1, 2)), 14, 0x4F));  // 60 bytes of 28
}

TEST(ParseRefusals, refusesLengthsThatCannotBe) {
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

TEST(ParseRefusals, refusesEveryFlippedBitOfAnIpv4Header) {
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

TEST(ParseRefusals, refusesHeadersBeyondTheView) {
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

TEST(ParseRefusals, refusesExtensionHeadersBeyondThePacket) {
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

TEST(ParseRefusals, refusesSourcesThatNoHostMayHave) {
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

TEST(ParseRefusals, refusesDestinationsThatAreNeverRouted) {
    for (const std::uint32_t to : {0x00000000U, 0x00000001U, 0x7F000001U, 0xF0000000U, 0xFFFFFFFFU})
        refuses(DropReason::martian_destination, v4_frame({}, {.destination = to}));
    for (const V6Address& to : {v6(0, 0, 0), v6(0, 0, 1)})
        refuses(DropReason::martian_destination, v6_frame({}, {.destination = to}));
}

TEST(ParseRefusals, refusesLinkLocalAddresses) {
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

TEST(ParseRefusals, refusesWhatHasNoHopLeft) {
    for (const std::uint8_t ttl : {0, 1}) {
        refuses(DropReason::ttl_expired, v4_frame({}, {.ttl = ttl}));
        refuses(DropReason::ttl_expired, v6_frame({}, {.hops = ttl}));
    }
    accepts(v4_frame({}, {.ttl = 2}));
    accepts(v6_frame({}, {.hops = 2}));
}

TEST(ParseRefusals, mustNotLookBehindTheEndOfAnyPrefix) {
    // Every prefix of every frame is judged without a read too far (the sanitizers watch).
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

TEST(ParseRefusals, stopsAtTheFirstThatIsWrong) {
    // Everything is wrong here; the catalogue's order says what is told.
    Frame frame = v4_frame({}, {.source = 0x7F000001, .destination = 0xFFFFFFFF, .ttl = 0});
    frame[24] ^= 1;
    refuses(DropReason::ip_bad_checksum, frame);
    refuses(DropReason::not_for_us, with(frame, 5, 9));
    refuses(DropReason::multicast, with(frame, 0, 3));
    refuses(DropReason::martian_source,
            v4_frame({}, {.source = 0x7F000001, .destination = 0xFFFFFFFF, .ttl = 0}));
}

}  // namespace sluice::parse_refusals_test
