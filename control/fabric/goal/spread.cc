#include "control/fabric/goal/spread.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace sluice::fabric {
namespace {

// 0.975 quantiles of Student's t by degrees of freedom, from 1; beyond the table of the normal one.
constexpr std::array t_table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double t_quantile(double freedom) {
    const auto whole = static_cast<std::size_t>(std::max(freedom, 1.0));
    return whole <= t_table.size() ? t_table[whole - 1] : 1.96;
}

struct Moments {
    double mean = 0, variance = 0;  // of the sample
};

Moments moments(const std::vector<double>& values) {
    Moments found;
    for (const double value : values) found.mean += value / static_cast<double>(values.size());
    for (const double value : values) found.variance += (value - found.mean) * (value - found.mean);
    found.variance = values.size() < 2 ? 0 : found.variance / static_cast<double>(values.size() - 1);
    return found;
}

std::vector<double> values_of(const std::vector<Sample>& samples) {
    std::vector<double> values;
    for (const Sample& each : samples) values.push_back(each.value);
    return values;
}

// Around the mean of independent values: two or more.
double half_width_of(const Moments& found, std::size_t count) {
    const auto runs = static_cast<double>(count);
    return t_quantile(runs - 1) * std::sqrt(found.variance / runs);
}

// Around the difference of two means of values that are not paired.
double half_width_of(const Moments& a, std::size_t count_a, const Moments& b, std::size_t count_b) {
    const auto runs_a = static_cast<double>(count_a), runs_b = static_cast<double>(count_b);
    const double x = a.variance / runs_a, y = b.variance / runs_b;
    const double freedom = x + y == 0 ? 1 : (x + y) * (x + y) / (x * x / (runs_a - 1) + y * y / (runs_b - 1));
    return t_quantile(freedom) * std::sqrt(x + y);
}

}  // namespace

Spread spread_of(const std::vector<Sample>& samples) {
    const Moments found = moments(values_of(samples));
    Spread spread{found.mean, {}, samples.size()};
    if (samples.size() >= fewest_runs) spread.half_width = half_width_of(found, samples.size());
    return spread;
}

FigureChange change_of(std::string figure, const std::vector<Sample>& before,
                       const std::vector<Sample>& after) {
    FigureChange change;
    change.figure = std::move(figure);
    std::map<std::string_view, double> by_key;
    for (const Sample& each : before) by_key.emplace(each.key, each.value);
    std::vector<double> differences;
    for (const Sample& each : after)
        if (const auto found = by_key.find(each.key); found != by_key.end())
            differences.push_back(each.value - found->second);
    const std::vector<double> a = values_of(before), b = values_of(after);
    change.runs_before = a.size(), change.runs_after = b.size();
    const Moments of_a = moments(a), of_b = moments(b);
    change.before = of_a.mean, change.after = of_b.mean;
    change.paired = differences.size() == a.size() && differences.size() == b.size();
    if (a == b) return change;
    if (std::min(a.size(), b.size()) < fewest_runs) {
        change.verdict = FigureChange::Verdict::too_few;
        return change;
    }
    change.half_width = change.paired ? half_width_of(moments(differences), differences.size())
                                      : half_width_of(of_a, a.size(), of_b, b.size());
    change.verdict = std::abs(change.after - change.before) > change.half_width
                         ? FigureChange::Verdict::changed
                         : FigureChange::Verdict::within_spread;
    return change;
}

}  // namespace sluice::fabric
