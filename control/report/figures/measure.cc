#include "control/report/figures/measure.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using Refusal = tl::unexpected<std::string>;
using Part = FigurePath::Part;
using Function = FigureFunction;

constexpr const char* wanted_words =
    "wanted: [FUNCTION] FIGURE [ratio to PHASE | over [FUNCTION] FIGURE] [OP VALUE], or port P up|down; "
    "FIGURE: PATH, or (port P | queue P.N | group P.N | pool NAME | ledger) FIELD, or stats PATH; OP: eq ne "
    "lt le gt ge";

const Words& objects() {
    static const Words names{"port", "queue", "group", "pool", "ledger", "stats"};
    return names;
}

bool is_path(const std::string& word) { return word.find_first_of(".*?['") != word.npos; }

// "p1.3" -> ports.p1.queues.3
tl::expected<std::vector<Part>, std::string> class_parts(const std::string& name, const char* list) {
    const auto dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == name.size())
        return Refusal(in_quotes(name) + " is not a queue or group; say PORT.N");
    return std::vector<Part>{{"ports"}, {name.substr(0, dot)}, {list}, {name.substr(dot + 1)}};
}

// The part that the words of an object name; `object` is one of those that have a name.
tl::expected<std::vector<Part>, std::string> object_parts(std::string_view object, const std::string& name) {
    if (object == "queue") return class_parts(name, "queues");
    if (object == "group") return class_parts(name, "priority_groups");
    return std::vector<Part>{{object == "port" ? "ports" : "pools"}, {name}};
}

// (port P | queue P.N | group P.N | pool NAME | ledger) FIELD, or port P up|down.
tl::expected<Measure, std::string> parse_object(std::string_view object, const Words& words,
                                                std::size_t& at) {
    const std::size_t names = object == "ledger" ? 1 : 2;
    if (at + names >= words.size()) return Refusal(wanted_words);
    auto parts = names == 1 ? std::vector<Part>{{"ledger"}} : object_parts(object, words[at + 1]);
    if (!parts) return Refusal(parts.error());
    const std::string& field = words[at + names];
    at += names + 1;
    Measure made;
    if (object == "port" && at == words.size() && !begun_by(field, {"up", "down"}).empty()) {
        parts->push_back({"link_up"});
        made.is_link_state = true;
    } else {
        for (Part& part : parts_at_dots(field, FigurePath::Match::beginning))
            parts->push_back(std::move(part));
    }
    made.path = FigurePath(std::move(*parts));
    return made;
}

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
        std::ranges::find_if(functions, [&](const auto& each) { return each.name == name; });
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
    const double most = *std::ranges::max_element(values);
    switch (function) {
        case Function::min:
            return *std::ranges::min_element(values);
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

std::string Measure::object_error(const std::string& word) {
    const auto object = find_word(word, objects(), "such thing as");
    return is_path(word) || object ? std::string() : object.error();
}

tl::expected<Measure, std::string> Measure::parse(const Words& words, std::size_t& at) {
    auto function = FigureFunction::single;
    if (at + 1 < words.size())
        if (const auto named = function_named(words[at]); named) function = *named, ++at;
    if (at >= words.size()) return Refusal(wanted_words);
    Measure made;
    const bool is_object = !is_path(words[at]) && !begun_by(words[at], objects()).empty();
    if (is_object) {
        const auto object = find_word(words[at], objects(), "such thing as");
        if (!object) return Refusal(object.error());
        if (*object != "stats") {
            auto of_object = parse_object(*object, words, at);
            if (!of_object) return of_object;
            made = std::move(*of_object);
            made.function = function;
            return made;
        }
        if (++at >= words.size()) return Refusal(wanted_words);
    }
    auto path = FigurePath::parse(words[at++]);
    if (!path) return Refusal(path.error());
    made.function = function;
    made.path = std::move(*path);
    return made;
}

Measure::Terms Measure::figures(FigurePath::Search search) const {
    if (std::string error = search.error(); !error.empty()) return tl::unexpected(Fault{std::move(error)});
    if (function == FigureFunction::count) return std::vector<Term>{{path.text(), search.found.size()}};
    if (function == FigureFunction::single && search.found.size() > 1)
        return tl::unexpected(
            Fault{fmt::format("{} names {} figures; say all, any, none, max, min, sum, mean or p99 before it",
                              path.text(), search.found.size())});
    std::vector<Term> terms;
    for (FoundFigure& each : search.found) {
        if (each.value->is_structured()) return tl::unexpected(Fault{each.path + " is not a single value"});
        if (is_folding(function) && !each.value->is_number() && !each.value->is_null())
            return tl::unexpected(Fault{each.path + " is not a number"});
        terms.push_back({std::move(each.path), *each.value});
    }
    return terms;
}

Measure::Terms Measure::terms(const Json& report) const {
    auto found = figures(path.find(report));
    if (!found || found->empty() || !is_folding(function)) return found;
    const std::vector<Term>& terms = *found;
    std::vector<double> values;
    for (const Term& term : terms) {
        if (term.value.is_null()) return tl::unexpected(Fault{null_text(term.where), false});
        values.push_back(term.value.get<double>());
    }
    if ((function == FigureFunction::jain || function == FigureFunction::imbalance) &&
        std::ranges::all_of(values, [](double value) { return value == 0; }))
        return tl::unexpected(
            Fault{fmt::format("all of {} are 0: there is nothing to share", path.text()), false});
    const double folded = fold(function, values);
    const auto one = std::ranges::find(values, folded);
    std::string where =
        one == values.end() ? path.text() : terms[static_cast<std::size_t>(one - values.begin())].where;
    return std::vector<Term>{{std::move(where), number_json(folded)}};
}

Json number_json(double value) {
    if (value >= 0 && value < 9e15 && value == std::floor(value)) return static_cast<std::uint64_t>(value);
    return value;
}

std::string null_reason(const std::string& where) {
    const auto has = [&](std::string_view part) { return where.find(part) != where.npos; };
    if (has("step_ns.") || (has("collectives.") && has("completion_ns"))) return "no step ended";
    if (where.ends_with("verdict.lossless")) return "no packet of a lossless class was sent";
    return has("completion_ns.") || has("slowdown_permille.") ? "no message completed" : "there is none";
}

std::string null_text(const std::string& where) {
    return fmt::format("{} is null: {}", where, null_reason(where));
}

}  // namespace sluice
