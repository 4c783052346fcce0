#include "lib/pfc/pfc_frame.hh"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "lib/pfc/pfc_mode.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pfc_frame_test {

using Kind = MacControl::Kind;

namespace {

constexpr MacAddress own{{0x02, 0x53, 0x4C, 0, 0, 7}};
constexpr MacAddress stranger{{0x02, 0x53, 0x4C, 0, 0, 8}};

using Frame = std::array<std::uint8_t, pfc_frame_bytes>;

Frame built(const PauseMap& map) {
    Frame frame;
    frame.fill(0xEE);  // whatever lay in the buffer
    build_pfc_frame(frame, own, map);
    return frame;
}

Frame pause_frame(std::uint16_t quanta) {
    Frame frame = built({});
    store_be<std::uint16_t>(frame.data() + 14, 0x0001);
    store_be<std::uint16_t>(frame.data() + 16, quanta);
    return frame;
}

// A copy of exactly `bytes`, so that the address sanitiser sees a read beyond.
MacControl decode_cut(const Frame& frame, std::size_t bytes) {
    const std::vector<std::uint8_t> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    return decode_mac_control(cut, own);
}

}  // namespace

TEST_GROUP(PfcFrame){};

TEST(PfcFrame, refusesWhatIsTooShortForItsOpcode) {
    for (std::size_t bytes = 0; bytes < 34; ++bytes)
        CHECK(decode_cut(built({}), bytes).kind == Kind::malformed);
    for (std::size_t bytes = 0; bytes < 18; ++bytes)
        CHECK(decode_cut(pause_frame(1), bytes).kind == Kind::malformed);
    CHECK(decode_cut(built({}), 34).kind == Kind::pfc);
    CHECK(decode_cut(pause_frame(1), 18).kind == Kind::pause);
}

TEST(PfcFrame, refusesOtherEtherTypesAndTaggedFrames) {
    for (const std::uint16_t type : {ether_type::vlan, ether_type::ipv4}) {
        Frame frame = built({});
        store_be<std::uint16_t>(frame.data() + 12, type);
        CHECK(decode_mac_control(frame, own).kind == Kind::malformed);
    }
}

TEST(PfcFrame, tellsUnknownOpcodes) {
    for (const std::uint16_t opcode : {0x0000, 0x0002, 0x0100, 0x0102, 0xFFFF}) {
        Frame frame = built({});
        store_be<std::uint16_t>(frame.data() + 14, opcode);
        const MacControl control = decode_mac_control(frame, own);
        CHECK(control.kind == Kind::unknown_opcode);
        CHECK_EQUAL(opcode, control.opcode);
    }
}

TEST(PfcFrame, isTheStandardsToTheByte) {
    const Frame frame = built({0b1000'1001, {0xFFFF, 1, 2, 0x1234, 4, 5, 6, 0}});
    const Frame expected{
        0x01, 0x80, 0xC2, 0x00, 0x00, 0x01, 0x02, 0x53, 0x4C, 0x00, 0x00, 0x07, 0x88, 0x08,
        0x01, 0x01, 0x00, 0x89, 0xFF, 0xFF, 0,    0,    0,    0,    0x12, 0x34};  // a class not enabled: time
                                                                                  // 0
    CHECK(frame == expected);
}

TEST(PfcFrame, readsWhatItBuilds) {
    for (unsigned mask = 0; mask < 256; ++mask) {
        PauseMap map{static_cast<std::uint8_t>(mask), {}};
        for (unsigned n = 0; n < 8; ++n)
            if ((mask >> n & 1U) != 0) map.quanta[n] = static_cast<std::uint16_t>(n * 9361 + mask);
        const MacControl control = decode_mac_control(built(map), own);
        CHECK(control.kind == Kind::pfc);
        CHECK(control.addressed);
        CHECK(control.map == map);
    }
}

TEST(PfcFrame, ignoresTheUpperByteOfTheVectorAndThePadding) {
    Frame frame = built({0b0000'1000, {0, 0, 0, 77}});
    frame[16] = 0xFF;
    frame[59] = 0xAA;
    const MacControl control = decode_mac_control(frame, own);
    CHECK(control.kind == Kind::pfc);
    CHECK((control.map == PauseMap{0b0000'1000, {0, 0, 0, 77}}));
}

TEST(PfcFrame, acceptsAnySourceAndTwoDestinations) {
    Frame frame = built({});
    std::memset(frame.data() + 6, 0, 6);
    CHECK(decode_mac_control(frame, own).kind == Kind::pfc);
    CHECK(decode_mac_control(frame, own).addressed);
    std::memcpy(frame.data(), own.bytes.data(), 6);
    CHECK(decode_mac_control(frame, own).addressed);
    std::memcpy(frame.data(), stranger.bytes.data(), 6);
    CHECK(!decode_mac_control(frame, own).addressed);
    std::memset(frame.data(), 0xFF, 6);
    CHECK(!decode_mac_control(frame, own).addressed);
}

TEST(PfcFrame, tellsPauseApart) {
    const MacControl control = decode_mac_control(pause_frame(0xBEEF), own);
    CHECK(control.kind == Kind::pause);
    CHECK_EQUAL(0xBEEF, control.pause_quanta);
    CHECK_EQUAL(0, control.map.class_enable);
}

TEST(PfcFrame, modesSayWhoSendsAndWhoObeys) {
    CHECK((pfc_masks(PfcMode::symmetric, 0b1000) == PfcMasks{0b1000, 0b1000}));
    CHECK((pfc_masks(PfcMode::asymmetric, 0b1000) == PfcMasks{0b1000, 0xFF}));
    CHECK((pfc_masks(PfcMode::semi_lossless, 0b1000) == PfcMasks{0, 0b1000}));
    CHECK((pfc_masks(PfcMode::off, 0b1000) == PfcMasks{0, 0}));
}

}  // namespace sluice::pfc_frame_test
