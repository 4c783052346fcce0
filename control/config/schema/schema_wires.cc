// Wires and the rules that disturb them; conditions at the end of a run.
#include <fmt/format.h>

#include "control/config/schema/schema_sections.hh"
#include "lib/roce/opcode.hh"

namespace sluice::schema {
namespace {

constexpr std::uint32_t max_24_bits = 0xFF'FFFF;

Type<PsnRange> psn_range() {
    Type<PsnRange> type{"number, or range",
                        fmt::format("0 to {}, or \"FIRST..LAST\" of them", max_24_bits),
                        "\"100..103\"",
                        {},
                        {}};
    type.read = [self = type](const toml::node& node, Context& context, PsnRange& out) {
        const auto good = [](std::uint64_t psn) { return psn <= max_24_bits; };
        if (const auto* number = node.as_integer()) {
            if (number->get() < 0 || !good(static_cast<std::uint64_t>(number->get())))
                return self.refuse(node, context, "is not a PSN");
            out.first = out.last = static_cast<std::uint32_t>(number->get());
            return true;
        }
        const auto* text = node.as_string();
        if (text == nullptr) return self.refuse(node, context, "is neither a number nor a range");
        const std::string_view said = text->get();
        const std::size_t dots = said.find("..");
        const auto first = parse_integer(said.substr(0, dots));
        const auto last = dots == said.npos ? first : parse_integer(said.substr(dots + 2));
        if (!first || !last || !good(*first) || !good(*last))
            return self.refuse(node, context, "is not a range of PSNs");
        out = {static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
        return true;
    };
    type.print = [](const PsnRange& range, const PsnRange*) {
        return range.first == range.last ? std::to_string(range.first)
                                         : toml_string(fmt::format("{}..{}", range.first, range.last));
    };
    return type;
}

// Operations of RC, by the names of a recipe.
Type<std::uint8_t> opcode() {
    std::vector<std::pair<std::string, std::uint8_t>> words;
    for (const roce::Operation& operation : roce::operations())
        words.emplace_back(std::string(operation.name), operation.code);
    words.emplace_back("cnp", static_cast<std::uint8_t>(roce::Opcode::cnp));
    return word<std::uint8_t>(std::move(words));
}

Rows<ImpairMatchConfig> match_rows() {
    using M = ImpairMatchConfig;
    const auto count = integer_64(0, 1ULL << 40);
    Rows<M> rows;
    rows.key("qp", &M::qp, optional_or(integer<std::uint32_t>(0, max_24_bits), "any"),
             "Destination queue pair of a RoCE packet.");
    rows.key("psn", &M::psn, optional_or(psn_range(), "any"),
             "Its packet sequence number, or a range of them.");
    rows.key("opcode", &M::opcode, optional_or(opcode(), "any"), "Its operation.");
    rows.key("dscp", &M::dscp, optional_or(integer<std::uint8_t>(0, 63), "any"), "DSCP of an IP packet.");
    rows.key("direction", &M::direction,
             word<WireDirections>({{"both", WireDirections::both},
                                   {"forward", WireDirections::forward},
                                   {"backward", WireDirections::backward}}),
             "Forward: frames that enter by the wire's first port. Each direction counts separately.");
    rows.key("every", &M::every, count, "Take a frame of every so many that match; 0: not used.");
    rows.key("nth", &M::nth, count,
             "Take the frame of this number, from 1, among those that match; 0: not used.");
    rows.key("probability", &M::probability, optional_or(odds(), "always"),
             "Chance of each frame that matches. With every, nth or both, either is enough; without any of "
             "them all are taken.");
    return rows;
}

Rows<ImpairConfig> impair_rows() {
    using I = ImpairConfig;
    std::vector<std::pair<std::string, FaultAction>> actions;
    for (unsigned n = 0; n < fault_action_count; ++n)
        actions.emplace_back(std::string(to_string(static_cast<FaultAction>(n))),
                             static_cast<FaultAction>(n));
    Rows<I> rows;
    rows.required("do", &I::action, word<FaultAction>(std::move(actions)),
                  "Action on a frame that the rule takes; later rules do not see it.");
    rows.key("time", &I::time, optional_or(time(nanoseconds(1), seconds(10), "10us"), "unset"),
             "Time of a delay; of reorder: the most, by default 1 ms.");
    rows.key("frames", &I::frames, optional_or(integer<std::uint32_t>(1, 65'535), "unset"),
             "Reorder: later frames of the same queue pair that pass it (without RoCE: of the direction); "
             "default 1.");
    rows.key("sender_qp", &I::sender_qp, optional_or(integer<std::uint32_t>(0, max_24_bits), "learned"),
             "Cnp: the sender's queue pair; \"learned\": from ACKs and READ requests, where these name a "
             "single one between the two addresses.");
    rows.key("cnp_dscp", &I::cnp_dscp, optional_or(integer<std::uint8_t>(0, 63), "unset"),
             "DSCP of the cnp; default 48.");
    rows.nested("match", &I::match, match_rows(), "Which frames.");
    return rows;
}

ImpairConfig fresh_rule(const WireConfig&, const std::string&, bool) { return {}; }

}  // namespace

Rows<WireConfig> wire_rows() {
    using W = WireConfig;
    Rows<W> rows;
    rows.required("ports", &W::ports, list_of(name("a port's name"), 2),
                  "The two ports that it joins; frames pass unchanged.")
        .info.restart = true;
    rows.key("pfc", &W::passes_pfc, word<bool>({{"end", false}, {"pass", true}}),
             "End: each port obeys and sends PFC for itself. Pass: MAC control passes, and the ports have no "
             "lossless class.");
    rows.named("impair", &W::impair, impair_rows(), fresh_rule, max_wire_rules,
               "A rule that disturbs a wire. Frames meet the rules in the order of their names.");
    return rows;
}

Rows<ExpectationConfig> expectation_rows() {
    using E = ExpectationConfig;
    Rows<E> rows;
    rows.required("that", &E::that, text("an expression", 1, 1024, "\"verdict.lossless\""),
                  "An expression over paths of the report, as of --assert, judged when the run ends.");
    return rows;
}

}  // namespace sluice::schema
