#include "control/report/figures/condition.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/json_text.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using Refusal = tl::unexpected<std::string>;

constexpr const char* wanted_words =
    "wanted: PATH, or PATH OP VALUE, or port P up|down, or (port P | queue P.N | group P.N | pool NAME | "
    "ledger | "
    "stats PATH) FIELD OP VALUE; OP: eq ne lt le gt ge";

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

std::optional<Comparison> comparison_of(std::string_view word) {
    const auto found = std::find_if(operators.begin(), operators.end(), [&](const Operator& known) {
        return word == known.word || word == known.sign;
    });
    return found == operators.end() ? std::nullopt : std::optional(found->comparison);
}

// Names of figures by their ends, as a report has them.
struct WrittenUnit {
    std::string_view ending;
    std::string_view what, example;
    bool (*reads)(const std::string& text);
};
bool is_share(const std::string& text) {
    return text.ends_with('%') && Json::parse(text.substr(0, text.size() - 1), nullptr, false).is_number();
}
constexpr std::array written_units{
    WrittenUnit{"bps", "rate", "90G", [](const std::string& text) { return parse_rate(text).has_value(); }},
    WrittenUnit{"_ns", "time", "2ms", [](const std::string& text) { return parse_time(text).has_value(); }},
    WrittenUnit{"bytes", "size", "400KB",
                [](const std::string& text) { return parse_size(text).has_value(); }},
    WrittenUnit{"ppm", "share", "5%", is_share},
    WrittenUnit{"permille", "share", "5%", is_share},
};

const WrittenUnit* written_unit(std::string_view name) {
    const auto found = std::find_if(written_units.begin(), written_units.end(),
                                    [&](const WrittenUnit& unit) { return name.ends_with(unit.ending); });
    return found == written_units.end() ? nullptr : &*found;
}

// "p1.3" -> "ports.p1.queues.3"
tl::expected<std::string, std::string> class_path(const std::string& name, std::string_view list) {
    const auto dot = name.rfind('.');
    if (dot == std::string::npos || dot + 1 == name.size())
        return Refusal(in_quotes(name) + " is no queue or group; say PORT.N");
    return fmt::format("ports.{}.{}.{}", name.substr(0, dot), list, name.substr(dot + 1));
}

// The part that the words of an object name; `object` is one of those that have a name.
tl::expected<std::string, std::string> object_path(std::string_view object, const std::string& name) {
    if (object == "queue") return class_path(name, "queues");
    if (object == "group") return class_path(name, "priority_groups");
    return (object == "port" ? "ports." : "pools.") + name;
}

bool are_comparable(const Json& value, const Json& wanted) {
    return value.is_null() || wanted.is_null() || (value.is_number() && wanted.is_number()) ||
           value.type() == wanted.type();
}

tl::expected<Condition, std::string> parse_path(std::span<const std::string> words) {
    Condition condition;
    condition.path = words[0];
    if (words.size() == 1) {
        condition.form = Condition::Form::bare;
        return condition;
    }
    if (words.size() != 3) return Refusal(wanted_words);
    const auto comparison = read_comparison(words[1]);
    if (!comparison) return Refusal(comparison.error());
    condition.comparison = *comparison;
    condition.wanted = words[2];
    return condition;
}

}  // namespace

tl::expected<Comparison, std::string> read_comparison(std::string_view word) {
    if (const auto comparison = comparison_of(word)) return *comparison;
    return Refusal(in_quotes(word) + " compares nothing; known: eq ne lt le gt ge, or == != < <= > >=");
}

Json wanted_value(const std::string& text, std::string_view field) {
    if (text == "true" || text == "false") return text == "true";
    if (text == "null") return nullptr;
    const Json number = Json::parse(text, nullptr, false);
    if (number.is_number()) return number;
    if (text.ends_with('%'))
        if (const Json share = Json::parse(text.substr(0, text.size() - 1), nullptr, false);
            share.is_number())
            return share.get<double>() * (field.ends_with("ppm")        ? 1e4
                                          : field.ends_with("permille") ? 10
                                                                        : 0.01);
    if (field.ends_with("bps"))
        if (const auto rate = parse_rate(text)) return rate->bits_per_second;
    if (const auto time = parse_time(text); time && !field.ends_with("bytes")) return time->ps / 1000;
    if (const auto size = parse_size(text)) return *size;
    return text;
}

bool names_unit(std::string_view name) { return written_unit(name) != nullptr; }

std::string_view unit_part(std::string_view path) {
    const std::string_view last = path.substr(path.rfind('.') + 1);  // npos + 1 is 0
    while (true) {
        const std::size_t dot = path.rfind('.');
        const std::string_view part = path.substr(dot + 1);
        if (names_unit(part)) return part;
        if (dot == path.npos) return last;
        path = path.substr(0, dot);
    }
}

std::string value_error(const std::string& text, std::string_view name, bool is_number) {
    const bool is_truth = text == "true" || text == "false";
    if (text == "null") return {};
    if (name == "lossless")
        return is_truth ? ""
                        : fmt::format("{} cannot be compared with {}, which is true or false",
                                      in_quotes(text), name);
    if (is_truth || Json::parse(text, nullptr, false).is_number()) return {};
    const WrittenUnit* unit = written_unit(name);
    if (unit != nullptr)
        return unit->reads(text) ? ""
                                 : fmt::format("{} is no {}, as {} is; write for example {}", in_quotes(text),
                                               unit->what, name, unit->example);
    const bool has_unit = std::any_of(written_units.begin(), written_units.end(),
                                      [&](const WrittenUnit& each) { return each.reads(text); });
    return is_number && has_unit
               ? fmt::format("{} is no number without a unit, as {} is; write for example 5", in_quotes(text),
                             name)
               : "";
}

tl::expected<bool, std::string> compare(const Json& value, Comparison comparison, const Json& wanted) {
    if (!are_comparable(value, wanted))
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

tl::expected<Condition, std::string> Condition::parse(std::span<const std::string> words) {
    static const Words objects{"port", "queue", "group", "pool", "ledger", "stats"};
    if (words.empty()) return Refusal(wanted_words);
    const bool is_short = words.size() == 1 || (words.size() == 3 && comparison_of(words[1]));
    if (words[0].find('.') != std::string::npos || (is_short && begun_by(words[0], objects).empty()))
        return parse_path(words);
    const auto object = find_word(words[0], objects, "such thing as");
    if (!object) return Refusal(object.error());
    if (*object == "port" && words.size() == 3) {
        const auto state = find_word(words[2], {"up", "down"}, "such state as");
        if (!state) return Refusal(state.error());
        return Condition{"ports." + words[1], "link_up", Comparison::equal, *state == "up" ? "true" : "false",
                         Form::link_state};
    }
    if (*object == "stats") return words.size() == 4 ? parse_path(words.subspan(1)) : Refusal(wanted_words);
    const std::size_t at = *object == "ledger" ? 1 : 2;
    if (words.size() != at + 3) return Refusal(wanted_words);
    const auto path = at == 1 ? *object : object_path(*object, words[1]);
    if (!path) return Refusal(path.error());
    const auto comparison = read_comparison(words[at + 1]);
    if (!comparison) return Refusal(comparison.error());
    return Condition{*path, words[at], *comparison, words[at + 2]};
}

tl::expected<const Json*, std::string> Condition::find(const Json& part) const {
    const Json* at = &part;
    std::string_view rest = field;
    while (!rest.empty()) {
        const std::string name(rest.substr(0, rest.find('.')));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        if (at->is_array()) {
            const auto index = parse_integer(name);
            if (!index || *index >= at->size())
                return Refusal(fmt::format("{} has no {}", field, in_quotes(name)));
            at = &(*at)[*index];
            continue;
        }
        Words known;
        if (at->is_object())
            for (const auto& [key, value] : at->items()) known.push_back(key);
        const auto key = find_word(name, known, "field of " + path);
        if (!key) return Refusal(key.error());
        at = &(*at)[*key];
    }
    return at;
}

tl::expected<bool, std::string> Condition::holds(const Json& value) const {
    const std::string what = field.empty() ? path : path + " " + field;
    if (value.is_structured()) return Refusal(what + " is no single value");
    if (form == Form::bare) {
        if (value.is_boolean() || value.is_null()) return value == true;
        return Refusal(
            fmt::format("{} is {}, neither true nor false; say: {} eq VALUE", what, json_text(value), what));
    }
    // A field may be said by the beginning of its name, which lacks the unit.
    const bool is_whole_name = field.empty();
    if (std::string wrong = value.is_string() || form == Form::link_state
                                ? ""
                                : value_error(wanted, unit_part(is_whole_name ? path : field),
                                              value.is_number() && is_whole_name);
        !wrong.empty())
        return Refusal(std::move(wrong));
    const Json other = value.is_string() ? Json(wanted) : wanted_value(wanted, field.empty() ? path : field);
    if (!are_comparable(value, other))
        return Refusal(fmt::format("{} is {}, which cannot be compared with {}", what, json_text(value),
                                   json_text(other)));
    return compare(value, comparison, other);
}

std::string Condition::figure(const Json& value) const {
    if (form == Form::link_state) return value == true ? "up" : "down";
    return value.is_string() ? value.get<std::string>() : json_text(value);
}

}  // namespace sluice
