#include "tools/sluicectl/condition.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/values.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

constexpr const char* wanted_words =
    "wanted: port P up|down, or (port P | queue P.N | group P.N | pool NAME | ledger | stats PATH) FIELD OP "
    "VALUE";

// "p1.3" -> "ports.p1.queues.3"
std::string class_path(const std::string& name, std::string_view list) {
    const auto dot = name.rfind('.');
    if (dot == std::string::npos || dot + 1 == name.size())
        throw Failure{exit_usage, sluice::in_quotes(name) + " is no queue or group; say PORT.N"};
    return fmt::format("ports.{}.{}.{}", name.substr(0, dot), list, name.substr(dot + 1));
}

// A number, with a unit where the field has one; true, false; else text.
Json value_of(const std::string& text, const std::string& field) {
    if (text == "true" || text == "false") return text == "true";
    const Json number = Json::parse(text, nullptr, false);
    if (number.is_number()) return number;
    if (const auto time = parse_time(text); time && !field.ends_with("bytes")) return time->ps / 1000;
    if (const auto size = parse_size(text)) return *size;
    return text;
}

}  // namespace

Condition Condition::parse(std::span<const std::string> words) {
    static const Words objects{"port", "queue", "group", "pool", "ledger", "stats"};
    static const Words operators{"==", "!=", "<", "<=", ">", ">="};
    if (words.empty()) throw Failure{exit_usage, wanted_words};
    const std::string object = resolve_word(words[0], objects, "such thing as");
    if (object == "port" && words.size() == 3) {
        const std::string state = resolve_word(words[2], {"up", "down"}, "such state as");
        return {"ports." + words[1], "link_up", "==", state == "up", true};
    }
    const bool named = object != "ledger" && object != "stats";
    const std::size_t at = named ? 2 : 1;
    if (words.size() != at + 3) throw Failure{exit_usage, wanted_words};
    Condition condition;
    if (object == "port") condition.path = "ports." + words[1];
    if (object == "queue") condition.path = class_path(words[1], "queues");
    if (object == "group") condition.path = class_path(words[1], "priority_groups");
    if (object == "pool") condition.path = "pools." + words[1];
    if (object == "ledger") condition.path = "ledger";
    if (object == "stats")
        condition.path = words[1];
    else
        condition.field = words[at];
    condition.op = words[at + 1];
    if (std::find(operators.begin(), operators.end(), condition.op) == operators.end())
        throw Failure{exit_usage,
                      sluice::in_quotes(condition.op) + " compares nothing; known: == != < <= > >="};
    condition.wanted = value_of(words[at + 2], words[at]);
    return condition;
}

const Json& Condition::find(const Json& part) const {
    const Json* at = &part;
    std::string_view rest = field;
    while (!rest.empty()) {
        const std::string name(rest.substr(0, rest.find('.')));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        if (at->is_array()) {
            const auto index = parse_integer(name);
            if (!index || *index >= at->size())
                throw Failure{exit_usage, fmt::format("{} has no {}", field, sluice::in_quotes(name))};
            at = &(*at)[*index];
            continue;
        }
        Words known;
        if (at->is_object())
            for (const auto& [key, value] : at->items()) known.push_back(key);
        at = &(*at)[resolve_word(name, known, "field of " + path)];
    }
    return *at;
}

std::string Condition::text_of(const Json& value) const {
    return of_link ? (value == true ? "up" : "down") : word_text(value);
}

bool Condition::holds(const Json& value) const {
    if (value.is_structured()) throw Failure{exit_usage, path + " " + field + " is no single value"};
    if (op == "==") return value == wanted;
    if (op == "!=") return value != wanted;
    if (!value.is_number() || !wanted.is_number())
        throw Failure{exit_usage,
                      fmt::format("{} and {} have no order", json_text(value), json_text(wanted))};
    if (op == "<") return value < wanted;
    if (op == "<=") return value <= wanted;
    if (op == ">") return value > wanted;
    return value >= wanted;
}

}  // namespace sluice::ctl
