// The headroom of mechanisms.md section 4, term by term, against figures computed by hand and a slow full
// search.
#include "lib/pfc/headroom.hh"

#include <cstdint>
#include <string>

#include "CppUTest/TestHarness.h"

namespace sluice::headroom_test {
namespace {

std::uint64_t cells_of(std::uint64_t bytes, std::uint64_t cell) { return bytes / cell + (bytes % cell != 0); }

HeadroomInputs basic(std::uint64_t gigabits_per_second, std::uint32_t cable_m, std::uint32_t mtu) {
    HeadroomInputs in;
    in.rate = gigabits(gigabits_per_second);
    in.cable_m = cable_m;
    in.mtu_any = mtu;
    in.mtu_lossless = mtu;
    return in;
}

std::uint64_t sonic(std::uint64_t gigabits_per_second, std::uint32_t cable_m) {
    HeadroomInputs in = basic(gigabits_per_second, cable_m, 9100);
    in.cell_bytes = 144;
    in.flavour = HeadroomFlavour::sonic;
    return headroom(in).xoff_bytes;
}

// Every size in turn, nothing skipped.
WorstMix full_search(std::uint64_t wire, std::uint64_t from, std::uint64_t to, std::uint64_t cell) {
    WorstMix worst;
    for (std::uint64_t frame = from; frame <= to; ++frame) {
        const std::uint64_t cells = cells_of(wire, frame + 24) * cells_of(frame, cell);
        if (cells > worst.cells) worst = {cells, frame};
    }
    return worst;
}

}  // namespace

TEST_GROUP(Headroom){};

TEST(Headroom, agreesWithTheDcqcnPaperAt40G) {
    const Headroom h = headroom(basic(40, 100, 1500));
    LONGS_EQUAL(1538, h.own_frame_bytes);
    LONGS_EQUAL(84, h.pfc_frame_bytes);
    LONGS_EQUAL(5051, h.cable_bytes);  // 5050.5 rounded up
    LONGS_EQUAL(7552, h.reaction_bytes);
    LONGS_EQUAL(6144, h.interface_bytes);
    LONGS_EQUAL(21'907, h.wire_bytes + h.own_frame_bytes);
}

TEST(Headroom, takesAReactionThatIsSaidForTheFiguresOfTheSpeed) {
    HeadroomInputs in = basic(100, 5, 9100);
    in.reaction = nanoseconds(1001);
    const Headroom h = headroom(in);
    LONGS_EQUAL(12'513, h.reaction_bytes);  // 12 512.5
    LONGS_EQUAL(0, h.interface_bytes);
    LONGS_EQUAL(h.own_frame_bytes + 84 + 632 + 12'513, h.wire_bytes);
    STRCMP_EQUAL("in the reaction", headroom_rows(h)[4].formula.c_str());
}

// The loop that headroom, pause time and the simulated peer share.
TEST(Headroom, hasTheLoopOfAPauseInOnePlace) {
    const Headroom h = headroom(basic(100, 5, 9100));
    LONGS_EQUAL(h.own_frame_bytes + 25'216 + 30'720, h.unheld_bytes);
    CHECK_TRUE(reaction_time(gigabits(100), {}) == Duration{80 * (25'216 + 30'720)});
    CHECK_TRUE(reaction_time(gigabits(400), {}) == Duration{20 * (905 * 64 + 122'880)});
    CHECK_TRUE(reaction_time(gigabits(100), nanoseconds(7)) == nanoseconds(7));
    LONGS_EQUAL(32, half_pause_bytes(1));
    for (const std::uint64_t bytes : {0, 31, 32, 65'078, 65'794}) {
        CHECK_TRUE(half_pause_bytes(quanta_to_hold(bytes)) > bytes);
        CHECK_TRUE(half_pause_bytes(quanta_to_hold(bytes) - 1) <= bytes);
    }
}

TEST(Headroom, addsUpToTheCell) {
    HeadroomInputs in = basic(100, 5, 9100);
    in.own_tags = in.peer_tags = 1;
    in.own_turn_max = microseconds(50);
    in.peer_turn_max = nanoseconds(500);
    in.peer_ring_bytes = 4096;
    const Headroom h = headroom(in);
    LONGS_EQUAL(9142, h.own_frame_bytes);
    LONGS_EQUAL(9118, h.max_frame_bytes);
    LONGS_EQUAL(632, h.cable_bytes);  // 631.3
    LONGS_EQUAL(394 * 64, h.reaction_bytes);
    LONGS_EQUAL(30'720, h.interface_bytes);
    LONGS_EQUAL(625'000, h.own_turn_bytes);
    LONGS_EQUAL(6'250, h.peer_turn_bytes);
    LONGS_EQUAL(4'096, h.peer_ring_bytes);
    LONGS_EQUAL(9142 + 84 + 632 + 25'216 + 30'720 + 625'000 + 6'250 + 4'096, h.wire_bytes);
    LONGS_EQUAL(36, h.frame_cells);
    // 257 B in two cells, 281 on the wire: ceil(701140 / 281) x 2; 60 B in one, 84 on the wire, is worse.
    LONGS_EQUAL(701'140, h.wire_bytes);
    LONGS_EQUAL(60, h.worst_frame_bytes);
    LONGS_EQUAL(8347, h.mix_cells);
    LONGS_EQUAL(8347 + 72, h.xoff_cells);
    LONGS_EQUAL((8347 + 72) * 256, h.xoff_bytes);
}

TEST(Headroom, takesTheLeastFavorableFrameSize) {
    HeadroomInputs in = basic(40, 100, 1500);
    in.min_frame_bytes = 200;  // then one byte more than a cell is the worst
    const Headroom h = headroom(in);
    LONGS_EQUAL(20'369, h.wire_bytes);
    LONGS_EQUAL(257, h.worst_frame_bytes);
    LONGS_EQUAL(73 * 2, h.mix_cells);
    LONGS_EQUAL(6 + 146 + 6, h.xoff_cells);
}

TEST(Headroom, worstMixIsThatOfAFullSearch) {
    for (const std::uint64_t cell : {64, 96, 144, 192, 208, 254, 256})
        for (const std::uint64_t from : {60, 64, 200, 255, 256, 257, 1000})
            for (const std::uint64_t to : {1514, 4110, 9114})
                for (std::uint64_t wire = 1; wire < 3'000'000; wire = wire * 3 + 41) {
                    const WorstMix expected = full_search(wire, from, to, cell);
                    const WorstMix actual = worst_mix(wire, from, to, cell);
                    LONGS_EQUAL(expected.cells, actual.cells);
                    LONGS_EQUAL(expected.frame_bytes, actual.frame_bytes);
                }
}

TEST(Headroom, cableIsRoundedUpOnlyOnce) {
    for (std::uint32_t m = 0; m <= 3000; m += 7) {
        const std::uint64_t bits = std::uint64_t{2} * m * 400'000'000'000;
        const std::uint64_t bytes = headroom(basic(400, m, 1500)).cable_bytes;
        CHECK(bytes * 1'584'000'000 >= bits);
        CHECK(bytes == 0 || (bytes - 1) * 1'584'000'000 < bits);
    }
    LONGS_EQUAL(2'500,
                headroom(basic(100, 99 * 2, 1500)).cable_bytes / 10);  // 198 m there and back take 2 us
}

// Against every length in turn; and none, where the frames alone are too many.
TEST(Headroom, longestCableIsTheLastThatFits) {
    const HeadroomInputs in = basic(400, 100, 9100);
    const std::uint64_t without = headroom(basic(400, 0, 9100)).xoff_cells;
    CHECK_FALSE(longest_cable(in, without - 1).has_value());
    for (const std::uint64_t more : {0, 1, 100, 1000}) {
        std::uint32_t meters = 0;
        while (headroom(basic(400, meters + 1, 9100)).xoff_cells <= without + more) ++meters;
        LONGS_EQUAL(meters, *longest_cable(in, without + more));
    }
    LONGS_EQUAL(100, *longest_cable(in, headroom(in).xoff_cells));
    LONGS_EQUAL(HeadroomInputs::max_cable_m, *longest_cable(in, 1'000'000'000));
}

TEST(Headroom, knowsTheReactionOfEverySpeed) {
    const std::uint64_t table[][2] = {{1, 2},     {10, 60},   {25, 80},   {40, 118}, {50, 147},
                                      {100, 394}, {200, 453}, {400, 905}, {800, 905}};
    for (const auto& [speed, quanta] : table) {
        const HeadroomFigure figure = peer_reaction_quanta(gigabits(speed), HeadroomFlavour::sluice);
        LONGS_EQUAL(quanta, figure.value);
        CHECK(figure.published);
    }
    LONGS_EQUAL(67, peer_reaction_quanta(gigabits(10), HeadroomFlavour::sonic).value);
    // between two speeds: the faster one's, and it says so
    LONGS_EQUAL(118, peer_reaction_quanta(gigabits(32), HeadroomFlavour::sluice).value);
    CHECK_FALSE(peer_reaction_quanta(gigabits(32), HeadroomFlavour::sluice).published);
}

TEST(Headroom, knowsTheDelayOfEveryInterface) {
    const std::uint64_t table[][2] = {{1, 8192},      {10, 8192},     {25, 6144},
                                      {40, 24'576},   {50, 61'440},   {100, 122'880},
                                      {200, 245'760}, {400, 491'520}, {800, 983'040}};
    for (const auto& [speed, bits] : table) LONGS_EQUAL(bits, interface_delay_bits(gigabits(speed)).value);
    for (const std::uint64_t speed : {10, 25, 40, 100})
        CHECK(interface_delay_bits(gigabits(speed)).published);
    for (const std::uint64_t speed : {1, 50, 200, 400, 800})
        CHECK_FALSE(interface_delay_bits(gigabits(speed)).published);
}

TEST(Headroom, sonicFlavourGivesSonicsTable) {
    LONGS_EQUAL(33'792, sonic(10, 5));
    LONGS_EQUAL(34'816, sonic(10, 40));
    LONGS_EQUAL(41'984, sonic(10, 300));
    LONGS_EQUAL(35'840, sonic(25, 5));
    LONGS_EQUAL(37'888, sonic(25, 40));
    LONGS_EQUAL(56'320, sonic(25, 300));
    LONGS_EQUAL(81'920, sonic(100, 5));
    LONGS_EQUAL(92'160, sonic(100, 40));
    LONGS_EQUAL(163'840, sonic(100, 300));
    LONGS_EQUAL(159'744, sonic(400, 5));
    LONGS_EQUAL(198'656, sonic(400, 40));
    LONGS_EQUAL(487'424, sonic(400, 300));
}

TEST(Headroom, sonicFlavourKnowsSmallCells) {
    HeadroomInputs in = basic(100, 5, 9100);
    in.flavour = HeadroomFlavour::sonic;
    in.cell_bytes = 96;  // 2 x 96 / 97: 35751.7 x 1.9794 + 1024 = 71791
    LONGS_EQUAL(72'704, headroom(in).xoff_bytes);
    LONGS_EQUAL(758, headroom(in).xoff_cells);
}

TEST(Headroom, everyTermIsARow) {
    HeadroomInputs in = basic(800, 300, 9100);
    in.own_turn_max = microseconds(50);
    in.peer_turn_max = microseconds(5);
    in.peer_ring_bytes = 100'000;
    const Headroom h = headroom(in);
    const auto rows = headroom_rows(h);
    LONGS_EQUAL(13, rows.size());
    std::uint64_t wire = 0;
    for (std::size_t i = 0; i < 8; ++i) wire += rows[i].bytes;
    STRCMP_EQUAL("bytes that can still arrive", std::string(rows[8].name).c_str());
    LONGS_EQUAL(wire, rows[8].bytes);
    LONGS_EQUAL(rows[12].bytes, rows[9].bytes + rows[10].bytes + rows[11].bytes);
    LONGS_EQUAL(h.xoff_bytes, rows[12].bytes);
    STRCMP_EQUAL("2 x 983040 bits / 8, no published figure", rows[4].formula.c_str());
    STRCMP_EQUAL("2 x 300 m x 800000 Mb/s / (8 x 1.98e8 m/s)", rows[2].formula.c_str());

    in.hand_over_max = microseconds(50);  // a row of its own, where frames are handed over
    const Headroom handed_over = headroom(in);
    const auto more = headroom_rows(handed_over);
    LONGS_EQUAL(14, more.size());
    STRCMP_EQUAL("hand-over", std::string(more[7].name).c_str());
    LONGS_EQUAL(5'000'000, more[7].bytes);
    STRCMP_EQUAL(rows[5].formula.c_str(), more[7].formula.c_str());
    STRCMP_EQUAL("bytes that can still arrive", std::string(more[9].name).c_str());
    LONGS_EQUAL(wire + 5'000'000, more[9].bytes);
    LONGS_EQUAL(handed_over.xoff_bytes, more[13].bytes);

    in.flavour = HeadroomFlavour::sonic;
    const Headroom s = headroom(in);
    LONGS_EQUAL(s.xoff_bytes, headroom_rows(s).back().bytes);
}

}  // namespace sluice::headroom_test
