// [FUNCTION] FIGURE of an expression (expression.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/report/figures/figure_path.hh"

namespace sluice {

// Functions judge each of many figures, or fold them into one.
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
// True when the result has no unit: count, jain and imbalance.
bool is_plain(FigureFunction function);
// The nearest rank: the least value that `per_mille` of all do not exceed; 0 where there are none.
template <class Value>
Value quantile(std::vector<Value> values, std::size_t per_mille) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[std::max<std::size_t>((values.size() * per_mille + 999) / 1000, 1) - 1];
}
// `values` has at least one; for jain and imbalance one that is not 0.
double fold(FigureFunction function, const std::vector<double>& values);

struct Measure {
    // A figure, or what figures were folded into.
    struct Term {
        std::string where;
        nlohmann::ordered_json value;
    };
    struct Fault {
        std::string text;
        bool is_unfit = true;  // on every report of this kind; false: there was nothing to measure
    };
    using Terms = tl::expected<std::vector<Term>, Fault>;

    FigureFunction function = FigureFunction::single;
    FigurePath path;
    bool is_link_state = false;  // "port P up"

    // From words[at] on, which becomes the word behind it. An error is a sentence.
    static tl::expected<Measure, std::string> parse(const Words& words, std::size_t& at);
    // The reason why the word cannot begin a FIGURE; empty: it can.
    static std::string object_error(const std::string& word);
    // The figures as they are (of `count` their number); where they are folded, numbers or null.
    Terms figures(FigurePath::Search search) const;
    // Folded. A null among them is an error: a quantile of nothing is less than nothing.
    Terms terms(const nlohmann::ordered_json& report) const;
};

// Whole numbers stay whole, so that they print as they were.
nlohmann::ordered_json number_json(double value);
// The reason why the figure `where` is null: there was nothing to measure.
std::string null_reason(const std::string& where);
std::string null_text(const std::string& where);

}  // namespace sluice
