#include "lib/roce/payload.hh"

#include <bit>
#include <cstring>

#include "lib/rng.hh"

namespace sluice::roce {
namespace {

constexpr std::size_t word_bytes = 8;
static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");

// The 8 bytes from an offset on, then the next 8.
class PayloadWords {
  public:
    PayloadWords(PayloadStream stream, std::uint64_t offset)
        : word_(stream.seed + offset / word_bytes * step), shift_(offset % word_bytes * 8) {}

    std::uint64_t next() {
        const std::uint64_t low = word_ >> shift_;
        word_ += step;
        return low | word_ << 1 << (63 - shift_);  // 64 - shift in two: a shift by 64 is none
    }

  private:
    static constexpr std::uint64_t step = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t word_;
    std::uint64_t shift_;
};

}  // namespace

PayloadStream payload_stream(const IpAddress& destination, std::uint32_t qp) {
    std::uint64_t high = 0, low = 0;
    std::memcpy(&high, destination.bytes.data(), sizeof high);
    std::memcpy(&low, destination.bytes.data() + sizeof high, sizeof low);
    return {scramble(scramble(scramble(high) + low) + (std::uint64_t{destination.is_v6} << 32 | qp))};
}

void fill_payload(std::span<std::uint8_t> out, PayloadStream stream, std::uint64_t offset) {
    PayloadWords words(stream, offset);
    std::uint8_t* at = out.data();
    std::size_t left = out.size();
    for (; left >= word_bytes; left -= word_bytes, at += word_bytes) {
        const std::uint64_t word = words.next();
        std::memcpy(at, &word, word_bytes);
    }
    if (left == 0) return;
    const std::uint64_t word = words.next();
    std::memcpy(at, &word, left);
}

std::optional<std::size_t> first_wrong(std::span<const std::uint8_t> bytes, PayloadStream stream,
                                       std::uint64_t offset) {
    PayloadWords words(stream, offset);
    std::size_t at = 0;
    const auto first_of = [&](std::uint64_t difference) {
        return at + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
    };
    for (; bytes.size() - at >= word_bytes; at += word_bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, &bytes[at], word_bytes);
        if (const std::uint64_t difference = word ^ words.next(); difference != 0)
            return first_of(difference);
    }
    const std::size_t left = bytes.size() - at;
    if (left == 0) return std::nullopt;
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], left);
    const std::uint64_t mask = (std::uint64_t{1} << 8 * left) - 1;
    if (const std::uint64_t difference = (word ^ words.next()) & mask; difference != 0)
        return first_of(difference);
    return std::nullopt;
}

}  // namespace sluice::roce
