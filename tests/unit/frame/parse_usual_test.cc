// The shortcut of the parser agrees with the whole parser wherever it answers.
#include "lib/frame/parse_usual.hh"

#include <algorithm>
#include <cstdint>

#include "lib/values/rng.hh"
#include "tests/unit/frame/parse_exact.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::parse_usual_test {
namespace {

using namespace sluice::frames;

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

}  // namespace

TEST_GROUP(ParseUsual){};

TEST(ParseUsual, theShortcutSaysWhatTheWholeParserSays) {
    compare_shortcut<0>(true);
    compare_shortcut<1>(true);
}

TEST(ParseUsual, theShortcutSaysSoOfIpv6) {
    compare_shortcut<0>(false);
    compare_shortcut<1>(false);
}

// Every first octet of either address: those that rules speak of are left to the rules.
TEST(ParseUsual, theShortcutLeavesJudgedAddressesToTheRules) {
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

}  // namespace sluice::parse_usual_test
