#include "lib/roce/crc32.hh"

#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace sluice::roce {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr std::uint32_t times_x(std::uint32_t reflected) {
    constexpr std::uint32_t polynomial = 0xEDB88320;
    return reflected >> 1 ^ ((reflected & 1U) != 0 ? polynomial : 0);
}

// crc_tables[k][b]: the effect of byte b, k bytes ago ("slicing by 8").
constexpr Tables crc_tables = [] {
    Tables tables{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = times_x(crc);
        tables[0][b] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b)
            tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xFFU];
    return tables;
}();

// x^n modulo the polynomial, reflected, and shifted once: the product of two reflected numbers of 64 bits is
// one bit short.
constexpr std::int64_t power(unsigned n) {
    std::uint32_t value = 0x8000'0000;
    for (unsigned i = 0; i < n; ++i) value = times_x(value);
    return static_cast<std::int64_t>(std::uint64_t{value} << 1);
}
static_assert(power(128 + 32) == 0x1'7519'97D0 && power(128 - 32) == 0x0'CCAA'009E,
              "as Gopal et al. print them");

constexpr std::size_t block = sizeof(__m128i);
constexpr std::size_t stride = 4 * block;  // four chains hide the multiplication's latency

#define SLUICE_FOLDS [[gnu::target("pclmul,sse4.1")]] inline

SLUICE_FOLDS __m128i load(const std::uint8_t* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// `state` moved on by the distance that `powers` is for, and what stands there.
SLUICE_FOLDS __m128i fold(__m128i state, __m128i powers, __m128i next) {
    const __m128i low = _mm_clmulepi64_si128(state, powers, 0x00);
    const __m128i high = _mm_clmulepi64_si128(state, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

template <unsigned distance>
SLUICE_FOLDS __m128i powers() {
    constexpr std::int64_t low = power(8 * distance + 32), high = power(8 * distance - 32);
    return _mm_set_epi64x(high, low);
}

// The CRC of the 16 bytes of `state`: folded to 96 bits and to 64, then Barrett's reduction, as in Gopal et
// al. The tables would do as well, and would push 8 KB of others out of the cache.
SLUICE_FOLDS std::uint32_t reduce(__m128i state) {
    constexpr std::int64_t polynomial = 0x1'DB71'0641, quotient = 0x1'F701'1641;  // x^64 by it
    static_assert(power(64) == 0x1'63CD'6124, "as they print it");
    const __m128i by = _mm_set_epi64x(power(128 - 32), power(64));
    const __m128i barrett = _mm_set_epi64x(quotient, polynomial);
    const __m128i words = _mm_setr_epi32(-1, 0, -1, 0);
    state = _mm_xor_si128(_mm_srli_si128(state, 8), _mm_clmulepi64_si128(state, by, 0x10));
    state =
        _mm_xor_si128(_mm_srli_si128(state, 4), _mm_clmulepi64_si128(_mm_and_si128(state, words), by, 0x00));
    const __m128i times =
        _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(state, words), barrett, 0x10), words);
    state = _mm_xor_si128(state, _mm_clmulepi64_si128(times, barrett, 0x00));
    return static_cast<std::uint32_t>(_mm_extract_epi32(state, 1));
}

SLUICE_FOLDS std::uint32_t end_fold(__m128i state, const std::uint8_t* at, std::size_t left) {
    for (; left >= block; at += block, left -= block) state = fold(state, powers<block>(), load(at));
    const std::uint32_t crc = reduce(state);
    return left == 0 ? crc : crc32_by_tables(crc, {at, left});
}

SLUICE_FOLDS std::uint32_t fold_all(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    const std::uint8_t* at = bytes.data();
    std::size_t left = bytes.size() - block;
    __m128i state = _mm_xor_si128(load(at), _mm_cvtsi32_si128(static_cast<int>(crc)));
    if (bytes.size() < 2 * stride) return end_fold(state, at + block, left);
    __m128i second = load(at + block), third = load(at + 2 * block), fourth = load(at + 3 * block);
    for (at += stride, left -= 3 * block; left >= stride; at += stride, left -= stride) {
        state = fold(state, powers<stride>(), load(at));
        second = fold(second, powers<stride>(), load(at + block));
        third = fold(third, powers<stride>(), load(at + 2 * block));
        fourth = fold(fourth, powers<stride>(), load(at + 3 * block));
    }
    state = fold(fold(fold(state, powers<block>(), second), powers<block>(), third), powers<block>(), fourth);
    return end_fold(state, at, left);
}

// The same with two blocks in a register.
#define SLUICE_WIDE_FOLDS [[gnu::target("pclmul,sse4.1,avx2,vpclmulqdq")]] inline

constexpr std::size_t wide_block = sizeof(__m256i);
constexpr std::size_t wide_stride = 4 * wide_block;

SLUICE_WIDE_FOLDS __m256i load_wide(const std::uint8_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

template <unsigned distance>
SLUICE_WIDE_FOLDS __m256i fold_wide(__m256i state, __m256i next) {
    constexpr std::int64_t low_power = power(8 * distance + 32), high_power = power(8 * distance - 32);
    const __m256i by = _mm256_set_epi64x(high_power, low_power, high_power, low_power);
    const __m256i low = _mm256_clmulepi64_epi128(state, by, 0x00);
    const __m256i high = _mm256_clmulepi64_epi128(state, by, 0x11);
    return _mm256_xor_si256(_mm256_xor_si256(low, high), next);
}

SLUICE_WIDE_FOLDS std::uint32_t fold_all_wide(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    const std::uint8_t* at = bytes.data();
    std::size_t left = bytes.size() - wide_stride;
    const __m128i before = _mm_cvtsi32_si128(static_cast<int>(crc));
    __m256i state = _mm256_xor_si256(load_wide(at), _mm256_zextsi128_si256(before));
    __m256i second = load_wide(at + wide_block), third = load_wide(at + 2 * wide_block);
    __m256i fourth = load_wide(at + 3 * wide_block);
    for (at += wide_stride; left >= wide_stride; at += wide_stride, left -= wide_stride) {
        state = fold_wide<wide_stride>(state, load_wide(at));
        second = fold_wide<wide_stride>(second, load_wide(at + wide_block));
        third = fold_wide<wide_stride>(third, load_wide(at + 2 * wide_block));
        fourth = fold_wide<wide_stride>(fourth, load_wide(at + 3 * wide_block));
    }
    state = fold_wide<wide_block>(state, second);
    state = fold_wide<wide_block>(state, third);
    state = fold_wide<wide_block>(state, fourth);
    for (; left >= wide_block; at += wide_block, left -= wide_block)
        state = fold_wide<wide_block>(state, load_wide(at));
    const __m128i last = _mm256_extracti128_si256(state, 1);
    return end_fold(fold(_mm256_castsi256_si128(state), powers<block>(), last), at, left);
}

#undef SLUICE_WIDE_FOLDS
#undef SLUICE_FOLDS

}  // namespace

std::uint32_t crc32_by_tables(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    const std::uint8_t* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        word ^= crc;
        crc = 0;
        for (unsigned k = 0; k < 8; ++k) crc ^= crc_tables[7 - k][word >> (8 * k) & 0xFFU];
    }
    for (; left > 0; --left, ++at) crc = crc >> 8 ^ crc_tables[0][(crc ^ *at) & 0xFFU];
    return crc;
}

std::uint32_t crc32_by_folding(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    return bytes.size() < block ? crc32_by_tables(crc, bytes) : fold_all(crc, bytes);
}

std::uint32_t crc32_by_wide_folding(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    return bytes.size() < wide_stride ? crc32_by_folding(crc, bytes) : fold_all_wide(crc, bytes);
}

bool folds_wide() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0; }

std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    if (bytes.size() >= wide_stride && folds_wide()) return fold_all_wide(crc, bytes);
    return __builtin_cpu_supports("pclmul") != 0 ? crc32_by_folding(crc, bytes) : crc32_by_tables(crc, bytes);
}

}  // namespace sluice::roce
