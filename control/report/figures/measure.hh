// [FUNCTION] FIGURE of an expression (expression.hh).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/report/figures/figure_functions.hh"
#include "control/report/figures/figure_path.hh"

namespace sluice {

struct Measure {
    // A figure, or what figures were folded into.
    struct Term {
        std::string where;
        nlohmann::ordered_json value;
    };
    struct Fault {
        std::string text;
        bool is_unfit = true;  // for no report of this kind it is one; false: there was nothing to measure
    };
    using Terms = tl::expected<std::vector<Term>, Fault>;

    FigureFunction function = FigureFunction::single;
    FigurePath path;
    bool is_link_state = false;  // "port P up"

    // From words[at] on, which becomes the word behind it. An error is a sentence.
    static tl::expected<Measure, std::string> parse(const Words& words, std::size_t& at);
    // Why the word begins no FIGURE, where it cannot be a path; else empty.
    static std::string object_error(const std::string& word);
    // The figures as they are (of `count` their number); where they are folded, numbers or null.
    Terms figures(FigurePath::Search search) const;
    // Folded. A null among them is an error: a quantile of nothing is less than nothing.
    Terms terms(const nlohmann::ordered_json& report) const;
};

// Whole numbers stay whole, so that they print as they were.
nlohmann::ordered_json number_json(double value);
// Why the figure `where` is null: there was nothing to measure.
std::string null_reason(const std::string& where);
std::string null_text(const std::string& where);

}  // namespace sluice
