// Frames written and read again; frames that are refused; bytes of a real adapter. The independent checker's
// and the generator's view of the same frames: tests/traffic/roce_frames_test.cc.
#include "lib/roce/packet.hh"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lib/frame/checksum.hh"
#include "lib/roce/icrc.hh"
#include "lib/values/rng.hh"
#include "tests/unit/exact_copy.hh"
#include "tests/unit/ip_addresses.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::packet_test {
namespace {

using namespace sluice::roce;
using Frame = std::vector<std::uint8_t>;
using Refusal = Incoming::Refusal;

constexpr std::uint32_t qp = 0xABCDEF;
constexpr Opcode all_opcodes[] = {
    Opcode::send_first,          Opcode::send_middle,          Opcode::send_last,
    Opcode::send_only,           Opcode::write_first,          Opcode::write_middle,
    Opcode::write_last,          Opcode::write_only,           Opcode::read_request,
    Opcode::read_response_first, Opcode::read_response_middle, Opcode::read_response_last,
    Opcode::read_response_only,  Opcode::acknowledge,          Opcode::cnp};

Route some_route(bool is_v6 = false, std::optional<std::uint16_t> tci = std::nullopt) {
    return {.source_mac = {{2, 0, 0, 0, 0, 1}},
            .destination_mac = {{2, 0, 0, 0, 0, 2}},
            .vlan_tci = tci,
            .source = is_v6 ? v6(1) : v4(0x0A000001),
            .destination = is_v6 ? v6(2) : v4(0x0A000002),
            .dscp = 26};
}

const Operation* operation(Opcode opcode) {
    return opcode == Opcode::cnp ? nullptr : find_operation(static_cast<std::uint8_t>(opcode));
}

Outgoing some_packet(Opcode opcode, std::uint32_t payload_bytes) {
    const Operation* of = operation(opcode);
    Outgoing packet{.opcode = opcode, .ack_request = opcode == Opcode::send_last, .psn = 0xFEDCBA};
    if (of == nullptr) return packet;
    if (of->payload) packet.payload_bytes = payload_bytes;
    packet.offset = 12345;
    if (of->reth) packet.reth = {0x0102030405060708, 0x1234, 99999};
    if (of->aeth) packet.aeth = {syndrome_sequence_error, 0x777777};
    return packet;
}

Frame written(PacketWriter& writer, const Outgoing& packet) {
    Frame frame(writer.frame_bytes(packet));
    LONGS_EQUAL(frame.size(), writer.write(packet, frame));
    return frame;
}
Frame written(const Outgoing& packet, const Route& route = some_route()) {
    PacketWriter writer(route, qp);
    return written(writer, packet);
}

Incoming read(const Frame& frame) {
    const ExactCopy copy(frame);
    Incoming in = read_packet(copy.view());
    in.payload = {};  // of the copy
    return in;
}
void refuses(const Frame& frame, Refusal why) {
    LONGS_EQUAL(static_cast<int>(why), static_cast<int>(read(frame).refusal));
}

// An ICRC that is right whatever stands before it.
Frame sealed(Frame frame, std::size_t network = 14, std::size_t ip = 20) {
    const std::size_t end = frame.size() - icrc_bytes;
    store_icrc(&frame[end], icrc(std::span(frame).subspan(network, end - network), ip));
    return frame;
}

constexpr std::size_t bth_at = 14 + 20 + 8;

}  // namespace

TEST_GROUP(Psn){};

TEST(Psn, comparesOverTheWrap) {
    LONGS_EQUAL(1, psn_difference(0, psn_mask));
    LONGS_EQUAL(-1, psn_difference(psn_mask, 0));
    LONGS_EQUAL((1 << 23) - 1, psn_difference((1 << 23) - 1, 0));
    LONGS_EQUAL(-(1 << 23), psn_difference(1 << 23, 0));
    LONGS_EQUAL(0, psn_difference(77, 77));
}

TEST(Psn, extendsToTheNearest) {
    for (const std::uint32_t first : {0U, 5U, psn_mask}) {
        const std::uint64_t base = first_sequence(first);
        LONGS_EQUAL(first, psn_of(base));
        for (std::uint64_t near = base; near < base + (1U << 26); near += 999'983)
            for (const std::int64_t ahead : {-8388608L, -8388607L, -1L, 0L, 1L, 8388607L}) {
                const std::uint64_t wanted = near + static_cast<std::uint64_t>(ahead);
                CHECK_EQUAL(wanted, sequence_of(psn_of(wanted), near));
            }
    }
}

TEST_GROUP(Payload){};

TEST(Payload, isTheSameWhateverTheCut) {
    const PayloadStream stream = payload_stream(v4(1), 7);
    std::vector<std::uint8_t> whole(3000);
    fill_payload(whole, stream, 0);
    for (std::size_t start = 0; start < 40; ++start)
        for (const std::size_t bytes : {0, 1, 7, 8, 9, 64, 1000}) {
            std::vector<std::uint8_t> piece(bytes);
            fill_payload(piece, stream, start);
            CHECK_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<long>(start)));
            CHECK_FALSE(first_wrong(piece, stream, start).has_value());
        }
}

TEST(Payload, everyWrongByteIsFound) {
    const PayloadStream stream = payload_stream(v6(1), 7);
    for (const std::size_t bytes : {1, 8, 13, 256})
        for (std::size_t start = 1000; start < 1009; ++start)
            for (std::size_t at = 0; at < bytes; ++at) {
                Frame piece(bytes);
                fill_payload(piece, stream, start);
                piece[at] ^= 0x80;
                piece[bytes - 1] ^= 0x01;
                LONGS_EQUAL(at, first_wrong(piece, stream, start).value());
            }
}

TEST(Payload, isAnotherElsewhereAndOfAnotherQp) {
    Frame piece(16);
    fill_payload(piece, payload_stream(v4(1), 7), 100);
    for (const std::uint64_t offset : {0, 92, 99, 101, 108, 1'000'000})
        CHECK_TRUE(first_wrong(piece, payload_stream(v4(1), 7), offset).has_value());
    CHECK_TRUE(first_wrong(piece, payload_stream(v4(1), 8), 100).has_value());
    CHECK_TRUE(first_wrong(piece, payload_stream(v4(2), 7), 100).has_value());
    IpAddress same_bytes = v4(1);
    same_bytes.is_v6 = true;
    CHECK_TRUE(first_wrong(piece, payload_stream(same_bytes, 7), 100).has_value());
}

TEST_GROUP(RcPacket){};

TEST(RcPacket, isRefusedCutAnywhere) {
    for (const Opcode opcode : all_opcodes) {
        const Frame frame = written(some_packet(opcode, 30));
        for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
            CHECK_TRUE(read(Frame(frame.begin(), frame.begin() + static_cast<long>(bytes))).refusal !=
                       Refusal::none);
    }
}

// But for the fields of which a router may change each, or the end point has no use.
TEST(RcPacket, isRefusedWithAnyBitFlipped) {
    for (const bool is_v6 : {false, true})
        for (const Opcode opcode : all_opcodes) {
            const Frame frame = written(some_packet(opcode, 30), some_route(is_v6));
            const std::size_t udp = is_v6 ? 54 : 34;
            for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
                const std::size_t byte = bit / 8;
                const bool macs = byte < 12;
                const bool changes =
                    byte == udp + 6 || byte == udp + 7 || byte == udp + 12 ||
                    (is_v6 && (byte == 21 || (byte > 14 && byte < 18) || (byte == 14 && bit % 8 < 4)));
                Frame flipped = frame;
                flipped[byte] ^= static_cast<std::uint8_t>(1U << bit % 8);
                CHECK_EQUAL(macs || changes, read(flipped).refusal == Refusal::none);
            }
        }
}

TEST(RcPacket, isReadAsWritten) {
    const Route routes[] = {some_route(), some_route(true), some_route(false, 0x6005),
                            some_route(true, 0x6005)};
    for (const Route& route : routes)
        for (const Opcode opcode : all_opcodes)
            for (const std::uint32_t payload : {1U, 2U, 3U, 4U, 255U, 1024U, max_path_mtu}) {
                const Outgoing packet = some_packet(opcode, payload);
                const Frame frame = written(packet, route);
                CHECK_TRUE(frame.size() <= max_packet_bytes && frame.size() >= 60);
                const ExactCopy copy(frame);
                const Incoming in = read_packet(copy.view());
                CHECK_TRUE(in.refusal == Refusal::none && in.opcode == opcode);
                LONGS_EQUAL(qp, in.qp);
                LONGS_EQUAL(packet.psn, in.psn);
                CHECK_EQUAL(packet.ack_request, in.ack_request);
                CHECK_EQUAL(opcode == Opcode::cnp, in.becn);
                CHECK_TRUE(in.reth == packet.reth && in.aeth == packet.aeth);
                CHECK_TRUE(in.source == route.source && in.destination == route.destination);
                CHECK_TRUE(in.ecn == Ecn::ect0 && in.dscp == 26);
                LONGS_EQUAL(packet.payload_bytes, in.payload.size());
                CHECK_FALSE(first_wrong(in.payload, payload_stream(route.destination, qp), packet.offset)
                                .has_value());
            }
}

// Wherever its head ends in the payload; and one byte further in the stream it is another.
TEST(RcPacket, aDescribedFrameIsTheOneThatIsWritten) {
    for (const Route& route : {some_route(), some_route(true), some_route(false, 0x6005)})
        for (const Opcode opcode : all_opcodes) {
            if (operation(opcode) == nullptr || !operation(opcode)->payload) continue;
            for (const std::uint32_t payload : {30U, 255U, 1022U, max_path_mtu})
                for (const std::uint32_t there : {20U, 22U, payload - 8}) {
                    const Outgoing packet = some_packet(opcode, payload);
                    const Frame carried = written(packet, route);
                    const std::size_t behind = payload + (0U - payload) % 4 + icrc_bytes - there;
                    PacketWriter writer(route, qp);
                    Frame head(carried.size() - behind);
                    FrameTail tail = writer.write_head(packet, head);

                    const ExactCopy copy(head);
                    const auto bytes = static_cast<std::uint32_t>(carried.size());
                    const Incoming in = read_packet(DescribedFrame{copy.view(), bytes, tail});
                    CHECK_TRUE(in.refusal == Refusal::none && in.opcode == opcode);
                    LONGS_EQUAL(payload, in.payload_bytes());
                    CHECK_TRUE(in.has_payload_of(writer.stream(), packet.offset));

                    Frame made = head;
                    made.resize(carried.size(), 0xEE);
                    write_tail(made, head.size(), tail);
                    CHECK_TRUE(made == carried);
                    ++tail.offset;
                    CHECK_FALSE(read_packet(DescribedFrame{copy.view(), bytes, tail})
                                    .has_payload_of(writer.stream(), packet.offset));
                    write_tail(made, head.size(), tail);
                    CHECK_FALSE(made == carried);
                }
        }
}

// IBTA 9.2: RETH takes 16 bytes, AETH 4; and 16 of zeros of a CNP.
TEST(RcPacket, headersOfEachOpcode) {
    constexpr std::uint32_t behind_bth[] = {0, 0, 0, 0, 16, 0, 0, 16, 16, 4, 0, 4, 4, 4, 16};
    PacketWriter writer(some_route(), qp);
    for (std::size_t n = 0; n < std::size(all_opcodes); ++n)
        LONGS_EQUAL(bth_at + sizeof(Bth) + behind_bth[n] + icrc_bytes,
                    writer.frame_bytes({.opcode = all_opcodes[n]}));
}

TEST(RcPacket, isNotWrittenWhereItDoesNotFit) {
    PacketWriter writer(some_route(), qp);
    const Outgoing packet = some_packet(Opcode::write_only, 100);
    Frame frame(writer.frame_bytes(packet) - 1);
    LONGS_EQUAL(0, writer.write(packet, frame));
    CHECK_TRUE(frame == Frame(frame.size()));
}

TEST(RcPacket, headersAreRightInEveryFrame) {
    PacketWriter writer(some_route(), qp);
    const std::uint16_t port = read(written(writer, some_packet(Opcode::send_only, 1))).source_port;
    CHECK_TRUE(port >= 0xC000);
    for (unsigned n = 1; n < 70'000; ++n) {
        const Frame frame = written(writer, {.opcode = Opcode::acknowledge, .psn = n & psn_mask});
        LONGS_EQUAL(0, internet_checksum(std::span(frame).subspan(14, 20)));
        LONGS_EQUAL(n & 0xFFFF, load_be<std::uint16_t>(&frame[18]));
    }
    PacketWriter other(some_route(), qp + 1);
    CHECK_TRUE(read(written(other, some_packet(Opcode::send_only, 1))).source_port != port);
}

TEST(RcPacket, allQueuePairsMayHaveOneSourcePort) {
    Route route = some_route();
    route.port_of_qp = false;
    for (std::uint32_t n = 0; n < 3; ++n) {
        PacketWriter writer(route, qp + n);
        LONGS_EQUAL(0xC000, read(written(writer, some_packet(Opcode::send_only, 1))).source_port);
    }
}

// A CNP of a real adapter (mechanisms, section 1), and ours from the same fields: 74 bytes.
TEST(RcPacket, cnpOfARealAdapter) {
    constexpr std::string_view hex =
        "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118"
        "000000000000000000000000000000000000000082fd002a";
    Frame cnp;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        cnp.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    const Incoming in = read(cnp);
    CHECK_TRUE(in.refusal == Refusal::none && in.opcode == Opcode::cnp && in.becn);
    LONGS_EQUAL(0x118, in.qp);
    LONGS_EQUAL(48, in.dscp);
    Route route = some_route();
    route.destination_mac = {{0xE4, 0x1D, 0x2D, 0xAB, 0x2B, 0xC2}};
    route.source_mac = {{0x7C, 0xFE, 0x90, 0x64, 0x3B, 0x32}};
    route.source = v4(0x0A001101);
    route.destination = v4(0x0A001201);
    route.dscp = 48;
    PacketWriter writer(route, 0x118);
    Frame ours = written(writer, {.opcode = Opcode::cnp});
    LONGS_EQUAL(74, ours.size());
    // Its identification and UDP source port are the adapter's own.
    std::copy_n(&cnp[18], 2, &ours[18]);
    std::copy_n(&cnp[24], 2, &ours[24]);
    std::copy_n(&cnp[34], 2, &ours[34]);
    CHECK_TRUE(sealed(ours) == cnp);
}

TEST(RcPacket, refusals) {
    const Frame good = written(some_packet(Opcode::write_first, 32));
    const auto with = [&](std::size_t at, std::uint8_t value) {
        Frame frame = good;
        frame[at] = value;
        store_be<std::uint16_t>(&frame[24], 0);
        store_be<std::uint16_t>(&frame[24], internet_checksum(std::span(frame).subspan(14, 20)));
        return sealed(frame);
    };
    refuses(with(22, 1), Refusal::none);  // TTL: this helper breaks nothing else
    refuses(with(12, 0x09), Refusal::not_roce);
    refuses(with(23, 6), Refusal::not_roce);
    refuses(with(14, 0x55), Refusal::not_roce);
    refuses(with(20, 0x20), Refusal::not_roce);  // more fragments
    refuses(with(36, 0x13), Refusal::not_roce);
    refuses(with(39, good[39] - 4), Refusal::cut);  // the UDP length
    refuses(with(39, good[39] + 4), Refusal::trimmed);
    refuses(with(17, good[17] + 4), Refusal::cut);
    refuses(with(bth_at, 0x05), Refusal::opcode);     // immediate data
    refuses(with(bth_at, 0x13), Refusal::opcode);     // compare and swap
    refuses(with(bth_at, 0x15), Refusal::opcode);     // none
    refuses(with(bth_at, 0x24), Refusal::opcode);     // UC
    refuses(with(bth_at, 0x64), Refusal::opcode);     // UD
    refuses(with(bth_at, 0x11), Refusal::malformed);  // an ACK with payload
    refuses(with(bth_at, 0x81), Refusal::malformed);
    refuses(with(bth_at + 1, 0x01), Refusal::malformed);  // a later version of the header
    refuses(with(bth_at + 1, 0x30), Refusal::none);       // a pad of 3 of 32: 29 bytes of payload
    Frame broken = good;
    broken[24] ^= 1;
    refuses(broken, Refusal::header_checksum);
    broken = good;
    broken[bth_at + 20] ^= 1;
    refuses(broken, Refusal::icrc);
}

TEST(RcPacket, withPadAndNoPayloadIsMalformed) {
    Frame frame = written(some_packet(Opcode::acknowledge, 0));
    frame[bth_at + 1] = 0x10;
    refuses(sealed(frame), Refusal::malformed);
    frame[bth_at] = 0x10;  // a READ response
    refuses(sealed(frame), Refusal::malformed);
    frame[bth_at] = 0x0C;  // a READ request of 4 bytes
    frame[bth_at + 1] = 0;
    refuses(sealed(frame), Refusal::malformed);
}

TEST(RcPacket, ethernetPaddingAndOthersTagsAreNoPart) {
    Frame frame = written(some_packet(Opcode::send_only, 5));
    Frame padded = frame;
    padded.resize(frame.size() + 10, 0xEE);
    refuses(padded, Refusal::none);
    Frame tagged = frame;
    tagged.insert(tagged.begin() + 12, {0x88, 0xA8, 0, 7, 0x81, 0, 0, 9});
    refuses(tagged, Refusal::none);
    tagged.insert(tagged.begin() + 12, {0x88, 0xA8, 0, 7});
    refuses(tagged, Refusal::not_roce);
}

TEST(RcPacket, ipv4OptionsAreCovered) {
    Frame frame = written(some_packet(Opcode::send_only, 5));
    frame.insert(frame.begin() + 34, 40, 1);
    frame[14] = 0x4F;
    store_be<std::uint16_t>(&frame[16], static_cast<std::uint16_t>(frame.size() - 14));
    store_be<std::uint16_t>(&frame[24], 0);
    store_be<std::uint16_t>(&frame[24], internet_checksum(std::span(frame).subspan(14, 60)));
    refuses(frame, Refusal::icrc);
    frame = sealed(frame, 14, 60);
    refuses(frame, Refusal::none);
    LONGS_EQUAL(qp, read(frame).qp);
}

}  // namespace sluice::packet_test
