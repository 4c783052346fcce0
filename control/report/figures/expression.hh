// Assertions and conditions over a report of a switch or of a fabric:
//
//     verdict.lossless
//     flows.incast.throughput_bps ge 90G
//     all flows.*.failed_messages eq 0
//     flows.victim.throughput_bps ratio to baseline ge 0.9
//     min flows.rank*.throughput_bps over max flows.rank*.throughput_bps ge 70%
//     queue p1.3 dropped eq 0
//     port p0 up
//
// [FUNCTION] FIGURE [ratio to PHASE | over [FUNCTION] FIGURE] [OP VALUE]. FIGURE: a PATH (figure_path.hh), or
// (port P | queue P.N | group P.N | pool NAME | ledger) FIELD, where the beginning of the FIELD's name is
// enough, or stats PATH. FUNCTION judges each figure that a PATH names (all, any, none) or folds them into
// one (min max sum mean count p50 p90 p99 p999 jain imbalance, which is max over mean); without one it is a
// single figure. OP: eq ne lt le gt ge, or == != < <= > >=. VALUE is in the unit of the figure: 90G, 400KB,
// 2ms, 5%. Without OP the figure is true or false. No figure at all makes the expression false, and so does
// one that is null, as the quantiles of no message are, or jain and imbalance of nothing but zeros.
//
// A figure that is wanted as such (Wanted::figure), to be small, is the same without OP: one number.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/report/figures/figures.hh"
#include "control/report/figures/measure.hh"

namespace sluice {

enum class Comparison : std::uint8_t { equal, unequal, below, at_most, above, at_least };

struct Judgment {
    bool met = false;
    nlohmann::ordered_json value;  // the figure; of judging functions the one that decided; null: none
    std::string where;             // its path
    std::string wrong;             // why it cannot be judged
    bool is_unfit = false;         // it cannot be judged on any report of this kind
};

class Expression {
  public:
    // `truth`: whether something holds; `figure`: one number, without a comparison.
    enum class Wanted : std::uint8_t { truth, figure };

    // An error is a sentence about the text.
    static tl::expected<Expression, std::string> parse(const std::string& text,
                                                       Wanted wanted = Wanted::truth);

    const std::string& text() const { return text_; }
    const std::optional<std::string>& baseline() const { return baseline_; }  // the phase of "ratio to"
    // Names of the innermost part of a report that has every figure it needs.
    Words part_needed() const;
    // The paths of its figures, as they are written: one, and that behind "over".
    Words paths() const;
    // The unit of the figure at `where`, of a judgment; of a quotient none.
    FigureUnit unit_at(const std::string& where) const;
    // True when a figure of this value, at `where`, makes it true; nothing: it compares no number.
    std::optional<bool> holds_at(double value, const std::string& where) const;
    // `baseline`: the report of that phase; null where the expression has none. Of a wanted figure `met` is
    // that it is a number.
    Judgment judge(const nlohmann::ordered_json& report, const nlohmann::ordered_json* baseline) const;
    // Before the run, on its first report: an error, or empty. Parts that come with the run may be missing.
    std::string check(const nlohmann::ordered_json& report) const;
    // The same without any report, by a catalogue (figures.hh).
    std::string check(const FigureNode& catalogue, const NamesOf& names) const;
    // For people: "it is 61.2 Gb/s, at flows.incast.throughput_bps", and what is wrong, if anything is.
    std::string finding(const Judgment& judgment) const;

  private:
    using Outcome = tl::expected<void, Measure::Fault>;

    using Find = std::function<FigurePath::Search(const FigurePath& path)>;

    // `is_early`: a part that is missing may come with the run.
    std::string check_found(const Find& find, bool is_early) const;
    tl::expected<void, std::string> end_of_figure(const Words& words, std::size_t at) const;
    bool has_unit() const;
    std::string wrong_value(const std::string& where, bool is_number) const;
    Outcome divide_by_divisor(std::vector<Measure::Term>& terms, const nlohmann::ordered_json& report) const;
    Outcome divide_by_baseline(std::vector<Measure::Term>& terms, const nlohmann::ordered_json* report) const;
    tl::expected<bool, std::string> holds(const Measure::Term& term) const;

    std::string text_;
    Wanted wanted_kind_ = Wanted::truth;
    Measure measure_;
    std::optional<Measure> divisor_;
    std::optional<std::string> baseline_;
    std::optional<Comparison> comparison_;
    std::string wanted_;
};

}  // namespace sluice
