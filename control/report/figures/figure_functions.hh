// Functions of expressions: they judge each of many figures, or fold them into one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

enum class FigureFunction : std::uint8_t {
    single,
    all,
    any,
    none,
    min,
    max,
    sum,
    mean,
    count,
    p50,
    p90,
    p99,
    p999,
    jain,
    imbalance
};

// nullopt: no function has that name.
std::optional<FigureFunction> function_named(std::string_view name);
bool is_judging(FigureFunction function);  // all, any, none
bool is_folding(FigureFunction function);  // min to imbalance, without count
// Of a share, which has no unit: count, jain and imbalance.
bool is_plain(FigureFunction function);
// Of at least one value; jain and imbalance, of at least one that is not 0. Quantiles are of the nearest
// rank.
double fold(FigureFunction function, const std::vector<double>& values);

}  // namespace sluice
