#include "control/config/text/json_writer.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "control/config/text/json_text.hh"

namespace sluice {
namespace {

// "00" to "99".
constexpr auto pairs_of_digits = [] {
    std::array<char, 200> made{};
    for (std::size_t n = 0; n < 100; ++n) {
        made[2 * n] = static_cast<char>('0' + n / 10);
        made[2 * n + 1] = static_cast<char>('0' + n % 10);
    }
    return made;
}();

constexpr auto powers_of_ten = [] {
    std::array<std::uint64_t, 20> made{};
    for (std::uint64_t power = 1; std::uint64_t & each : made) each = std::exchange(power, power * 10);
    return made;
}();

// The digits of a number above 0: 1233 / 2^12 is log10(2), close enough for 64 bits.
std::size_t digit_count(std::uint64_t number) {
    const auto least = static_cast<std::size_t>(std::bit_width(number) * 1233U >> 12U);
    return least + (number >= powers_of_ten[least] ? 1 : 0);
}

}  // namespace

void JsonWriter::value(std::string_view text) {
    if (!needs_no_escape(text)) return word(json_text(nlohmann::ordered_json(std::string(text))));
    word("\"");
    append(text);
    put('"');
}

void JsonWriter::tree(const nlohmann::ordered_json& small) { word(json_text(small)); }

void JsonWriter::word(std::string_view text) {
    reserve(1);
    separate();
    append(text);
}

void JsonWriter::append(std::string_view text) {
    reserve(text.size());
    if (text.size() > room_.size()) return sink_(text);
    std::ranges::copy(text, room_.data() + used_);
    used_ += text.size();
}

// From the last digit to the first, two at a time: half the instructions of std::to_chars.
void JsonWriter::append_digits(std::uint64_t number) {
    used_ += digit_count(number);
    char* first = room_.data() + used_;
    for (; number >= 100; number /= 100) std::memcpy(first -= 2, &pairs_of_digits[number % 100 * 2], 2);
    if (number >= 10)
        std::memcpy(first - 2, &pairs_of_digits[number * 2], 2);
    else
        first[-1] = static_cast<char>('0' + number);
}

void JsonWriter::flush() {
    if (used_ != 0) sink_({room_.data(), used_});
    used_ = 0;
}

}  // namespace sluice
