// The generator and the end points of lib/roce of each other's frames: they read the generator's frames, and
// the generator's own plain checker of ICRCs accepts theirs.
#include "lib/roce/packet.hh"
#include "lib/values/rng.hh"
#include "tests/traffic/support.hh"
#include "tools/traffic/icrc.hh"
#include "tools/traffic/verify.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::roce_frames_test {

using namespace sluice::traffic;

TEST_GROUP(RoceFrames){};

TEST(RoceFrames, ofTheGeneratorAreRead) {
    for (const char* version : {"4", "6"})
        for (const roce::Operation& operation : roce::operations()) {
            const Bytes frame =
                sent_by(one_flow("kind = \"roce\"\npayload = 37\nqp = 77\npsn = 16777215\nopcodes = \"" +
                                 std::string(operation.name) + "\"\nip_version = " + version))
                    .at(0)
                    .bytes;
            const roce::Incoming in = roce::read_packet(frame);
            const bool understood = !operation.immediate && operation.atomic == 0;
            CHECK_TRUE(in.refusal ==
                       (understood ? roce::Incoming::Refusal::none : roce::Incoming::Refusal::opcode));
            if (!understood) continue;
            LONGS_EQUAL(operation.code, static_cast<int>(in.opcode));
            LONGS_EQUAL(77, in.qp);
            LONGS_EQUAL(0xFF'FFFF, in.psn);
            LONGS_EQUAL(operation.payload ? 37 : 0, in.payload.size());
            CHECK_EQUAL(operation.ends_message, in.ack_request);
            LONGS_EQUAL(operation.aeth ? roce::syndrome_ack : 0, in.aeth.syndrome);
            if (in.opcode == roce::Opcode::read_request) LONGS_EQUAL(4096, in.reth.length);
        }
}

TEST(RoceFrames, malformedOnesOfTheGeneratorAreNotAllRead) {
    std::size_t read = 0, refused = 0;
    for (const char* version : {"4", "6"})
        for (const Sent& sent : sent_by(
                 one_flow("kind = \"malformed\"\nvariant = \"all\"\nsize = 420\ncount = 108\nip_version = " +
                          std::string{version}))) {
            const roce::Incoming in = roce::read_packet(sent.bytes);
            ++(in.refusal == roce::Incoming::Refusal::none ? read : refused);
            if (in.refusal == roce::Incoming::Refusal::none)
                CHECK_TRUE(icrc_of(sent.bytes) && icrc_of(sent.bytes) == icrc_carried(sent.bytes));
        }
    CHECK_TRUE(read > 0 && refused > read);
}

TEST(RoceFrames, ofEndPointsHaveTheRightIcrc) {
    Verification verification;
    roce::Route route;
    route.source_mac.bytes[0] = route.destination_mac.bytes[0] = 2;
    route.source.bytes = {10, 0, 0, 1};
    route.destination.bytes = {10, 0, 0, 2};
    Bytes frame(roce::max_packet_bytes);
    for (std::uint64_t n = 0; n < 4000; ++n) {
        const std::uint64_t drawn = scramble(n);
        route.source.is_v6 = route.destination.is_v6 = (drawn & 1) != 0;
        route.vlan_tci = (drawn & 2) != 0 ? std::optional<std::uint16_t>(5) : std::nullopt;
        roce::PacketWriter writer(route, static_cast<std::uint32_t>(drawn >> 8 & 0xFF'FFFF));
        roce::Outgoing packet{.opcode = (drawn & 4) != 0   ? roce::Opcode::write_first
                                        : (drawn & 8) != 0 ? roce::Opcode::acknowledge
                                                           : roce::Opcode::cnp,
                              .psn = static_cast<std::uint32_t>(drawn >> 40)};
        if (packet.opcode == roce::Opcode::write_first)
            packet.payload_bytes = 1 + static_cast<std::uint32_t>(drawn >> 20) % roce::max_path_mtu;
        const std::uint32_t bytes = writer.write(packet, frame);
        verification.add(std::span(frame).first(bytes), bytes);
    }
    LONGS_EQUAL(4000, verification.icrc_good);
    LONGS_EQUAL(4000, verification.ect0);
    CHECK_TRUE(verification.cnp > 500);
}

}  // namespace sluice::roce_frames_test
