// Wires and their rules.
#include <fmt/format.h>

#include <array>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

constexpr std::string_view no_wire =
    "there is no wire; do: write [wire.w1] with ports = [\"p1\", \"p2\"], and start sluiced anew";
constexpr std::size_t max_trace_lines = 32;

std::string rules_text(const std::string& wire, const Json& rules) {
    Table table({"<wire", "<rule", "<do", "<direction", "matched", "done", "untouched"});
    for (const auto& [name, rule] : rules.items())
        for (const char* direction : {"forward", "backward"}) {
            const Json& figures = rule[direction];
            table.row({wire, name, word_text(rule["do"]), direction, count_text(figures["matched_packets"]),
                       count_text(figures["acted_packets"]), count_text(figures["passed_packets"])});
        }
    return rules.empty() ? fmt::format("wire {} has no rules; do: sluicectl wire add {} RULE do drop nth 5\n",
                                       wire, wire)
                         : table.text();
}

std::string trace_text(const Json& trace) {
    std::string text;
    const std::size_t first = trace.size() > max_trace_lines ? trace.size() - max_trace_lines : 0;
    for (std::size_t n = first; n < trace.size(); ++n) {
        const Json& event = trace[n];
        text += fmt::format("{:>12}  {:<8} {:<12} {}{}", ns_text(event["at_ns"]),
                            word_text(event["direction"]), word_text(event["rule"]), word_text(event["do"]),
                            event["done"] == true ? "" : ", untouched");
        if (event.contains("psn"))
            text += fmt::format(": {} of qp {} psn {}", word_text(event["opcode"]), json_text(event["qp"]),
                                json_text(event["psn"]));
        text += fmt::format(", {} bytes\n", json_text(event["frame_bytes"]));
    }
    return text;
}

Answer show_wire(Context& context, const Arguments& arguments) {
    Json wires = context.stats("wires");
    if (wires.empty()) return {wires, fmt::format("{}\n", no_wire)};
    if (arguments.has("WIRE")) {
        Words known;
        for (const auto& [name, value] : wires.items()) known.push_back(name);
        const std::string name = resolve_word(arguments.value("WIRE"), known, "wire");
        Json one = wires[name];
        std::string text = fmt::format("{} and {}, PFC: {}, held {} and {}\n", word_text(one["ports"][0]),
                                       word_text(one["ports"][1]), word_text(one["pfc"]),
                                       json_text(one["forward"]["held_packets"]),
                                       json_text(one["backward"]["held_packets"])) +
                           rules_text(name, one["rules"]) + trace_text(one["trace"]);
        return {std::move(one), std::move(text)};
    }
    std::string text;
    for (const auto& [name, wire] : wires.items()) text += rules_text(name, wire["rules"]);
    return {std::move(wires), std::move(text)};
}

Answer command(Context& context, const std::string& verb, const Arguments& arguments) {
    std::string words = fmt::format("wire {} {} {}", verb, arguments.value("WIRE"), arguments.value("RULE"));
    for (const std::string& word : arguments.rest) append_item(words, " ", word);
    return {context.call("command", {{"command", words}}), {}};
}

Answer add(Context& context, const Arguments& arguments) { return command(context, "add", arguments); }
Answer remove(Context& context, const Arguments& arguments) { return command(context, "remove", arguments); }

}  // namespace

std::span<const Command> wire_commands() {
    static constexpr std::array table{
        Command{"wire show [WIRE]", "rules, their counters, and the last frames that they took", show_wire},
        Command{"wire add WIRE RULE WORDS...", "a rule: do ACTION, then its keys and those of match", add},
        Command{"wire remove WIRE RULE", "takes it away; frames that it holds leave at their time", remove},
    };
    return table;
}

}  // namespace sluice::ctl
