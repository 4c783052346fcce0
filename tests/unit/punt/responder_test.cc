// Frames and answers from other sources than this code: written out byte by byte, checksums by hand. The test
// of the whole switch is tests/loopback/responder_test.py.
#include "lib/punt/responder.hh"

#include <array>
#include <string_view>

#include "lib/frame/checksum.hh"
#include "lib/values/ids.hh"
#include "tests/unit/exact_copy.hh"
#include "tests/unit/ip_addresses.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::responder_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// "02 00 ..." or "0200..."; blanks do not count.
Bytes hex(std::string_view text) {
    Bytes out;
    unsigned digits = 0;
    unsigned value = 0;
    for (const char c : text) {
        if (c == ' ') continue;
        value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
        if (++digits % 2 == 0) out.push_back(static_cast<std::uint8_t>(value));
    }
    return out;
}

constexpr std::string_view broadcast = "ffffffffffff";
constexpr std::string_view host = "020000000001";
constexpr std::string_view port_mac = "0200000000ff";

}  // namespace

TEST_GROUP(Responder) {
    // A port with 10.0.0.1/24 and 2001:db8::1/64, of a switch that has 10.0.1.1 as well.
    std::array<IpPrefix, 2> own{IpPrefix{v4(0x0A000001), 24}, IpPrefix{v6(1), 64}};
    std::array<IpAddress, 3> local{v4(0x0A000001), v4(0x0A000101), v6(1)};
    ResponderPort port{{{2, 0, 0, 0, 0, 0xFF}}, false, own, local, {}};

    Bytes answer(const Bytes& frame, std::uint16_t mtu = 0) {
        const ExactCopy copy(frame);
        return respond(copy.view(), port, mtu);
    }
    void answers(const std::string& frame, const std::string& reply, std::uint16_t mtu = 0) {
        const Bytes got = answer(hex(frame), mtu);
        Bytes wanted = hex(reply);
        if (wanted.size() < 60 && !wanted.empty()) wanted.resize(60);
        LONGS_EQUAL(wanted.size(), got.size());
        MEMCMP_EQUAL(wanted.data(), got.data(), wanted.size());
    }
    void ignores(const std::string& frame, std::uint16_t mtu = 0) {
        LONGS_EQUAL(0, answer(hex(frame), mtu).size());
    }
    static std::string text(std::initializer_list<std::string_view> parts) {
        std::string out;
        for (const std::string_view part : parts) out += part;
        return out;
    }
};

TEST(Responder, arp) {
    const std::string ask =
        text({broadcast, host, "0806 0001 0800 06 04 0001", host, "0a000002 000000000000 0a000001"});
    answers(ask, text({host, port_mac, "0806 0001 0800 06 04 0002", port_mac, "0a000001", host, "0a000002"}));
    ignores(ask.substr(0, ask.size() - 2));
    for (const std::string_view target : {"0a000003", "0a000101"})
        ignores(text({broadcast, host, "0806 0001 0800 06 04 0001", host, "0a000002 000000000000", target}));
}

// RFC 1071's sum by hand: 0800 + 0001 + 0002 = 0803, so f7fc asks; 0003, so fffc answers. The IP header:
// 4500 + 001c + 4001 + 0a00 + 0002 + 0a00 + 0001 = 9920, so 66df. DSCP 10 and ECT(0) make 452a; the answer
// has 4528 of them: 9948, 66b7.
TEST(Responder, echo) {
    const std::string_view to_us = "0a000002 0a000001";
    const std::string_view to_host = "0a000001 0a000002";
    const std::string ask =
        text({port_mac, host, "0800 452a 001c 0000 0000 4001 66b5", to_us, "0800 f7fc 0001 0002"});
    answers(ask,
            text({host, port_mac, "0800 4528 001c 0000 0000 4001 66b7", to_host, "0000 fffc 0001 0002"}));
    ignores(text({port_mac, host, "0800 452a 001c 0000 0000 4001 66b5", to_us, "0800 f7fd 0001 0002"}));
    ignores(text({port_mac, host, "0800 452a 001c 0000 0000 4001 66b6", to_us, "0800 f7fc 0001 0002"}));
}

// The error: 45e0 + 0038 + 4001 + 0a00 + 0001 + 0a00 + 0002 = 9a1c, so 65e3. ICMP: 0b00 + 0000 and the
// quotation, whose header has the sum ffff and whose UDP is 03e8 + 07d0 + 0008 + 0000 = 0bc0: 16c0, so e93f.
TEST(Responder, timeExceeded) {
    const std::string_view packet = "4500 001c 0000 0000 0111 a4ce 0a000002 0a000102 03e8 07d0 0008 0000";
    const Bytes header = hex(packet.substr(0, 49));
    LONGS_EQUAL(0, internet_checksum(std::span(header).first(20)));
    answers(text({port_mac, host, "0800", packet}),
            text({host, port_mac, "0800 45e0 0038 0000 0000 4001 65e3 0a000001 0a000002 0b00 e93f 00000000",
                  packet}));
}

TEST(Responder, neighborSolicitation) {
    // Sum of the pseudo header and the message by scapy 2.5.
    const std::string_view source = "20010db8000000000000000000000002";
    const std::string_view group = "ff0200000000000000000001ff000001";
    const std::string_view target = "20010db8000000000000000000000001";
    const std::string ask = text({"3333ff000001", host, "86dd 60000000 0020 3a ff", source, group,
                                  "8700 SUM1 00000000", target, "0101", host});
    const std::string reply = text({host, port_mac, "86dd 6e000000 0020 3a ff", target, source,
                                    "8800 SUM2 e0000000", target, "0201", port_mac});
    const auto with = [](std::string what, const std::string& mark, std::string_view sum) {
        return what.replace(what.find(mark), mark.size(), sum);
    };
    answers(with(ask, "SUM1", "1c28"), with(reply, "SUM2", "0975"));
    ignores(with(ask, "SUM1", "0000"));
}

TEST(Responder, errorsQuoteNoMoreThanTheyMay) {
    Bytes big = hex(text({port_mac, host, "0800 4500 2000 0000 4000 4011 0000 0a000002 0a000102"}));
    store_be(&big[24], internet_checksum(std::span(big).subspan(14, 20)));
    big.resize(14 + 0x2000, 0xAA);
    LONGS_EQUAL(14 + 576, answer(big, 1500).size());
    LONGS_EQUAL(0, answer(big, 0).size());
    LONGS_EQUAL(0, answer(big, 0x2000).size());
    big.resize(max_frame_bytes + 1);
    LONGS_EQUAL(0, answer(big, 1500).size());
}

TEST(Responder, noFrameIsTooShort) {
    const Bytes arp = hex(text({broadcast, host, "8100 0001 8100 0002 0806 0001 0800 06 04 0001", host,
                                "0a000002 000000000000 0a000001"}));
    const Bytes ip = hex(
        text({port_mac, host, "0800 4500 001c 0000 0000 4001 66df 0a000002 0a000001 0800 f7fc 0001 0002"}));
    for (const Bytes& frame : {arp, ip}) {
        CHECK_TRUE(!answer(frame).empty());
        for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
            LONGS_EQUAL(
                0, answer(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes))).size());
    }
}

}  // namespace sluice::responder_test
