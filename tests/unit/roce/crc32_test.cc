// All ways to CRC-32 equal the division of polynomials, bit by bit.
#include "lib/roce/crc32.hh"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/unit/exact_copy.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::crc32_test {
namespace {

using namespace sluice::roce;

std::uint32_t bit_by_bit(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes)
        for (unsigned bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (((crc ^ byte >> bit) & 1U) != 0 ? 0xEDB88320U : 0U);
    return crc;
}

std::vector<std::uint8_t> random_bytes(std::uint64_t seed, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::size_t n = 0; n < count; ++n) bytes[n] = static_cast<std::uint8_t>(scramble(seed + n));
    return bytes;
}

void check_same(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    const std::uint32_t wanted = bit_by_bit(crc, bytes);
    LONGS_EQUAL(wanted, crc32_by_tables(crc, bytes));
    if (__builtin_cpu_supports("pclmul") != 0) LONGS_EQUAL(wanted, crc32_by_folding(crc, bytes));
    if (folds_wide()) LONGS_EQUAL(wanted, crc32_by_wide_folding(crc, bytes));
    LONGS_EQUAL(wanted, crc32(crc, bytes));
}

}  // namespace

TEST_GROUP(Crc32){};

// The check value of CRC-32/ISO-HDLC in every catalogue of CRCs.
TEST(Crc32, ofTheCataloguesNineDigits) {
    constexpr std::string_view digits = "123456789";
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(digits.data());
    LONGS_EQUAL(0xCBF43926, ~crc32(0xFFFF'FFFF, {bytes, digits.size()}));
}

TEST(Crc32, sayThatFoldingIsTested) {
    if (__builtin_cpu_supports("pclmul") == 0) std::printf("no PCLMULQDQ: tables alone are tested. ");
    if (!folds_wide()) std::printf("no VPCLMULQDQ: folding by 256 bits is not tested. ");
}

TEST(Crc32, ofEveryLengthAtEveryAlignment) {
    const auto bytes = random_bytes(1, 16 + 400);
    for (std::size_t length = 0; length <= 400; ++length)
        for (std::size_t start = 0; start < 16; start += length < 100 ? 1 : 5)
            check_same(static_cast<std::uint32_t>(scramble(length)), std::span(bytes).subspan(start, length));
}

TEST(Crc32, ofRandomLengthsReadsNothingBeyond) {
    for (std::uint64_t n = 0; n < 300; ++n) {
        const auto bytes = random_bytes(n, scramble(n) % 5000);
        const ExactCopy copy(bytes);
        check_same(0xFFFF'FFFF, copy.view());
    }
}

TEST(Crc32, chainsOverPieces) {
    const auto bytes = random_bytes(7, 1000);
    const std::span<const std::uint8_t> all(bytes);
    const std::uint32_t wanted = bit_by_bit(5, all);
    for (std::size_t cut = 0; cut <= all.size(); ++cut)
        LONGS_EQUAL(wanted, crc32(crc32(5, all.first(cut)), all.subspan(cut)));
}

}  // namespace sluice::crc32_test
