// Packets of ERSPAN to the byte, and which frames are such packets. tshark reads them in
// tests/control/mirror_collector_test.py.
#include "lib/record/erspan.hh"

#include <algorithm>
#include <vector>

#include "lib/frame/checksum.hh"

#include <CppUTest/TestHarness.h>

namespace sluice::erspan_test {
namespace {

using Frame = std::vector<std::uint8_t>;

constexpr std::uint64_t stamp_ns = 0x6553'F100ULL * 1'000'000'000 + 0x0102'0304;  // of 2023

Frame part(const Frame& frame, std::size_t from, std::size_t bytes) {
    return {frame.begin() + static_cast<std::ptrdiff_t>(from),
            frame.begin() + static_cast<std::ptrdiff_t>(from + bytes)};
}

IpAddress v4(std::uint8_t last) {
    IpAddress address;
    address.bytes = {10, 0, 9, last};
    return address;
}

IpAddress v6(std::uint8_t last) {
    IpAddress address;
    address.is_v6 = true;
    address.bytes = {0x20, 0x01, 0x0D, 0xB8};
    address.bytes[15] = last;
    return address;
}

}  // namespace

TEST_GROUP(Erspan) {
    Frame link = Frame(14, 0xEE);
    Frame inner = Frame(100, 0xAA);
    MirrorHead head;
    ErspanPath path{link, v4(1), v4(2), 8, 0x155, 7};

    void setup() override {
        head.event = MirrorEvent::drop;
        head.reason = DropReason::queue_limit;
        head.ingress = 3;
        head.egress = 5;
        head.queue = 6;
        head.of_classes = 1U << 4;
        head.frame_bytes = 1000;
    }
    Frame made() const { return erspan_frame(head, inner, stamp_ns, path); }
};

TEST(Erspan, ADropToTheByte) {
    const Frame frame = made();
    LONGS_EQUAL(14 + erspan_packet_bytes(false) + inner.size(), frame.size());
    CHECK(part(frame, 12, 4) == Frame({0x08, 0x00, 0x45, 8 << 2}));
    LONGS_EQUAL(0, internet_checksum(std::span(frame).subspan(14, 20)));
    CHECK(part(frame, 16, 8) == Frame({0, 148, 0, 0, 0x40, 0, 64, 47}));
    CHECK(part(frame, 26, 8) == Frame({10, 0, 9, 1, 10, 0, 9, 2}));
    CHECK(part(frame, 34, 8) == Frame({0x10, 0, 0x22, 0xEB, 0, 0, 0, 7}));
    const auto reason = static_cast<std::uint8_t>(DropReason::queue_limit);
    CHECK(part(frame, 42, 20) ==
          Frame({0x20,   0, 0x85, 0x55, 1,    2,    3,    4, 0x16, reason, 0x80, 0x05,  //
                 5 << 2, 0, 0,    3,    0x65, 0x53, 0xF1, 0}));
    CHECK(part(frame, 62, inner.size()) == inner);
}

TEST(Erspan, OverIpv6) {
    path.from = v6(1);
    path.to = v6(2);
    const Frame frame = made();
    CHECK(part(frame, 12, 4) == Frame({0x86, 0xDD, 0x62, 0x00}));
    CHECK(part(frame, 18, 4) == Frame({0, 128, 47, 64}));
    CHECK(part(frame, 54, 4) == Frame({0x10, 0, 0x22, 0xEB}));
    LONGS_EQUAL(14 + erspan_packet_bytes(true) + inner.size(), frame.size());
}

TEST(Erspan, AWholeFrameIsNotCut) {
    head.frame_bytes = 100;
    LONGS_EQUAL(0x81, made()[44]);
    head.frame_bytes = 101;
    LONGS_EQUAL(0x85, made()[44]);
}

TEST(Erspan, DirectionAndPortAreThoseOfTheInterface) {
    head.event = MirrorEvent::delay;
    LONGS_EQUAL(0x0D, made()[53]);
    LONGS_EQUAL(5, made()[57]);
    head.event = MirrorEvent::pause;  // sent
    head.ingress = no_port;
    LONGS_EQUAL(0x0D, made()[53]);
    head.ingress = 3;  // received
    head.egress = no_port;
    LONGS_EQUAL(0x05, made()[53]);
    LONGS_EQUAL(3, made()[57]);
}

TEST(Erspan, TheTagSaysWhatHappened) {
    LONGS_EQUAL(0x1600 + static_cast<int>(DropReason::queue_limit), erspan_tag(head));
    head.egress = no_port;
    LONGS_EQUAL(0x1F00 + static_cast<int>(DropReason::queue_limit), erspan_tag(head));
    head.reason = DropReason::none;
    head.event = MirrorEvent::pause;
    head.egress = 4;
    LONGS_EQUAL(0x3F00, erspan_tag(head));
    head.event = MirrorEvent::delay;
    LONGS_EQUAL(0x2600, erspan_tag(head));
}

TEST(Erspan, IsKnownAgainWhateverItsLinkAndFamily) {
    CHECK(is_erspan(made()));
    link = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0x00, 0x00, 0x05, 0, 0};
    path.link = link;
    CHECK(is_erspan(made()));
    path.to = path.from = v6(1);
    CHECK(is_erspan(made()));
}

TEST(Erspan, OtherFramesAreNot) {
    const auto other = [&](std::size_t at, std::uint8_t value) {
        Frame frame = made();
        frame[at] = value;
        return is_erspan(frame);
    };
    CHECK_FALSE(other(12, 0x09));  // no IP
    CHECK_FALSE(other(23, 17));    // UDP
    CHECK_FALSE(other(37, 0x00));  // another protocol in GRE
    CHECK_FALSE(other(14, 0x4F));  // options beyond it: 0xAA stands there
    Frame type_2 = made();
    type_2[36] = 0x88;
    type_2[37] = 0xBE;
    CHECK(is_erspan(type_2));
}

TEST(Erspan, NoByteBeyondAFrameIsRead) {
    const Frame whole = made();
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const Frame cut = part(whole, 0, bytes);  // its own allocation: a sanitizer sees a read behind it
        LONGS_EQUAL(bytes >= 38, is_erspan(cut));
    }
}

}  // namespace sluice::erspan_test
