#include "control/fabric/scenario/expression.hh"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/report_path.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Refusal = tl::unexpected<std::string>;

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

// Parts of a report that come with the run.
constexpr std::array<std::string_view, 8> growing{"pauses",    "pause_trees", "pause_cycles", "events",
                                                  "decisions", "microbursts", "watchdog",     "ecmp"};

bool is_judging(Function function) {
    return function == Function::all || function == Function::any || function == Function::none;
}

bool has_wildcard(std::string_view part) { return part.find_first_of("*?[") != part.npos; }

bool matches(const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// Words apart at blanks; 'quoted' text stays whole, quotes included.
tl::expected<Words, std::string> split(std::string_view text) {
    Words words;
    std::string word;
    bool quoted = false;
    for (const char c : text) {
        if (c == '\'') quoted = !quoted;
        if (c == ' ' && !quoted) {
            if (!word.empty()) words.push_back(std::exchange(word, {}));
            continue;
        }
        word += c;
    }
    if (quoted) return Refusal("a ' has no second one");
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

// Names by which the members of a list or an object go.
Words names_in(const Json& at) {
    Words names;
    if (at.is_object())
        for (const auto& [key, value] : at.items()) names.push_back(key);
    for (std::size_t n = 0; at.is_array() && n < at.size(); ++n)
        names.push_back(at[n].is_object() && at[n].contains("name") ? at[n]["name"].get<std::string>()
                                                                    : std::to_string(n));
    return names;
}

double number(const Json& value) { return value.get<double>(); }

// Whole numbers stay whole, so that they print as they were.
Json number_json(double value) {
    if (value >= 0 && value < 9e15 && value == std::floor(value)) return static_cast<std::uint64_t>(value);
    return value;
}

// Nearest rank.
double quantile(std::vector<double> values, unsigned per_mille) {
    std::sort(values.begin(), values.end());
    const std::size_t rank = (values.size() * per_mille + 999) / 1000;
    return values[std::max<std::size_t>(rank, 1) - 1];
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

// Why the figure `where` is null: there was nothing to measure.
std::string null_reason(const std::string& where) {
    const auto has = [&](std::string_view part) { return where.find(part) != where.npos; };
    if (has("step_ns.") || (has("collectives.") && has("completion_ns"))) return "no step ended";
    if (where.ends_with("verdict.lossless")) return "no packet of a lossless class was sent";
    return has("completion_ns.") || has("slowdown_permille.") ? "no message completed" : "there is none";
}

// A duration, which is a number once something has taken one.
bool is_duration(const std::string& where) {
    return where.find("_ns") != where.npos || where.find("_permille") != where.npos;
}

std::string null_text(const std::string& where) {
    return fmt::format("{} is null: {}", where, null_reason(where));
}

}  // namespace

tl::expected<FigurePath, std::string> FigurePath::parse(std::string_view text) {
    FigurePath path;
    path.text_ = text;
    std::string part;
    bool quoted = false;
    for (const char c : text) {
        if (c == '\'') {
            quoted = !quoted;
        } else if (c == '.' && !quoted) {
            if (part.empty()) return Refusal(in_quotes(text) + " has an empty part");
            path.parts_.push_back(std::exchange(part, {}));
        } else {
            part += c;
        }
    }
    if (part.empty()) return Refusal(in_quotes(text) + " has an empty part");
    path.parts_.push_back(std::move(part));
    return path;
}

const std::string& FigurePath::unit_name() const {
    const auto found = std::find_if(parts_.rbegin(), parts_.rend(), names_unit);
    return found == parts_.rend() ? parts_.back() : *found;
}

tl::expected<std::vector<FoundFigure>, std::string> FigurePath::find(const Json& report) const {
    static const Json zero = 0;
    std::vector<FoundFigure> at{{"", &report}};
    for (std::size_t n = 0; n < parts_.size(); ++n) {
        const std::string& part = parts_[n];
        std::vector<FoundFigure> next;
        std::string missing;
        for (const FoundFigure& each : at) {
            const Words names = names_in(*each.value);
            const auto path_of = [&](const std::string& name) {
                return each.path.empty() ? name : each.path + "." + name;
            };
            bool any = false;
            for (std::size_t index = 0; index < names.size(); ++index) {
                const bool same =
                    has_wildcard(part)
                        ? matches(part, names[index])
                        : part == names[index] || (each.value->is_array() && part == std::to_string(index));
                if (!same) continue;
                any = true;
                next.push_back({path_of(names[index]), each.value->is_array()
                                                           ? &(*each.value)[index]
                                                           : &(*each.value)[names[index]]});
            }
            if (any || has_wildcard(part)) continue;
            // Drop reasons that nothing was dropped for are left out of reports.
            if (n != 0 && find_part({{"drops", Json::object()}}, "drops." + part).value != nullptr &&
                (parts_[n - 1] == "drops" || parts_[n - 1] == "lossless_drops")) {
                next.push_back({path_of(part), &zero});
            } else if (missing.empty()) {
                const std::string where = each.path.empty() ? "the report" : each.path;
                const auto found = names.empty() ? tl::expected<std::string, std::string>(
                                                       Refusal(fmt::format("{} has no parts", where)))
                                                 : find_word(part, names, "part of " + where);
                missing = found ? fmt::format("there is no part of {} {}, perhaps {}", where, in_quotes(part),
                                              *found)
                                : found.error();
            }
        }
        if (next.empty() && !missing.empty()) return Refusal(missing);
        at = std::move(next);
    }
    return at;
}

tl::expected<Expression::Measure, std::string> Expression::parse_measure(const Words& words,
                                                                         std::size_t& at) {
    Measure made;
    if (at + 1 < words.size())
        for (const FunctionName& known : functions)
            if (known.name == words[at]) {
                made.function = known.function;
                ++at;
                break;
            }
    if (at >= words.size())
        return Refusal("wanted: [FUNCTION] PATH [ratio to PHASE | over [FUNCTION] PATH] [OP VALUE]");
    auto path = FigurePath::parse(words[at++]);
    if (!path) return Refusal(path.error());
    made.path = std::move(*path);
    return made;
}

tl::expected<Expression, std::string> Expression::parse(const std::string& text) {
    const auto split_words = split(text);
    if (!split_words) return Refusal(split_words.error());
    const Words& words = *split_words;
    Expression made;
    made.text_ = text;
    std::size_t at = 0;
    auto measure = parse_measure(words, at);
    if (!measure) return Refusal(measure.error());
    made.measure_ = std::move(*measure);
    if (at < words.size() && words[at] == "over") {
        auto divisor = parse_measure(words, ++at);
        if (!divisor) return Refusal("after over: " + divisor.error());
        if (is_judging(divisor->function))
            return Refusal("over divides by one figure: all, any and none judge each");
        made.divisor_ = std::move(*divisor);
    } else if (at + 2 < words.size() && words[at] == "ratio" && words[at + 1] == "to") {
        std::string phase = words[at + 2];
        std::erase(phase, '\'');
        made.baseline_ = std::move(phase);
        at += 3;
    }
    if (at == words.size()) {
        if (made.baseline_ || made.divisor_ ||
            !(made.measure_.function == Function::single || is_judging(made.measure_.function)))
            return Refusal("wanted: OP VALUE after it; OP: eq ne lt le gt ge");
        return made;
    }
    const auto comparison = read_comparison(words[at]);
    if (!comparison) return Refusal(comparison.error());
    if (at + 2 != words.size()) return Refusal(fmt::format("wanted: one value after {}", words[at]));
    made.comparison_ = *comparison;
    made.wanted_ = words[at + 1];
    if (std::string wrong = made.wrong_unit(); !wrong.empty()) return Refusal(std::move(wrong));
    return made;
}

tl::expected<std::vector<Expression::Term>, std::string> Expression::Measure::figures(
    const Json& report) const {
    const auto found = path.find(report);
    if (!found) return Refusal(found.error());
    if (function == Function::count) return std::vector<Term>{{path.text(), found->size()}};
    if (function == Function::single && found->size() > 1)
        return Refusal(
            fmt::format("{} names {} figures; say all, any, none, max, min, sum, mean or p99 before it",
                        path.text(), found->size()));
    std::vector<Term> terms;
    for (const FoundFigure& each : *found) {
        if (each.value->is_structured()) return Refusal(each.path + " is no single figure");
        terms.push_back({each.path, *each.value});
    }
    const bool folds = function != Function::single && !is_judging(function);
    for (const Term& term : terms)
        if (folds && !term.value.is_number() && !term.value.is_null())
            return Refusal(fmt::format("{} is no number", term.where));
    return terms;
}

tl::expected<std::vector<Expression::Term>, std::string> Expression::Measure::terms(
    const Json& report) const {
    auto found = figures(report);
    if (!found || found->empty() || function == Function::count || function == Function::single ||
        is_judging(function))
        return found;
    const std::vector<Term>& terms = *found;
    std::vector<double> values;
    for (const Term& term : terms) {
        if (term.value.is_null()) return Refusal(null_text(term.where));
        values.push_back(number(term.value));
    }
    if ((function == Function::jain || function == Function::imbalance) &&
        std::all_of(values.begin(), values.end(), [](double value) { return value == 0; }))
        return Refusal(fmt::format("all of {} are 0: there is nothing to share", path.text()));
    const double folded = fold(function, values);
    std::string where = path.text();
    for (std::size_t n = 0; n < values.size(); ++n)
        if (values[n] == folded) {
            where = terms[n].where;
            break;
        }
    return std::vector<Term>{{where, number_json(folded)}};
}

bool Expression::has_unit() const {
    const Function function = measure_.function;
    return !baseline_ && !divisor_ && function != Function::count && function != Function::jain &&
           function != Function::imbalance;
}

// A value with the unit of something else, or empty.
std::string Expression::wrong_unit() const {
    if (has_unit()) return value_error(wanted_, measure_.path.unit_name(), false);
    const bool is_plain = wanted_.ends_with('%') || wanted_ == "true" || wanted_ == "false" ||
                          wanted_ == "null" || Json::parse(wanted_, nullptr, false).is_number();
    return is_plain ? "" : in_quotes(wanted_) + " is no number without a unit; write for example 0.9, or 90%";
}

tl::expected<bool, std::string> Expression::holds(const Json& value) const {
    if (!comparison_) {
        if (value.is_boolean() || value.is_null()) return value == true;
        return Refusal(fmt::format("{} is {}, neither true nor false; say: {} eq VALUE", measure_.path.text(),
                                   json_text(value), measure_.path.text()));
    }
    if (has_unit())
        if (std::string wrong = value_error(wanted_, measure_.path.unit_name(), value.is_number());
            !wrong.empty())
            return Refusal(std::move(wrong));
    return compare(value, *comparison_,
                   wanted_value(wanted_, has_unit() ? measure_.path.unit_name() : "ratio"));
}

// An error, or empty.
std::string Expression::divide(std::vector<Term>& terms, const Json& report) const {
    const auto by = divisor_->terms(report);
    if (!by) return by.error();
    if (by->empty()) return "no figure matches " + divisor_->path.text();
    const Term& divisor = by->front();
    if (divisor.value.is_null()) return null_text(divisor.where);
    if (!divisor.value.is_number()) return divisor.where + " is no number";
    if (number(divisor.value) == 0) return fmt::format("{} is 0", divisor_->path.text());
    for (Term& term : terms) {
        if (term.value.is_null()) return null_text(term.where);
        if (!term.value.is_number()) return term.where + " is no number";
        term.value = number_json(number(term.value) / number(divisor.value));
    }
    return {};
}

Judgment Expression::judge(const Json& report, const Json* baseline) const {
    auto found = measure_.terms(report);
    if (!found) return {false, {}, {}, found.error()};
    if (divisor_)
        if (std::string error = divide(*found, report); !error.empty())
            return {false, {}, measure_.path.text(), std::move(error)};
    if (baseline_) {
        auto base = baseline == nullptr ? tl::expected<std::vector<Term>, std::string>(Refusal(
                                              fmt::format("there is no phase {}", in_quotes(*baseline_))))
                                        : measure_.terms(*baseline);
        if (!base) return {false, {}, {}, base.error()};
        if (base->size() != found->size())
            return {
                false, {}, {}, fmt::format("{} names other figures in {}", measure_.path.text(), *baseline_)};
        for (std::size_t n = 0; n < found->size(); ++n) {
            Json& value = (*found)[n].value;
            if (!value.is_number() || !(*base)[n].value.is_number())
                return {false,
                        {},
                        {},
                        value.is_null()              ? null_text((*found)[n].where)
                        : (*base)[n].value.is_null() ? null_text((*base)[n].where) + " in " + *baseline_
                                                     : (*found)[n].where + " is no number"};
            const double before = number((*base)[n].value);
            if (before == 0)
                return {false,
                        {},
                        (*found)[n].where,
                        fmt::format("{} is 0 in {}", (*found)[n].where, *baseline_)};
            value = number(value) / before;
        }
    }
    const std::string& path = measure_.path.text();
    if (found->empty()) return {false, nullptr, path, "no figure matches " + path};
    Judgment judgment;
    for (const Term& term : *found) {
        if (term.value.is_null() && wanted_ != "null" && measure_.function != Function::count)
            return {false, nullptr, term.where, null_reason(term.where)};
        const auto held = holds(term.value);
        if (!held) return {false, term.value, term.where, held.error()};
        const bool decides = measure_.function == Function::all ? !*held : *held;
        if (judgment.where.empty() || decides) judgment = {*held, term.value, term.where, {}};
        if (is_judging(measure_.function) && decides) break;
    }
    if (measure_.function == Function::none) judgment.met = !judgment.met;
    return judgment;
}

std::string Expression::check(const Json& report) const {
    const auto found = measure_.path.find(report);
    const std::string& path = measure_.path.text();
    for (const std::string_view grows : growing)
        if (path.find(grows) != std::string::npos) return {};
    if (!found) return found.error();
    if (found->empty()) return fmt::format("no figure matches {}", path);
    const auto figures = measure_.figures(report);
    if (!figures) return figures.error();
    if (divisor_) {
        const auto by = divisor_->figures(report);
        if (!by) return by.error();
        if (by->empty()) return fmt::format("no figure matches {}", divisor_->path.text());
    }
    if (baseline_ || divisor_) return {};
    for (const Term& term : *figures) {
        // What is not measured yet will be a number; words, such as a straggler's, will be words.
        const bool is_truth = term.where.ends_with("verdict.lossless");
        if (term.value.is_null() && !is_duration(term.where) && !is_truth) continue;
        const Json later = is_truth ? Json(true) : Json(0);
        if (const auto held = holds(term.value.is_null() ? later : term.value); !held) return held.error();
    }
    return {};
}

}  // namespace sluice::fabric
