#include "lib/frame/checksum.hh"

#include <array>
#include <set>
#include <span>
#include <vector>

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::checksum_test {
namespace {

std::span<const std::uint8_t> bytes_of(const Ipv4Header& ip) {
    return {reinterpret_cast<const std::uint8_t*>(&ip), sizeof ip};
}
bool is_right(const Ipv4Header& ip) { return internet_checksum(bytes_of(ip)) == 0; }
bool is_right_20(const Ipv4Header& ip) { return checksum_is_right_20(bytes_of(ip).data()); }

std::uint16_t full_checksum(Ipv4Header ip) {
    ip.checksum.set(0);
    return internet_checksum(bytes_of(ip));
}

Ipv4Header header(std::uint16_t identification, std::uint8_t ttl, std::uint8_t protocol = 17) {
    Ipv4Header ip{};
    ip.version_ihl = 0x45;
    ip.tos = 0x6A;
    ip.total_length.set(1052);
    ip.identification.set(identification);
    ip.fragment.set(0x4000);
    ip.ttl = ttl;
    ip.protocol = protocol;
    ip.source.set(0x0A000002);
    ip.destination.set(0x0A000102);
    ip.checksum.set(full_checksum(ip));
    return ip;
}

}  // namespace

TEST_GROUP(Checksum){};

TEST(Checksum, refusesEveryWrongValue) {
    Ipv4Header ip = header(1, 64);
    const std::uint16_t right = ip.checksum.get();
    for (unsigned value = 0; value < 0x10000; ++value) {
        ip.checksum.set(static_cast<std::uint16_t>(value));
        LONGS_EQUAL(value == right, is_right(ip));
        LONGS_EQUAL(value == right, is_right_20(ip));
    }
}

TEST(Checksum, theTwoZerosAreOneValue) {
    // The words sum to all ones: 0 and 0xFFFF are the same number to a ones-complement sum, and both are
    // right.
    Ipv4Header ip = header(0, 64);
    ip.identification.set(full_checksum(ip));
    LONGS_EQUAL(0, full_checksum(ip));
    for (const unsigned value : {0U, 0xFFFFU}) {
        ip.checksum.set(static_cast<std::uint16_t>(value));
        CHECK_TRUE(is_right(ip) && is_right_20(ip));
    }
}

TEST(Checksum, theExampleOfRfc1071) {
    const std::array<std::uint8_t, 8> bytes{0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7};
    LONGS_EQUAL(0xFFFF & ~0xDDF2U, internet_checksum(bytes));
    LONGS_EQUAL(0xFFFF, internet_checksum({}));
    LONGS_EQUAL(0xFFFF & ~0xAB00U,
                internet_checksum(std::array<std::uint8_t, 1>{0xAB}));  // padded with a zero
}

TEST(Checksum, theExampleOfRfc1624) {
    // Its section 4: the checksum 0xDD2F, a word that changes from 0x5555 to 0x3285, is 0x0000 afterwards.
    LONGS_EQUAL(0x0000, updated_checksum(0xDD2F, 0x5555, 0x3285));
}

TEST(Checksum, bothWaysToCheckAgree) {
    for (std::uint64_t n = 0; n < 100'000; ++n) {
        std::array<std::uint8_t, 20> bytes;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(n % 3 == 0 && i % 2 == 0 ? 0xFF : draw({n, 1, 2, i}));
        Ipv4Header ip;
        std::memcpy(&ip, bytes.data(), sizeof ip);
        if (n % 2 == 0) ip.checksum.set(full_checksum(ip));
        LONGS_EQUAL(is_right(ip), is_right_20(ip));
    }
}

TEST(Checksum, decrementAgreesWithARecomputeForEveryChecksum) {
    for (const std::uint8_t ttl : {2, 3, 64, 128, 255}) {
        std::set<std::uint16_t> seen;
        unsigned wrong = 0;
        for (unsigned identification = 0; identification < 0x10000; ++identification) {
            Ipv4Header ip = header(static_cast<std::uint16_t>(identification), ttl);
            seen.insert(ip.checksum.get());
            decrement_ttl(ip);
            wrong += ip.ttl != ttl - 1 || ip.checksum.get() != full_checksum(ip) || !is_right_20(ip);
        }
        LONGS_EQUAL(0, wrong);
        LONGS_EQUAL(0xFFFF, seen.size());  // all there are: the two zeros are one
    }
}

TEST(Checksum, ttlAndCeAgreeWithARecomputeForEveryChecksum) {
    unsigned wrong = 0;
    for (const Ecn ecn : {Ecn::ect0, Ecn::ect1}) {
        for (unsigned ttl = 2; ttl < 256; ++ttl) {
            Ipv4Header base = header(0, static_cast<std::uint8_t>(ttl));
            base.tos = static_cast<std::uint8_t>(0x68U | static_cast<unsigned>(ecn));
            base.checksum.set(full_checksum(base));
            for (unsigned identification = 0; identification < 0x10000; ++identification) {
                Ipv4Header ip = base;
                ip.identification.set(static_cast<std::uint16_t>(identification));
                ip.checksum.set(
                    updated_checksum(base.checksum.get(), 0, static_cast<std::uint16_t>(identification)));
                wrong += is_right_20(ip) ? 0 : 1;
                decrement_ttl(ip);
                set_ce(reinterpret_cast<std::uint8_t*>(&ip));
                wrong += ip.tos == 0x6B && ip.ttl == ttl - 1 && is_right_20(ip) ? 0 : 1;
            }
        }
    }
    LONGS_EQUAL(0, wrong);
}

TEST(Checksum, ceOfIpv6IsInBits5And4OfByte1) {
    for (unsigned before = 0; before < 256; ++before) {
        std::array<std::uint8_t, 40> ip{};
        ip[0] = 0x6A;
        ip[1] = static_cast<std::uint8_t>(before);
        set_ce(ip.data());
        LONGS_EQUAL(before | 0x30U, ip[1]);
        LONGS_EQUAL(0x6A, ip[0]);
        LONGS_EQUAL(0, ip[2]);
    }
}

TEST(Checksum, decrementAgreesForEveryTtlAndProtocol) {
    for (unsigned ttl = 2; ttl < 256; ++ttl) {
        for (unsigned protocol = 0; protocol < 256; ++protocol) {
            Ipv4Header ip = header(static_cast<std::uint16_t>(ttl * 259 + protocol),
                                   static_cast<std::uint8_t>(ttl), static_cast<std::uint8_t>(protocol));
            decrement_ttl(ip);
            LONGS_EQUAL(full_checksum(ip), ip.checksum.get());
        }
    }
}

TEST(Checksum, decrementOfTheOtherZeroStaysRight) {
    Ipv4Header ip = header(0, 64);
    ip.identification.set(full_checksum(ip));
    ip.checksum.set(0xFFFF);
    decrement_ttl(ip);
    CHECK_TRUE(is_right_20(ip));
}

TEST(Checksum, anyWordMayChange) {
    for (unsigned before = 0; before < 0x10000; before += 257) {
        for (unsigned after = 0; after < 0x10000; after += 251) {
            Ipv4Header ip = header(static_cast<std::uint16_t>(before), 64);
            const std::uint16_t updated = updated_checksum(
                ip.checksum.get(), static_cast<std::uint16_t>(before), static_cast<std::uint16_t>(after));
            ip.identification.set(static_cast<std::uint16_t>(after));
            ip.checksum.set(updated);
            CHECK_TRUE(is_right_20(ip));
        }
    }
}

}  // namespace sluice::checksum_test
