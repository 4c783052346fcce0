// Functions of expressions: they judge each of many figures, or fold them into one.
#pragma once

#include <algorithm>
#include <cstddef>
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
// The least of the values that so many of all do not exceed (nearest rank); 0 of none.
template <class Value>
Value quantile(std::vector<Value> values, std::size_t per_mille) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[std::max<std::size_t>((values.size() * per_mille + 999) / 1000, 1) - 1];
}
// Of at least one value; jain and imbalance, of at least one that is not 0.
double fold(FigureFunction function, const std::vector<double>& values);

}  // namespace sluice
