// The fields that a router may change leave the ICRC right; any other bit breaks it.
#include "tools/traffic/icrc.hh"

#include <functional>

#include "tests/traffic/support.hh"
#include "tools/traffic/verify.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::icrc_test {

using namespace sluice::traffic;

namespace {

bool good(const Bytes& frame) {
    const auto expected = icrc_of(frame);
    return expected && expected == icrc_carried(frame);
}

// Flips every bit of the frame in turn; where `may_change(byte, bit)`, the ICRC must stay good, elsewhere it
// must not.
void check_every_bit(const Bytes& frame, const std::function<bool(std::size_t, unsigned)>& may_change) {
    CHECK_TRUE(good(frame));
    for (std::size_t byte = 0; byte < frame.size(); ++byte) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            Bytes changed = frame;
            changed[byte] ^= static_cast<std::uint8_t>(1U << bit);
            if (good(changed) == may_change(byte, bit)) continue;
            FAIL(("byte " + std::to_string(byte) + " bit " + std::to_string(bit)).c_str());
        }
    }
}

Bytes only_frame(std::string_view keys) { return sent_by(one_flow(keys)).at(0).bytes; }

}  // namespace

TEST_GROUP(Icrc){};

TEST(Icrc, isNoneOfFramesThatAreNotWholeRoce) {
    const Bytes cnp = from_hex(cnp_vector);
    for (std::size_t length = 0; length < cnp.size(); ++length) {
        CHECK_FALSE(icrc_of(std::span{cnp}.first(length)).has_value());
        CHECK_FALSE(icrc_carried(std::span{cnp}.first(length)).has_value());
    }
    CHECK_FALSE(icrc_of(only_frame("kind = \"udp\"")).has_value());
    CHECK_FALSE(icrc_of(only_frame("kind = \"malformed\"\nvariant = \"fragment\"")).has_value());
    CHECK_FALSE(icrc_of(only_frame("kind = \"malformed\"\nvariant = \"short_bth\"")).has_value());
    CHECK_FALSE(icrc_of(only_frame("kind = \"malformed\"\nvariant = \"length_beyond_frame\"")).has_value());
}

TEST(Icrc, ofARealAdaptersCnp) {
    const Bytes cnp = from_hex(cnp_vector);
    CHECK_EQUAL(0x2A00FD82U, icrc_of(cnp).value());
    CHECK_EQUAL(0x2A00FD82U, icrc_carried(cnp).value());
}

TEST(Icrc, isWrittenLeastSignificantByteFirst) {
    Bytes cnp = from_hex(cnp_vector);
    std::fill(cnp.end() - 4, cnp.end(), std::uint8_t{0});
    CHECK_TRUE(set_icrc(cnp));
    STRCMP_EQUAL(std::string{cnp_vector}.c_str(), to_hex(cnp).c_str());
}

TEST(Icrc, ofIpv4SurvivesWhatARouterChangesAndNothingElse) {
    check_every_bit(from_hex(cnp_vector), [](std::size_t byte, unsigned) {
        return byte < 12 || byte == 15 || byte == 22 || byte == 24 ||
               byte == 25 ||                            // MACs, TOS, TTL, checksum
               byte == 40 || byte == 41 || byte == 46;  // UDP checksum, BTH's FECN and BECN
    });
}

TEST(Icrc, ofIpv6SurvivesWhatARouterChangesAndNothingElse) {
    check_every_bit(only_frame("kind = \"roce\"\nip_version = 6\nsize = 150"),
                    [](std::size_t byte, unsigned bit) {
                        return byte < 12 || (byte == 14 && bit < 4) || (byte >= 15 && byte <= 17) ||
                               byte == 21 || byte == 60 || byte == 61 || byte == 66;
                    });
}

TEST(Icrc, ofATaggedFrameDoesNotCoverTheTag) {
    const Bytes frame = only_frame("kind = \"roce\"\nsize = 100\nvlan = [{vid = 7, type = \"802.1ad\"}, 10]");
    check_every_bit(frame, [](std::size_t byte, unsigned bit) {
        if (byte == 16 && bit == 4) return true;  // 0x8100 becomes 0x9100, a tag as well
        return byte < 12 || byte == 14 || byte == 15 || byte == 18 || byte == 19 || byte == 23 ||
               byte == 30 || byte == 32 || byte == 33 || byte == 48 || byte == 49 || byte == 54;
    });
}

TEST(Icrc, coversOptionsAndExtensionHeaders) {
    for (const char* variant :
         {"ip_version = 4\nvariant = \"options\"", "ip_version = 6\nvariant = \"ipv6_extension\"",
          "ip_version = 6\nvariant = \"long_options_chain\""}) {
        Bytes frame = only_frame("kind = \"malformed\"\nsize = 600\n" + std::string{variant});
        CHECK_TRUE(good(frame));
        frame[14 + 40 + 6] ^= 1;  // within options, or padding of the first extension header
        CHECK_FALSE(good(frame));
    }
}

TEST(Icrc, doesNotCoverEthernetPadding) {
    Bytes frame = only_frame("kind = \"roce\"\npayload = 0");
    CHECK_EQUAL(60U, frame.size());
    CHECK_TRUE(good(frame));
    frame[59] ^= 1;
    CHECK_TRUE(good(frame));
    frame[57] ^= 1;
    CHECK_FALSE(good(frame));
}

TEST_GROUP(Verification){};

TEST(Verification, countsEveryKindOnce) {
    Verification v;
    for (const Sent& sent : sent_by(two_hosts(R"(
[[flow]]
from = "h0"
to = "h1"
kind = "roce"
count = 5
[[flow]]
from = "h0"
to = "h1"
kind = "roce"
ecn = "ce"
ip_version = 6
count = 3
[[flow]]
from = "h0"
to = "h1"
kind = "cnp"
ecn = "not-ect"
[[flow]]
from = "h0"
to = "h1"
kind = "malformed"
variant = ["bad_icrc", "truncated"]
ecn = "ect1"
count = 2
[[flow]]
from = "h0"
to = "h1"
kind = "tcp"
[[flow]]
from = "h0"
kind = "pfc"
pfc = {3 = 1}
count = 2
[[flow]]
from = "h0"
kind = "pause"
)")))
        v.add(sent.bytes, static_cast<std::uint32_t>(sent.length));
    CHECK_EQUAL(15U, v.frames);
    CHECK_EQUAL(11U, v.roce);
    CHECK_EQUAL(9U, v.icrc_good);
    CHECK_EQUAL(1U, v.icrc_bad);
    CHECK_EQUAL(1U, v.icrc_unchecked);
    CHECK_EQUAL(1U, v.cnp);
    CHECK_EQUAL(1U, v.not_ect);
    CHECK_EQUAL(5U, v.ect0);
    CHECK_EQUAL(2U, v.ect1);
    CHECK_EQUAL(3U, v.ce);
    CHECK_EQUAL(2U, v.pfc);
    CHECK_EQUAL(1U, v.pause);
}

TEST(Verification, takesAnyFrameCutAnywhere) {
    for (const char* version : {"4", "6"}) {
        const auto all = sent_by(
            one_flow("kind = \"malformed\"\nvariant = \"all\"\nsize = 420\ncount = 54\nip_version = " +
                     std::string{version}));
        for (const Sent& sent : all) {
            for (std::size_t length = 0; length <= sent.bytes.size(); ++length) {
                const Bytes cut(sent.bytes.begin(), sent.bytes.begin() + static_cast<std::ptrdiff_t>(length));
                Verification v;
                v.add(cut, static_cast<std::uint32_t>(sent.length));
                CHECK_EQUAL(v.roce, v.icrc_good + v.icrc_bad + v.icrc_unchecked);
            }
        }
    }
}

}  // namespace sluice::icrc_test
