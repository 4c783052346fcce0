#include "control/report/figures/figure_functions.hh"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

using Function = FigureFunction;

struct FunctionName {
    std::string_view name;
    Function function;
};
constexpr std::array functions{
    FunctionName{"all", Function::all},   FunctionName{"any", Function::any},
    FunctionName{"none", Function::none}, FunctionName{"min", Function::min},
    FunctionName{"max", Function::max},   FunctionName{"sum", Function::sum},
    FunctionName{"mean", Function::mean}, FunctionName{"count", Function::count},
    FunctionName{"p50", Function::p50},   FunctionName{"p90", Function::p90},
    FunctionName{"p99", Function::p99},   FunctionName{"p999", Function::p999},
    FunctionName{"jain", Function::jain}, FunctionName{"imbalance", Function::imbalance},
};

}  // namespace

std::optional<Function> function_named(std::string_view name) {
    const auto* const found =
        std::find_if(functions.begin(), functions.end(), [&](const auto& each) { return each.name == name; });
    return found == functions.end() ? std::nullopt : std::optional(found->function);
}

bool is_judging(Function function) {
    return function == Function::all || function == Function::any || function == Function::none;
}

bool is_folding(Function function) {
    return function != Function::single && function != Function::count && !is_judging(function);
}

bool is_plain(Function function) {
    return function == Function::count || function == Function::jain || function == Function::imbalance;
}

double fold(Function function, const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double sum = 0, squares = 0;
    for (const double value : values) sum += value, squares += value * value;
    const double most = *std::max_element(values.begin(), values.end());
    switch (function) {
        case Function::min:
            return *std::min_element(values.begin(), values.end());
        case Function::max:
            return most;
        case Function::sum:
            return sum;
        case Function::mean:
            return sum / count;
        case Function::p50:
            return quantile(values, 500);
        case Function::p90:
            return quantile(values, 900);
        case Function::p99:
            return quantile(values, 990);
        case Function::p999:
            return quantile(values, 999);
        case Function::jain:
            return sum * sum / (count * squares);
        default:  // imbalance
            return most * count / sum;
    }
}

}  // namespace sluice
