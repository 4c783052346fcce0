#include "lib/roce/payload.hh"

#include <bit>
#include <cstring>

#include "lib/values/rng.hh"

namespace sluice::roce {
namespace {

constexpr std::size_t word_bytes = 8;
static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");

constexpr std::uint64_t step = 0x9E37'79B9'7F4A'7C15;

// The 8 bytes from an offset on; the compiler vectorizes its loop.
struct Shifted {
    std::uint64_t shift;

    std::uint64_t at(std::uint64_t word) const {
        return word >> shift | (word + step) << 1 << (63 - shift);  // in two shifts, as 64 is too far for one
    }
};

// The same at a word's beginning, as in packets of whole words.
struct Aligned {
    std::uint64_t at(std::uint64_t word) const { return word; }
};

void fill(std::span<std::uint8_t> out, std::uint64_t word, auto words) {
    const std::size_t whole = out.size() / word_bytes;
    std::uint8_t* to = out.data();
    for (std::size_t n = 0; n < whole; ++n, word += step) {
        const std::uint64_t made = words.at(word);
        std::memcpy(to + n * word_bytes, &made, word_bytes);
    }
    const std::size_t left = out.size() % word_bytes;
    if (left == 0) return;
    const std::uint64_t made = words.at(word);
    std::memcpy(to + whole * word_bytes, &made, left);
}

std::optional<std::size_t> compare(std::span<const std::uint8_t> bytes, const std::uint64_t first,
                                   auto words) {
    const std::uint8_t* from = bytes.data();
    const auto difference_at = [&](std::size_t n, std::uint64_t word) {
        std::uint64_t came = 0;
        std::memcpy(&came, from + n * word_bytes, word_bytes);
        return came ^ words.at(word);
    };
    const std::size_t whole = bytes.size() / word_bytes;
    std::uint64_t any = 0;
    std::uint64_t word = first;
    for (std::size_t n = 0; n < whole; ++n, word += step) any |= difference_at(n, word);
    const auto first_of = [](std::size_t n, std::uint64_t difference) {
        return n * word_bytes + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
    };
    if (any != 0) [[unlikely]] {
        word = first;
        for (std::size_t n = 0;; ++n, word += step)
            if (const std::uint64_t difference = difference_at(n, word); difference != 0)
                return first_of(n, difference);
    }
    const std::size_t left = bytes.size() % word_bytes;
    if (left == 0) return std::nullopt;
    std::uint64_t came = 0;
    std::memcpy(&came, from + whole * word_bytes, left);
    const std::uint64_t mask = (std::uint64_t{1} << 8 * left) - 1;
    if (const std::uint64_t difference = (came ^ words.at(word)) & mask; difference != 0)
        return first_of(whole, difference);
    return std::nullopt;
}

auto with_words(PayloadStream stream, std::uint64_t offset, auto use) {
    const std::uint64_t first = stream.seed + offset / word_bytes * step, shift = offset % word_bytes * 8;
    return shift == 0 ? use(first, Aligned{}) : use(first, Shifted{shift});
}

}  // namespace

PayloadStream payload_stream(const IpAddress& destination, std::uint32_t qp) {
    std::uint64_t high = 0, low = 0;
    std::memcpy(&high, destination.bytes.data(), sizeof high);
    std::memcpy(&low, destination.bytes.data() + sizeof high, sizeof low);
    return {scramble(scramble(scramble(high) + low) + (std::uint64_t{destination.is_v6} << 32 | qp))};
}

void fill_payload(std::span<std::uint8_t> out, PayloadStream stream, std::uint64_t offset) {
    with_words(stream, offset, [&](std::uint64_t first, auto words) { fill(out, first, words); });
}

std::optional<std::size_t> first_wrong(std::span<const std::uint8_t> bytes, PayloadStream stream,
                                       std::uint64_t offset) {
    return with_words(stream, offset,
                      [&](std::uint64_t first, auto words) { return compare(bytes, first, words); });
}

}  // namespace sluice::roce
