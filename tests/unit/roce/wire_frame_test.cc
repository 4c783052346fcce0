// What a wire knows of any frame, byte by byte; and the changes that it makes.
#include "lib/roce/wire_frame.hh"

#include <bit>
#include <vector>

#include "lib/roce/packet.hh"
#include "tests/unit/frames.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::wire_frame_test {

using frames::Frame;
using roce::read_wire_frame;
using roce::WireFrame;

namespace {

Frame roce_frame(bool v6, std::optional<std::uint16_t> tci, std::uint32_t payload = 256,
                 roce::Opcode opcode = roce::Opcode::write_middle) {
    roce::Route route;
    route.source_mac = {{2, 0, 0, 0, 0, 1}};
    route.destination_mac = {{2, 0, 0, 0, 0, 2}};
    route.vlan_tci = tci;
    route.source.is_v6 = route.destination.is_v6 = v6;
    route.source.bytes[0] = v6 ? 0x20 : 10;
    route.source.bytes[3] = 1;
    route.destination.bytes = route.source.bytes;
    route.destination.bytes[3] = 2;
    route.dscp = 26;
    roce::Outgoing packet;
    packet.opcode = opcode;
    packet.psn = 0xABCDEF;
    packet.payload_bytes = payload;
    roce::PacketWriter writer(route, 0x1234);
    Frame frame(writer.frame_bytes(packet));
    CHECK_EQUAL(frame.size(), writer.write(packet, frame));
    return frame;
}

WireFrame read(const Frame& frame) {
    const Frame exact(frame.begin(),
                      frame.begin() + static_cast<std::ptrdiff_t>(std::min(frame.size(), parse_view_bytes)));
    return read_wire_frame(exact, static_cast<std::uint32_t>(frame.size()));
}

}  // namespace

TEST_GROUP(WireFrame){};

TEST(WireFrame, readsRoceBehindAnyTagAndFamily) {
    for (const bool v6 : {false, true})
        for (const auto& tci : {std::optional<std::uint16_t>{}, std::optional<std::uint16_t>{0x6005}}) {
            const WireFrame frame = read(roce_frame(v6, tci));
            CHECK_TRUE(frame.facts == (FrameFacts{true, 26, true, 0x07, 0x1234, 0xABCDEF}));
            CHECK_TRUE(frame.parsed.roce && !frame.parsed.cnp);
            CHECK_EQUAL(tci ? 1 : 0, frame.parsed.tags);
            CHECK_EQUAL(tci ? 3 : 0, frame.parsed.pcp);
            const unsigned network = tci ? 18 : 14;
            const unsigned ip = v6 ? 40 : 20;
            CHECK_EQUAL(network, frame.parsed.l3_offset);
            CHECK_EQUAL(network + ip + 8 + 12, frame.payload_offset);
            CHECK_EQUAL(network + ip + 8 + 12 + 256 + 4, frame.payload_end);
        }
}

TEST(WireFrame, takesFramesThatParseWouldDrop) {
    const auto kind = [](const Frame& frame) { return read(frame).parsed.kind; };
    CHECK_TRUE(kind(frames::ethernet(ether_type::arp, Frame(46))) == FrameKind::other);
    CHECK_TRUE(kind(frames::ethernet(ether_type::lldp, Frame(46))) == FrameKind::other);
    CHECK_TRUE(kind(frames::ethernet(ether_type::mac_control, Frame(46))) == FrameKind::mac_control);
    // An IP header that lies about its length is a frame without IP.
    Frame short_ip = roce_frame(false, {});
    frames::put16(short_ip, 16, 5000);
    CHECK_FALSE(read(short_ip).facts.ip);
    Frame expired = roce_frame(false, {});
    expired[14 + 8] = 1;  // TTL; the checksum is wrong, too
    CHECK_TRUE(read(expired).facts.roce);
}

TEST(WireFrame, aFragmentIsNoRocePacket) {
    Frame fragment = roce_frame(false, {});
    frames::put16(fragment, 14 + 6, 0x2000);
    CHECK_TRUE(read(fragment).facts.ip);
    CHECK_FALSE(read(fragment).facts.roce);
}

TEST(WireFrame, everyPrefixOfAFrameIsReadWithinIt) {
    for (const bool v6 : {false, true}) {
        const Frame whole = roce_frame(v6, 0x6005, 64);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const Frame cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            const WireFrame frame = read(cut);
            CHECK_TRUE(frame.payload_end <= size && frame.payload_offset <= size);
            CHECK_FALSE(frame.facts.roce);  // its length is that of the whole
        }
    }
}

TEST(WireFrame, aCorruptPayloadFailsItsIcrcAndNothingElse) {
    for (const auto opcode :
         {roce::Opcode::write_middle, roce::Opcode::write_only, roce::Opcode::acknowledge})
        for (std::uint64_t random = 0; random < 5000; random += 7) {
            const std::uint32_t payload = opcode == roce::Opcode::acknowledge ? 0 : 256;
            const Frame before = roce_frame(false, {}, payload, opcode);
            Frame after = before;
            const WireFrame wire = read(before);
            CHECK_TRUE(roce::corrupt_payload(after, wire, random));
            unsigned bits = 0;
            for (std::size_t n = 0; n < before.size(); ++n) {
                bits += static_cast<unsigned>(std::popcount(static_cast<unsigned>(before[n] ^ after[n])));
                if (before[n] != after[n]) CHECK_TRUE(n >= wire.payload_offset);
            }
            CHECK_EQUAL(1u, bits);
            CHECK_TRUE(roce::read_packet(before).refusal == roce::Incoming::Refusal::none);
            CHECK_TRUE(roce::read_packet(after).refusal == roce::Incoming::Refusal::icrc);
        }
}

TEST(WireFrame, aCnpGoesBackToTheSender) {
    for (const bool v6 : {false, true}) {
        const Frame data = roce_frame(v6, 0x6005);
        Frame out(200);
        const std::uint32_t bytes = roce::write_cnp(data, read(data), 0x77, 48, out);
        out.resize(bytes);
        const roce::Incoming cnp = roce::read_packet(out);
        CHECK_TRUE(cnp.refusal == roce::Incoming::Refusal::none);
        CHECK_TRUE(cnp.opcode == roce::Opcode::cnp && cnp.becn);
        CHECK_EQUAL(0x77u, cnp.qp);
        CHECK_EQUAL(48, cnp.dscp);
        const roce::Incoming back = roce::read_packet(data);
        CHECK_TRUE(cnp.source == back.destination && cnp.destination == back.source);
        CHECK_TRUE(std::equal(out.begin(), out.begin() + 6, data.begin() + 6));
        CHECK_TRUE(std::equal(out.begin() + 6, out.begin() + 12, data.begin()));
        CHECK_TRUE(std::equal(out.begin() + 12, out.begin() + 18, data.begin() + 12));  // the tag
    }
}

TEST(WireFrame, thereIsNoCnpForAnotherFrame) {
    const Frame arp = frames::ethernet(ether_type::arp, Frame(46));
    Frame out(200);
    CHECK_EQUAL(0u, roce::write_cnp(arp, read(arp), 1, 48, out));
}

}  // namespace sluice::wire_frame_test
