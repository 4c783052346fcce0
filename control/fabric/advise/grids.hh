// Grids of values, and values as numbers: what steps of a search need of the text of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/value_range.hh"
#include "lib/peer/faults.hh"

namespace sluice::fabric {

// A value of a key without its quotes as a number: bytes, bits a second, picoseconds, or as it stands ("-1",
// "0.5"). Exact below 2^53.
struct Quantity {
    enum class Unit : std::uint8_t { plain, size, rate, time };
    Unit unit = Unit::plain;
    double number = 0;

    // Nothing: it is a word.
    static std::optional<Quantity> read(std::string_view value);
    // As a file has it; a size, rate or time in whole units, not negative.
    std::string text() const;
};

// A chance in per cent, as a number: "7", "0.5".
std::string per_cent_text(Chance chance);

// The nearest multiple of `step`, at least one; without a step (0) three significant digits.
std::uint64_t rounded(double value, std::uint64_t step);

// From `low` to `high` (0 < low <= high), both included, in steps of the square root of 2 that are rounded,
// the last between the fourth root of 2 and its cube. Ascending.
std::vector<std::uint64_t> root_two_grid(std::uint64_t low, std::uint64_t high, std::uint64_t step);
// A quarter to four times a value (> 0), in nine such steps around it.
std::vector<std::uint64_t> grid_around(std::uint64_t middle);

// The values of a range of [advise.range]: its points where it counts them, each integer, or else steps of
// the square root of 2. `cell_bytes`: sizes are whole cells; 0: they are not. An error is a sentence.
tl::expected<std::vector<std::string>, std::string> grid_of(const ValueRange& range,
                                                            std::uint64_t cell_bytes);

}  // namespace sluice::fabric
