// Frames are right in every byte, leave when the link lets them, and are the same each time.
#include "tools/traffic/generate.hh"

#include <algorithm>
#include <set>

#include "lib/values/endian.hh"
#include "tests/traffic/support.hh"
#include "tools/traffic/failure.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::generate_test {

using namespace sluice::traffic;
using sluice::traffic::CaptureReader;

namespace {

constexpr std::size_t bth = 42;  // in an untagged IPv4 frame

std::uint32_t qp_of(const Bytes& frame) { return load_be<std::uint32_t>(&frame[bth + 4]) & 0xFF'FFFF; }
std::uint32_t psn_of(const Bytes& frame) { return load_be<std::uint32_t>(&frame[bth + 8]) & 0xFF'FFFF; }
std::uint16_t source_port_of(const Bytes& frame) { return load_be<std::uint16_t>(&frame[34]); }

// A byte takes 80 ps at 100 Gb/s.
std::int64_t byte_times(std::size_t bytes) { return static_cast<std::int64_t>(bytes) * 80; }

}  // namespace

TEST_GROUP(Generate){};

TEST(Generate, aCnpIsTheRealAdaptersToTheByte) {
    const auto sent = sent_by(one_flow("kind = \"cnp\"\nqp = 0x118\nsport = 0\nid = 0x718c"));
    STRCMP_EQUAL(std::string{cnp_vector}.c_str(), to_hex(sent.at(0).bytes).c_str());
}

TEST(Generate, aPfcFrameIsTheStandards) {
    const auto sent =
        sent_by(two_hosts("[[flow]]\nfrom = \"h0\"\nkind = \"pfc\"\npfc = {3 = 65535, 0 = 0, 7 = 2}\n"));
    const std::string enabled_and_quanta = "0089000000000000ffff0000000000000002";
    const std::string expected =
        "0180c20000017cfe90643b3288080101" + enabled_and_quanta + std::string(52, '0');
    STRCMP_EQUAL(expected.c_str(), to_hex(sent.at(0).bytes).c_str());
}

TEST(Generate, aPauseFrameIsTheStandards) {
    const auto sent = sent_by(two_hosts("[[flow]]\nfrom = \"h0\"\nkind = \"pause\"\nquanta = 258\n"));
    const std::string expected = "0180c20000017cfe90643b32880800010102" + std::string(84, '0');
    STRCMP_EQUAL(expected.c_str(), to_hex(sent.at(0).bytes).c_str());
}

TEST(Generate, padsAPayloadToFourBytesAndCountsThePad) {
    for (std::size_t payload : {0U, 1U, 2U, 3U, 4U, 1001U}) {
        const Bytes frame =
            sent_by(one_flow("kind = \"roce\"\npayload = " + std::to_string(payload))).at(0).bytes;
        const std::size_t pad = (4 - payload % 4) % 4;
        CHECK_EQUAL(pad << 4, frame[bth + 1]);
        CHECK_EQUAL(20 + 8 + 12 + payload + pad + 4, load_be<std::uint16_t>(&frame[16]));
        CHECK_EQUAL(8 + 12 + payload + pad + 4, load_be<std::uint16_t>(&frame[38]));
        CHECK_EQUAL(std::max<std::size_t>(60, 58 + payload + pad), frame.size());
    }
}

TEST(Generate, sizesAreTheNextSmallerOnTheGrid) {
    const auto sent = sent_by(one_flow("kind = \"roce\"\nsize = [60, 62, 64, 65, 66, 1082]\ncount = 7"));
    const std::size_t expected[] = {60, 62, 62, 62, 66, 1082, 60};
    for (std::size_t i = 0; i < 7; ++i) CHECK_EQUAL(expected[i], sent[i].length);
}

TEST(Generate, randomSizesFillTheirRange) {
    std::set<std::size_t> sizes;
    for (const Sent& sent : sent_by(one_flow("kind = \"udp\"\nsize = \"random 60..79\"\ncount = 1000")))
        sizes.insert(sent.length);
    CHECK_EQUAL(20U, sizes.size());
    CHECK_EQUAL(60U, *sizes.begin());
    CHECK_EQUAL(79U, *sizes.rbegin());
}

TEST(Generate, everyConnectionGoesThroughTheOpcodesWithItsOwnPsn) {
    const auto sent =
        sent_by(one_flow("kind = \"roce\"\nopcodes = [\"write_first\", \"write_middle x2\", \"write_last\"]\n"
                         "payload = 256\nqp = 0xfffffe\nqps = 2\npsn = 0xfffffe\ncount = 16"));
    const std::uint8_t opcodes[] = {6, 7, 7, 8};
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const Bytes& frame = sent[i].bytes;
        CHECK_EQUAL(opcodes[i / 2 % 4], frame[bth]);
        CHECK_EQUAL(0xFFFFFEU + i % 2, qp_of(frame));
        CHECK_EQUAL((0xFFFFFEU + i / 2) & 0xFFFFFF, psn_of(frame));
        if (frame[bth] == 6)
            CHECK_EQUAL(1024U, load_be<std::uint32_t>(&frame[bth + 12 + 12]));  // RETH: the whole message
    }
}

TEST(Generate, flowsAreDistinctPairsOfPortAndQp) {
    for (const char* keys : {"flows = 4096", "flows = 4096\nqps = 64", "flows = 4096\nqps = 4096",
                             "flows = 4096\nsport = 5000", "flows = 4096\nqps = 8\nsport = \"5000..5511\""}) {
        std::set<std::pair<std::uint16_t, std::uint32_t>> pairs;
        for (const Sent& sent :
             sent_by(one_flow("kind = \"roce\"\nsize = 64\ncount = 8192\n" + std::string{keys}))) {
            pairs.emplace(source_port_of(sent.bytes), qp_of(sent.bytes));
        }
        CHECK_EQUAL(4096U, pairs.size());
    }
}

TEST(Generate, framesBackToBackTakeTheLinksTime) {
    std::int64_t expected = 0;
    for (const Sent& sent : sent_by(one_flow("kind = \"udp\"\nsize = [60, 1500, 61]\ncount = 300"))) {
        CHECK_EQUAL(expected, sent.at_ps);
        expected += byte_times(sent.length + 24);
    }
}

TEST(Generate, noFrameStartsBeforeTheOneAheadHasEnded) {
    std::int64_t free_at = 0;
    for (const Sent& sent : sent_by(two_hosts(R"(
[[flow]]
from = "h0"
to = "h1"
kind = "udp"
size = "random 60..1500"
rate = "70G"
count = 2000
[[flow]]
from = "h0"
to = "h1"
kind = "roce"
gap = "100ns"
count = 2000
[[flow]]
from = "h0"
kind = "pfc"
pfc = {3 = 9}
gap = "77ns"
count = 2000
)"))) {
        CHECK_TRUE(sent.at_ps >= free_at);
        free_at = sent.at_ps + byte_times(sent.length + 24);
    }
}

TEST(Generate, aRateIsKeptOnTheWire) {
    const auto sent =
        sent_by(one_flow("kind = \"udp\"\nsize = 976\nrate = \"10G\"\ncount = 101"));  // 1000 B on the wire
    CHECK_EQUAL(100 * 800'000, sent.back().at_ps);
}

TEST(Generate, burstsStartOnTheirGrid) {
    const auto sent = sent_by(one_flow(
        "kind = \"udp\"\nsize = 976\nburst = {frames = 4, every = \"5us\"}\nstart = \"1us\"\ncount = 12"));
    for (std::size_t i = 0; i < sent.size(); ++i) {
        CHECK_EQUAL(1'000'000 + static_cast<std::int64_t>(i / 4) * 5'000'000 +
                        static_cast<std::int64_t>(i % 4) * 80'000,
                    sent[i].at_ps);
    }
}

TEST(Generate, aDurationEndsAFlow) {
    CHECK_EQUAL(10U, sent_by(one_flow("kind = \"udp\"\ngap = \"1us\"\nduration = \"10us\"")).size());
    CHECK_EQUAL(3U,
                sent_by(one_flow("kind = \"udp\"\ngap = \"1us\"\nduration = \"10us\"\ncount = 3")).size());
}

TEST(Generate, greedyFlowsShareTheLinkAndMacControlGoesAhead) {
    const auto sent = sent_by(two_hosts(R"(
[[flow]]
from = "h0"
to = "h1"
kind = "udp"
size = 976
duration = "100us"
[[flow]]
from = "h0"
to = "h1"
kind = "tcp"
size = 976
duration = "100us"
[[flow]]
from = "h0"
kind = "pfc"
pfc = {3 = 9}
start = "50us"
)"));
    std::int64_t balance = 0;
    bool pause_seen = false;
    for (const Sent& frame : sent) {
        if (frame.length == 60) {
            pause_seen = true;
            CHECK_TRUE(frame.at_ps >= 50'000'000 && frame.at_ps < 50'080'000);
            continue;
        }
        balance += frame.bytes[23] == 6 ? 1 : -1;
        CHECK_TRUE(balance >= -2 && balance <= 2);
    }
    CHECK_TRUE(pause_seen);
}

TEST(Generate, aListOfSendersMakesAFlowForEach) {
    const std::string text = two_hosts(
        "[[flow]]\nfrom = [\"h0\", \"h1\"]\nto = \"10.0.99.1\"\nto_mac = \"02:00:00:00:00:09\"\nkind = "
        "\"roce\"\ncount = 3\n");
    CHECK_EQUAL(3U, sent_by(text, 0).size());
    CHECK_EQUAL(3U, sent_by(text, 1).size());
    CHECK_EQUAL(2, sent_by(text, 1)[0].bytes[11]);
}

TEST(Generate, writesTheSameBytesEachTimeAndOthersForAnotherSeed) {
    const TempFolder temp;
    Recipe recipe =
        load_recipe(one_flow("kind = \"roce\"\nsize = \"random 60..1500\"\nflows = 100\ncount = 5000"), "r")
            .recipe;
    generate(recipe, temp / "a");
    generate(recipe, temp / "b");
    generate(recipe, temp / "b");  // over the old ones
    recipe.seed = 2;
    generate(recipe, temp / "c");
    CHECK_TRUE(contents(temp / "a/h0.pcap") == contents(temp / "b/h0.pcap"));
    CHECK_FALSE(contents(temp / "a/h0.pcap") == contents(temp / "c/h0.pcap"));
    CHECK_EQUAL(24U, contents(temp / "a/h1.pcap").size());  // sends nothing: a header
    CHECK_EQUAL(3U, temp.entries());
}

TEST(Generate, replacesNothingThatItDidNotWriteNorItsRecipe) {
    const TempFolder temp;
    const Recipe recipe = load_recipe(one_flow("kind = \"udp\""), "r").recipe;
    std::filesystem::create_directory(temp / "a");
    put(temp / "a/h0.pcap", "of somebody else");
    CHECK_THROWS(Failure, generate(recipe, temp / "a"));
    STRCMP_EQUAL("of somebody else", contents(temp / "a/h0.pcap").c_str());
    generate(recipe, temp / "b");
    CHECK_THROWS(Failure, generate(recipe, temp / "b", {(temp / "b/h1.pcap").string()}));
    generate(recipe, temp / "b");
}

TEST(Generate, addsTheOriginToEveryTimestamp) {
    const TempFolder temp;
    generate(
        load_recipe("origin = \"1700000000.5s\"\n" + one_flow("kind = \"udp\"\nstart = \"7ns\""), "r").recipe,
        temp / "o");
    CaptureReader reader{(temp / "o/h0.pcap").string()};
    CapturedFrame frame;
    CHECK_TRUE(reader.next(frame));
    CHECK_EQUAL(1'700'000'000'500'000'007ULL, frame.timestamp_ns);
    CHECK_FALSE(reader.next(frame));
}

TEST(Generate, leavesNothingBehindWhenItFails) {
    const TempFolder temp;
    const Recipe recipe =
        load_recipe(one_flow("kind = \"udp\"\ngap = \"86400s\"\ncount = 200"), "r").recipe;  // 200 days
    CHECK_THROWS(Failure, generate(recipe, temp / "x/y/z"));
    CHECK_EQUAL(0U, temp.entries());
    put(temp / "file", "");
    CHECK_THROWS(Failure, generate(recipe, temp / "file"));
    CHECK_EQUAL(1U, temp.entries());
}

}  // namespace sluice::generate_test
