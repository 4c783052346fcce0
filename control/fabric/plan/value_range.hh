// Ranges of a configuration's values: "100KB..1600KB", "1ms..8ms x4", "10G..400G x5 log".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace sluice::fabric {

class ValueRange {
  public:
    static constexpr std::uint64_t max_points = 100'000;
    struct Unit;

    // The ends have the same unit, and low < high. An error is a sentence about the text.
    static tl::expected<ValueRange, std::string> parse(std::string_view text);
    // A value in the unit of the range; nothing: it has another.
    std::optional<std::uint64_t> value(std::string_view text) const;

    // The text has steps ("x5"), or "log".
    bool has_steps() const { return has_count() || is_logarithmic(); }
    bool has_count() const { return count_ != 0; }
    bool is_logarithmic() const { return logarithmic_; }
    // The values are integers, without a unit.
    bool is_integer() const;
    bool is_size() const;
    std::uint64_t low() const { return low_; }
    std::uint64_t high() const { return high_; }
    // Both ends included, at equal distances or, with "log", ratios; 2 where the text does not say.
    std::vector<std::uint64_t> points() const;
    // As a file has it, in quotes where that needs them.
    std::string text(std::uint64_t value) const;

  private:
    const Unit* unit_ = nullptr;
    std::uint64_t low_ = 0, high_ = 0;  // bytes, bits a second, nanoseconds
    std::uint64_t count_ = 0;           // of points; 0: not said
    bool logarithmic_ = false;
};

}  // namespace sluice::fabric
