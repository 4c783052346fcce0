// What an assertion says of a report:
//
//     verdict.lossless
//     flows.incast.throughput_bps ge 90G
//     all flows.*.failed_messages eq 0
//     max switches.leaf*.ports.*.queues.3.user_watermark_bytes lt 400KB
//     flows.victim.throughput_bps ratio to baseline ge 0.9
//     min flows.rank*.throughput_bps over max flows.rank*.throughput_bps ge 70%
//
// [FUNCTION] PATH [ratio to PHASE | over [FUNCTION] PATH] [OP VALUE]. FUNCTION judges each figure that PATH
// names (all, any, none) or folds them into one (min max sum mean count p50 p90 p99 p999 jain imbalance,
// which is max over mean). Without one, PATH names a single figure. Parts of a PATH are joined by dots; * and
// ? stand for any characters of a part; a part with dots or blanks stands in 'quotes'; an entry of a list
// goes by its name, or by its index. OP: eq ne lt le gt ge, or == != < <= > >=. VALUE has the units of a
// configuration: 90G, 400KB, 2ms, 5%; a quotient has none but %. Without OP the figure is true or false. No
// figure at all makes the assertion false, and so does one that is null, as the quantiles of no message are,
// or jain and imbalance of nothing but zeros.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/report/figures/condition.hh"

namespace sluice::fabric {

enum class Function : std::uint8_t {
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

// A figure of a report, and where it stands.
struct FoundFigure {
    std::string path;
    const nlohmann::ordered_json* value;
};

// A path with wildcards.
class FigurePath {
  public:
    static tl::expected<FigurePath, std::string> parse(std::string_view text);
    // In the report's order; an error names the part that is not there, and the nearest one that is.
    tl::expected<std::vector<FoundFigure>, std::string> find(const nlohmann::ordered_json& report) const;
    const std::string& text() const { return text_; }
    // The part whose name says the unit, as completion_ns of completion_ns.p99; else the last.
    const std::string& unit_name() const;

  private:
    std::string text_;
    std::vector<std::string> parts_;
};

struct Judgment {
    bool met = false;
    nlohmann::ordered_json value;  // the figure; of judging functions the one that decided; null: none
    std::string where;             // its path
    std::string wrong;             // why it cannot be judged
};

class Expression {
  public:
    // An error is a sentence about the text.
    static tl::expected<Expression, std::string> parse(const std::string& text);

    const std::string& text() const { return text_; }
    const std::optional<std::string>& baseline() const { return baseline_; }  // the phase of "ratio to"
    // `baseline`: the report of that phase; null where the expression has none.
    Judgment judge(const nlohmann::ordered_json& report, const nlohmann::ordered_json* baseline) const;
    // Before the run, on a report in which nothing has happened: an error, or empty. Lists that grow with the
    // run may be empty.
    std::string check(const nlohmann::ordered_json& report) const;

  private:
    struct Term {
        std::string where;
        nlohmann::ordered_json value;
    };
    // FUNCTION and PATH.
    struct Measure {
        Function function = Function::single;
        FigurePath path;

        // The figures as they are (of `count` their number); where they are folded, numbers or null.
        tl::expected<std::vector<Term>, std::string> figures(const nlohmann::ordered_json& report) const;
        // Folded. A null among them is an error: a quantile of nothing is less than nothing.
        tl::expected<std::vector<Term>, std::string> terms(const nlohmann::ordered_json& report) const;
    };
    static tl::expected<Measure, std::string> parse_measure(const std::vector<std::string>& words,
                                                            std::size_t& at);
    std::string divide(std::vector<Term>& terms, const nlohmann::ordered_json& report) const;
    bool has_unit() const;
    std::string wrong_unit() const;
    tl::expected<bool, std::string> holds(const nlohmann::ordered_json& value) const;

    std::string text_;
    Measure measure_;
    std::optional<Measure> divisor_;
    std::optional<std::string> baseline_;
    std::optional<Comparison> comparison_;
    std::string wanted_;
};

}  // namespace sluice::fabric
