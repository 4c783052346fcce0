// Each variant has the error of its name and no other.
#include <set>

#include "lib/values/endian.hh"
#include "tests/traffic/support.hh"
#include "tools/traffic/dissect.hh"
#include "tools/traffic/icrc.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::malformed_test {

using namespace sluice::traffic;

namespace {

std::vector<Sent> variant(std::string_view name, int version, std::size_t count = 1) {
    return sent_by(one_flow("kind = \"malformed\"\nsize = 400\nvariant = \"" + std::string{name} +
                            "\"\nip_version = " + std::to_string(version) +
                            "\ncount = " + std::to_string(count)));
}

bool checksum_right(const Bytes& frame, std::size_t at, std::size_t header) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header; i += 2) sum += load_be<std::uint16_t>(&frame[at + i]);
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return sum == 0xFFFF;
}

bool icrc_right(const Bytes& frame) { return icrc_of(frame) && icrc_of(frame) == icrc_carried(frame); }

}  // namespace

TEST_GROUP(Malformed){};

TEST(Malformed, allMeansEveryVariantOfThatVersion) {
    std::set<std::string> frames;
    std::size_t v4 = 0;
    std::size_t v6 = 0;
    for (const MalformationInfo& info : malformations) {
        v4 += info.v4 ? 1 : 0;
        v6 += info.v6 ? 1 : 0;
        if (info.v4) CHECK_EQUAL(1U, variant(info.name, 4).size());
        if (info.v6) CHECK_EQUAL(1U, variant(info.name, 6).size());
    }
    for (const Sent& sent : variant("all", 4, v4)) frames.insert(to_hex(sent.bytes));
    CHECK_EQUAL(v4, frames.size());
    for (const Sent& sent : variant("all", 6, v6)) frames.insert(to_hex(sent.bytes));
    CHECK_EQUAL(v4 + v6 - 1, frames.size());  // LLDP is the same in both
}

TEST(Malformed, checksumsAreRightButForOne) {
    for (const MalformationInfo& info : malformations) {
        if (!info.v4 || info.which == Malformation::truncated) continue;
        const Bytes frame = variant(info.name, 4)[0].bytes;
        const Dissection d = dissect(frame);
        if (d.ether_type != ether_type::ipv4) continue;
        const std::size_t header = (frame[d.network] & 0xFU) * 4U;
        if (info.which == Malformation::bad_version) continue;  // its header says nothing
        CHECK_EQUAL_TEXT(info.which != Malformation::bad_checksum, checksum_right(frame, d.network, header),
                         info.name.data());
    }
}

TEST(Malformed, everyVariantHasItsError) {
    const Sent cut = variant("truncated", 4)[0];
    CHECK_EQUAL(cut.length / 2, cut.bytes.size());
    CHECK_EQUAL(19, load_be<std::uint16_t>(&variant("short_ip", 4)[0].bytes[16]));
    CHECK_EQUAL(4, load_be<std::uint16_t>(&variant("short_ip", 6)[0].bytes[18]));
    CHECK_EQUAL(5, variant("bad_version", 6)[0].bytes[14] >> 4);
    CHECK_EQUAL(0x44, variant("bad_ihl", 4)[0].bytes[14]);
    CHECK_EQUAL(0, variant("ttl_0", 4)[0].bytes[22]);
    CHECK_EQUAL(1, variant("ttl_1", 6)[0].bytes[21]);
    CHECK_EQUAL(46U, variant("runt", 4)[0].bytes.size());
    CHECK_TRUE(variant("giant", 6)[0].bytes.size() > 9490);
    CHECK_EQUAL(1, variant("group_source_mac", 4)[0].bytes[6] & 1);
    CHECK_EQUAL(127, variant("martian_source", 4)[0].bytes[26]);
    CHECK_TRUE(dissect(variant("length_beyond_frame", 4)[0].bytes).ip_end > 400);
    CHECK_TRUE(dissect(variant("length_beyond_frame", 6)[0].bytes).ip_end > 400);
    CHECK_EQUAL(3U, dissect(variant("three_tags", 4)[0].bytes).tags);
    CHECK_EQUAL(14U + 40 + 256 + 64, dissect(variant("long_options_chain", 6)[0].bytes).transport);
    CHECK_FALSE(icrc_right(variant("bad_icrc", 4)[0].bytes));
    CHECK_FALSE(icrc_right(variant("bad_icrc", 6)[0].bytes));
}

TEST(Malformed, fragmentsAreFirstAndLaterInTurn) {
    for (int version : {4, 6}) {
        const auto sent = variant("fragment", version, 2);
        const Dissection first = dissect(sent[0].bytes);
        const Dissection later = dissect(sent[1].bytes);
        CHECK_TRUE(first.fragment && first.transport != 0);
        CHECK_TRUE(later.fragment && later.transport == 0);
    }
}

TEST(Malformed, whatIsMerelyUnusualHasARightIcrc) {
    for (const char* name : {"ttl_0", "ttl_1", "tagged", "priority_tagged", "qinq", "three_tags",
                             "martian_source", "multicast", "wrong_mac", "giant", "group_source_mac"}) {
        CHECK_TRUE_TEXT(icrc_right(variant(name, 4)[0].bytes), name);
        CHECK_TRUE_TEXT(icrc_right(variant(name, 6)[0].bytes), name);
    }
    CHECK_TRUE(icrc_right(variant("options", 4)[0].bytes));
    CHECK_TRUE(icrc_right(variant("broadcast", 4)[0].bytes));
    CHECK_TRUE(icrc_right(variant("ipv6_extension", 6)[0].bytes));
    CHECK_TRUE(icrc_right(variant("long_options_chain", 6)[0].bytes));
}

}  // namespace sluice::malformed_test
