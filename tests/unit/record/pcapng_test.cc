// The blocks of pcapng, byte by byte: tests/control/mirror_test.py lets tshark read them.
#include "lib/record/pcapng.hh"

#include <array>
#include <cstring>
#include <string>

#include <CppUTest/TestHarness.h>

namespace sluice::pcapng::pcapng_test {
namespace {

template <class Integer>
Integer at(const std::string& bytes, std::size_t offset) {
    Integer value{};
    CHECK(offset + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// Whole words, and the same length in front and behind.
void check_frame_of(const std::string& block, std::uint32_t type) {
    LONGS_EQUAL(type, at<std::uint32_t>(block, 0));
    LONGS_EQUAL(0, block.size() % 4);
    LONGS_EQUAL(block.size(), at<std::uint32_t>(block, 4));
    LONGS_EQUAL(block.size(), at<std::uint32_t>(block, block.size() - 4));
}

}  // namespace

TEST_GROUP(Pcapng) {
    std::string block;
    std::array<std::uint8_t, 5> bytes{1, 2, 3, 4, 5};
};

TEST(Pcapng, SectionTellsItsByteOrderAndVersion) {
    add_section(block, "abc");
    check_frame_of(block, section_block);
    LONGS_EQUAL(0x1A2B3C4D, at<std::uint32_t>(block, 8));
    LONGS_EQUAL(1, at<std::uint16_t>(block, 12));
    LONGS_EQUAL(0, at<std::uint16_t>(block, 14));
    CHECK(~std::uint64_t{0} == at<std::uint64_t>(block, 16));
    LONGS_EQUAL(4, at<std::uint16_t>(block, 24));  // shb_userappl
    LONGS_EQUAL(3, at<std::uint16_t>(block, 26));
    STRCMP_EQUAL("abc", block.substr(28, 3).c_str());
    LONGS_EQUAL(0, at<std::uint32_t>(block, 32));  // opt_endofopt
    LONGS_EQUAL(40, block.size());
}

TEST(Pcapng, InterfaceHasNameSpeedAndNanoseconds) {
    add_interface(block, "h1", 128, 100'000'000'000);
    check_frame_of(block, 1);
    LONGS_EQUAL(1, at<std::uint16_t>(block, 8));  // Ethernet
    LONGS_EQUAL(128, at<std::uint32_t>(block, 12));
    LONGS_EQUAL(2, at<std::uint16_t>(block, 16));
    STRCMP_EQUAL("h1", block.substr(20, 2).c_str());
    LONGS_EQUAL(8, at<std::uint16_t>(block, 24));
    CHECK(100'000'000'000 == at<std::uint64_t>(block, 28));
    LONGS_EQUAL(9, at<std::uint16_t>(block, 36));
    LONGS_EQUAL(1, at<std::uint16_t>(block, 38));
    LONGS_EQUAL(9, block[40]);
}

TEST(Pcapng, PacketHasItsTimeInTwoHalvesItsBytesAndItsComment) {
    add_packet(block, {7, 0x0000'0001'0000'0002, 1500, bytes, Direction::inbound, "why"});
    check_frame_of(block, 6);
    LONGS_EQUAL(7, at<std::uint32_t>(block, 8));
    LONGS_EQUAL(1, at<std::uint32_t>(block, 12));
    LONGS_EQUAL(2, at<std::uint32_t>(block, 16));
    LONGS_EQUAL(5, at<std::uint32_t>(block, 20));
    LONGS_EQUAL(1500, at<std::uint32_t>(block, 24));
    MEMCMP_EQUAL(bytes.data(), block.data() + 28, bytes.size());
    LONGS_EQUAL(1, at<std::uint16_t>(block, 36));  // opt_comment, behind the padding
    LONGS_EQUAL(3, at<std::uint16_t>(block, 38));
    STRCMP_EQUAL("why", block.substr(40, 3).c_str());
    LONGS_EQUAL(2, at<std::uint16_t>(block, 44));  // epb_flags
    LONGS_EQUAL(1, at<std::uint32_t>(block, 48));
    LONGS_EQUAL(0, at<std::uint32_t>(block, 52));
}

TEST(Pcapng, PacketIsNeverLongerThanItsFrame) {
    add_packet(block, {0, 0, 3, bytes, Direction::unknown, {}});
    check_frame_of(block, 6);
    LONGS_EQUAL(5, at<std::uint32_t>(block, 24));
    LONGS_EQUAL(0, at<std::uint32_t>(block, 36));  // neither comment nor flags
}

TEST(Pcapng, TextThatNoOptionHoldsIsCutBetweenCharacters) {
    std::string text(65'534, 'x');
    text += "\xC3\xA4 and more";  // two bytes, the second one too many
    add_packet(block, {0, 0, 5, bytes, Direction::unknown, text});
    check_frame_of(block, 6);
    LONGS_EQUAL(65'534, at<std::uint16_t>(block, 38));
    BYTES_EQUAL('x', block[40 + 65'533]);
    BYTES_EQUAL(0, block[40 + 65'534]);
}

TEST(Pcapng, BlocksFollowEachOther) {
    add_section(block, "abc");
    const std::size_t first = block.size();
    add_packet(block, {0, 0, 5, bytes, Direction::unknown, {}});
    check_frame_of(block.substr(first), 6);
}

}  // namespace sluice::pcapng::pcapng_test
