#include "control/report/figures/expression.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/figure_unit.hh"
#include "control/report/figures/figures.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using Refusal = tl::unexpected<std::string>;
using Term = Measure::Term;
using Fault = Measure::Fault;

struct Operator {
    std::string_view word;
    std::string_view sign;  // which a shell may take for a redirection
    Comparison comparison;
};
constexpr std::array operators{
    Operator{"eq", "==", Comparison::equal}, Operator{"ne", "!=", Comparison::unequal},
    Operator{"lt", "<", Comparison::below},  Operator{"le", "<=", Comparison::at_most},
    Operator{"gt", ">", Comparison::above},  Operator{"ge", ">=", Comparison::at_least},
};

tl::expected<Comparison, std::string> read_comparison(std::string_view word) {
    for (const Operator& known : operators)
        if (word == known.word || word == known.sign) return known.comparison;
    return Refusal(in_quotes(word) + " compares nothing; known: eq ne lt le gt ge, or == != < <= > >=");
}

// Words apart at blanks; 'quoted' text stays whole, quotes included.
tl::expected<Words, std::string> split(std::string_view text) {
    Words words;
    std::string word;
    bool quoted = false;
    for (const char c : text) {
        if (c == '\'') quoted = !quoted;
        if (std::isspace(static_cast<unsigned char>(c)) != 0 && !quoted) {
            if (!word.empty()) words.push_back(std::exchange(word, {}));
            continue;
        }
        word += c;
    }
    if (quoted) return Refusal("a ' has no second one");
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

tl::expected<bool, std::string> compare(const Json& value, Comparison comparison, const Json& wanted) {
    const bool alike = value.is_null() || wanted.is_null() || (value.is_number() && wanted.is_number()) ||
                       value.type() == wanted.type();
    if (!alike)
        return Refusal(fmt::format("{} cannot be compared with {}", json_text(value), json_text(wanted)));
    if (comparison == Comparison::equal) return value == wanted;
    if (comparison == Comparison::unequal) return value != wanted;
    if (!value.is_number() || !wanted.is_number())
        return Refusal(fmt::format("{} and {} have no order", json_text(value), json_text(wanted)));
    switch (comparison) {
        case Comparison::below:
            return value < wanted;
        case Comparison::at_most:
            return value <= wanted;
        case Comparison::above:
            return value > wanted;
        default:
            return value >= wanted;
    }
}

// What a figure that is null before the run may become; null: it may be words.
Json later_value(const std::string& where) {
    const Figure* row = row_of(where);
    if (row != nullptr && row->kind == FigureKind::flag) return true;
    const bool is_measured = where.find("_ns") != where.npos || where.find("_permille") != where.npos;
    return is_measured ? Json(0) : Json();
}

// `in`: the phase of the divisor, if any.
tl::expected<void, Fault> divide(Term& term, const Term& by, const std::string& divisor,
                                 const std::string& in) {
    const auto fault = [](std::string text, bool is_unfit) {
        return tl::unexpected(Fault{std::move(text), is_unfit});
    };
    if (term.value.is_null()) return fault(null_text(term.where), false);
    if (by.value.is_null()) return fault(null_text(by.where) + in, false);
    if (!term.value.is_number()) return fault(term.where + " is not a number", true);
    if (!by.value.is_number()) return fault(by.where + " is not a number", true);
    if (by.value.get<double>() == 0) return fault(fmt::format("{} is 0{}", divisor, in), false);
    term.value = term.value.get<double>() / by.value.get<double>();
    return {};
}

}  // namespace

// The figure ends the text, and is one number. The error: a sentence.
tl::expected<void, std::string> Expression::end_of_figure(const Words& words, std::size_t at) const {
    if (is_judging(measure_.function) || measure_.is_link_state)
        return Refusal(fmt::format("{} has a truth, and is not a number; write max, mean or p99 of a figure",
                                   measure_.is_link_state ? "port up or down" : words.front()));
    if (at < words.size())
        return Refusal(fmt::format("a figure that should be small has no comparison; leave out {}",
                                   joined(std::span(words).subspan(at), " ")));
    return {};
}

tl::expected<Expression, std::string> Expression::parse(const std::string& text, Wanted wanted) {
    const auto split_words = split(text);
    if (!split_words) return Refusal(split_words.error());
    const Words& words = *split_words;
    Expression made;
    made.text_ = text;
    made.wanted_kind_ = wanted;
    std::size_t at = 0;
    auto measure = Measure::parse(words, at);
    if (!measure) return Refusal(measure.error());
    made.measure_ = std::move(*measure);
    if (at < words.size() && words[at] == "over") {
        auto divisor = Measure::parse(words, ++at);
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
    if (wanted == Wanted::figure) {
        if (auto ended = made.end_of_figure(words, at); !ended) return Refusal(ended.error());
        return made;
    }
    if (at == words.size()) {
        const FigureFunction function = made.measure_.function;
        if (made.measure_.is_link_state) {
            made.comparison_ = Comparison::equal;
            made.wanted_ = words.back().starts_with('u') ? "true" : "false";
        } else if (made.baseline_ || made.divisor_ || is_folding(function) ||
                   function == FigureFunction::count || !made.measure_.path.has_whole_names()) {
            return Refusal("wanted: OP VALUE after it; OP: eq ne lt le gt ge");
        }
        return made;
    }
    const auto comparison = read_comparison(words[at]);
    if (!comparison) {
        const std::string no_object = at == 1 && words.size() > 3 ? Measure::object_error(words[0]) : "";
        return Refusal(no_object.empty() ? comparison.error() : no_object);
    }
    if (at + 2 != words.size()) return Refusal(fmt::format("wanted: one value after {}", words[at]));
    made.comparison_ = *comparison;
    made.wanted_ = words[at + 1];
    if (made.measure_.path.has_whole_names())
        if (std::string wrong = made.wrong_value(made.measure_.path.text(), false); !wrong.empty())
            return Refusal(std::move(wrong));
    return made;
}

Words Expression::part_needed() const {
    Words parts = measure_.path.literal_parts();
    if (divisor_) {
        const Words others = divisor_->path.literal_parts();
        parts.erase(std::mismatch(parts.begin(), parts.end(), others.begin(), others.end()).first,
                    parts.end());
    }
    return parts;
}

Words Expression::paths() const {
    Words paths{measure_.path.text()};
    if (divisor_) paths.push_back(divisor_->path.text());
    return paths;
}

FigureUnit Expression::unit_at(const std::string& where) const {
    return has_unit() ? unit_of(where) : FigureUnit::none;
}

bool Expression::has_unit() const { return !baseline_ && !divisor_ && !is_plain(measure_.function); }

std::string Expression::wrong_value(const std::string& where, bool is_number) const {
    if (has_unit()) return value_error(wanted_, where, is_number);
    return read_value(wanted_, FigureUnit::none).is_string()
               ? in_quotes(wanted_) + " is not a number without a unit; write for example 0.9, or 90%"
               : std::string();
}

tl::expected<bool, std::string> Expression::holds(const Term& term) const {
    const Json& value = term.value;
    if (wanted_kind_ == Wanted::figure) {
        if (value.is_number()) return true;
        return Refusal(term.where + " is not a number");
    }
    if (!comparison_) {
        if (value.is_boolean() || value.is_null()) return value == true;
        return Refusal(fmt::format("{} is {}, neither true nor false; say: {} eq VALUE", measure_.path.text(),
                                   json_text(value), measure_.path.text()));
    }
    if (value.is_string() && wanted_ != "null") return compare(value, *comparison_, wanted_);
    if (std::string wrong = wrong_value(term.where, value.is_number()); !wrong.empty())
        return Refusal(std::move(wrong));
    return compare(value, *comparison_, read_value(wanted_, unit_at(term.where)));
}

std::optional<bool> Expression::holds_at(double value, const std::string& where) const {
    if (!comparison_) return std::nullopt;
    const auto made = holds({where, value});
    return made ? std::optional(*made) : std::nullopt;
}

Expression::Outcome Expression::divide_by_divisor(std::vector<Term>& terms, const Json& report) const {
    const auto by = divisor_->terms(report);
    if (!by) return tl::unexpected(by.error());
    if (by->empty()) return tl::unexpected(Fault{"no figure matches " + divisor_->path.text(), false});
    for (Term& term : terms) {
        if (auto done = divide(term, by->front(), divisor_->path.text(), {}); !done) return done;
        term.value = number_json(term.value.get<double>());
    }
    return {};
}

Expression::Outcome Expression::divide_by_baseline(std::vector<Term>& terms, const Json* report) const {
    if (report == nullptr)
        return tl::unexpected(Fault{fmt::format("there is no phase {}", in_quotes(*baseline_))});
    const auto base = measure_.terms(*report);
    if (!base) return tl::unexpected(base.error());
    if (base->size() != terms.size())
        return tl::unexpected(
            Fault{fmt::format("{} names other figures in {}", measure_.path.text(), *baseline_), false});
    for (std::size_t n = 0; n < terms.size(); ++n) {
        const std::string where = terms[n].where;
        if (auto done = divide(terms[n], (*base)[n], where, " in " + *baseline_); !done) return done;
    }
    return {};
}

Judgment Expression::judge(const Json& report, const Json* baseline) const {
    const std::string& path = measure_.path.text();
    const auto faulty = [&](const Fault& fault) {
        return Judgment{false, {}, {}, fault.text, fault.is_unfit};
    };
    auto found = measure_.terms(report);
    if (!found) return faulty(found.error());
    if (divisor_)
        if (const auto done = divide_by_divisor(*found, report); !done) return faulty(done.error());
    if (baseline_)
        if (const auto done = divide_by_baseline(*found, baseline); !done) return faulty(done.error());
    if (found->empty()) return {false, nullptr, path, "no figure matches " + path, false};
    Judgment judgment;
    for (const Term& term : *found) {
        if (term.value.is_null() && wanted_ != "null" && measure_.function != FigureFunction::count)
            return {false, nullptr, term.where, null_reason(term.where), false};
        const auto held = holds(term);
        if (!held) return {false, term.value, term.where, held.error(), true};
        const bool decides = measure_.function == FigureFunction::all ? !*held : *held;
        if (judgment.where.empty() || decides) judgment = {*held, term.value, term.where, {}, false};
        if (is_judging(measure_.function) && decides) break;
    }
    if (measure_.function == FigureFunction::none) judgment.met = !judgment.met;
    return judgment;
}

std::string Expression::check(const Json& report) const {
    return check_found([&](const FigurePath& path) { return path.find(report); }, true);
}

std::string Expression::check(const FigureNode& catalogue, const NamesOf& names) const {
    return check_found([&](const FigurePath& path) { return path.find(catalogue, names); }, false);
}

std::string Expression::check_found(const Find& find, bool is_early) const {
    for (const Measure* measure : {&measure_, divisor_ ? &*divisor_ : nullptr}) {
        if (measure == nullptr) continue;
        auto search = find(measure->path);
        if (is_early && std::ranges::any_of(search.missing,
                                            [](const MissingPart& part) { return part.comes_with_run(); }))
            return {};
        const bool none = search.found.empty();
        const auto figures = measure->figures(std::move(search));
        if (!figures) return figures.error().text;
        if (none) return "no figure matches " + measure->path.text();
        const bool is_quotient = baseline_ || divisor_;
        if (is_quotient && wanted_kind_ == Wanted::truth) continue;
        for (Term term : *figures) {
            // What is not measured yet will be a number; words, such as a straggler's, will be words.
            if (term.value.is_null()) term.value = later_value(term.where);
            if (term.value.is_null()) continue;
            if (const auto held = holds(term); !held) return held.error();
        }
    }
    return {};
}

std::string Expression::finding(const Judgment& judgment) const {
    const auto& [met, value, where, wrong, is_unfit] = judgment;
    if (where.empty()) return wrong;
    const FigureUnit unit = unit_at(where);
    std::string text = !measure_.is_link_state ? figure_text(value, unit) : value == true ? "up" : "down";
    const Json wanted = read_value(wanted_, unit);
    if (value.is_number() && wanted.is_number() && value != wanted && text == figure_text(wanted, unit))
        text = exact_text(value, unit);
    const bool is_single = measure_.function == FigureFunction::single && measure_.path.names_one();
    const bool is_said = is_single || text_.find(where) != text_.npos;
    text = "it is " + text;
    if (!is_said) text += ", at " + where;
    if (!wrong.empty()) text += ": " + wrong;
    return text;
}

}  // namespace sluice
