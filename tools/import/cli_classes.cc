// class-map and policy-map of type qos, which EOS and NX-OS write alike: packets by DSCP and PCP to classes.
// The first class of a policy that a packet matches is its class.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"
#include "tools/import/cli.hh"

namespace sluice::import {
namespace {

constexpr unsigned dscp_count = 64;
constexpr std::uint64_t all_dscps = ~std::uint64_t{0};

struct DscpName {
    std::string_view name;
    unsigned value;
};
constexpr std::array dscp_names{
    DscpName{"default", 0}, DscpName{"ef", 46},  DscpName{"cs1", 8},  DscpName{"cs2", 16},
    DscpName{"cs3", 24},    DscpName{"cs4", 32}, DscpName{"cs5", 40}, DscpName{"cs6", 48},
    DscpName{"cs7", 56},    DscpName{"cs0", 0},
};

std::optional<unsigned> dscp_of(std::string_view word) {
    for (const DscpName& each : dscp_names)
        if (each.name == word) return each.value;
    // af<class><drop precedence>: RFC 2597
    if (word.size() == 4 && word.starts_with("af") && word[2] >= '1' && word[2] <= '4' && word[3] >= '1' &&
        word[3] <= '3')
        return static_cast<unsigned>(word[2] - '0') * 8U + static_cast<unsigned>(word[3] - '0') * 2U;
    const auto value = parse_integer(word);
    if (!value || *value >= dscp_count) return std::nullopt;
    return static_cast<unsigned>(*value);
}

std::optional<std::uint64_t> numbers_in(std::string_view words, unsigned most) {
    std::uint64_t found = 0;
    std::string list(words);
    std::ranges::replace(list, ' ', ',');
    for (const std::string_view part : split(list, ',')) {
        const std::size_t dash = part.find('-');
        const auto low = dscp_of(part.substr(0, dash));
        const auto high = dash == part.npos ? low : dscp_of(part.substr(dash + 1));
        if (!low || !high || *high < *low || *high > most) return std::nullopt;
        for (unsigned n = *low; n <= *high; ++n) found |= std::uint64_t{1} << n;
    }
    if (found == 0) return std::nullopt;
    return found;
}

std::string list_text(std::uint64_t bits) {
    std::string out;
    for (unsigned n = 0; n < dscp_count; ++n)
        if ((bits >> n & 1U) != 0) append_item(out, " ", std::to_string(n));
    return out;
}

}  // namespace

std::optional<std::uint64_t> dscps_in(std::string_view words) { return numbers_in(words, dscp_count - 1); }

Classifier::Classifier(Cli& cli, PolicyRules rules) : cli_(cli), rules_(rules) {
    for (const auto& section : cli.root.members) {
        StatementWords words(section->word);
        if (words.take("class-map")) {
            if (words.take("type") && words.next() != "qos") continue;
            read_class(*section, words);
        } else if (words.take("policy-map")) {
            if (words.take("type") && words.next() != rules_.type) continue;
            cli.out.names.taken.insert(std::string(words.peek()));
            policies_[std::string(words.next())].push_back(section.get());
        }
    }
}

void Classifier::read_class(const Item& section, StatementWords words) {
    const bool all = words.peek() == "match-all";
    if (all || words.peek() == "match-any") words.next();
    const std::string_view name = words.next();
    cli_.out.names.taken.insert(std::string(name));
    PacketClass& packets = classes_[std::string(name)];
    packets.items.push_back(&section);
    bool first = packets.dscps == 0 && packets.pcps == 0;
    for (const auto& member : section.members) {
        StatementWords match(member->word);
        if (match.take("description")) {
            cli_.account().nothing(*member, "a name");
        } else if (match.take("match")) {
            read_match(*member, packets, first, all);
            first = false;
        }
    }
}

void Classifier::read_match(const Item& statement, PacketClass& into, bool first, bool all) {
    StatementWords words(statement.word);
    words.take("match");
    if (words.peek() == "ip" || words.peek() == "ipv4" || words.peek() == "ipv6") words.next();
    const std::string_view field = words.next();
    const bool is_pcp = field == "cos";
    const bool is_precedence = field == "precedence";
    if (!is_pcp && !is_precedence && field != "dscp")
        return cli_.account().nothing(statement, "Sluice's classes go by DSCP and PCP alone");
    constexpr unsigned three_bits = 7;
    auto values = numbers_in(words.rest(), is_pcp || is_precedence ? three_bits : dscp_count - 1);
    if (!values)
        return cli_.account().wrong(
            statement, fmt::format("{} is not a list of {} values", in_quotes(words.rest()), field));
    if (is_precedence) {
        std::uint64_t dscps = 0;
        for (unsigned n = 0; n <= three_bits; ++n)
            if ((*values >> n & 1U) != 0) dscps |= std::uint64_t{0xFF} << (8 * n);
        values = dscps;
    }
    const bool is_there = is_pcp ? (*values & ~std::uint64_t{into.pcps}) == 0 : (*values & ~into.dscps) == 0;
    if (all && !first && !is_there)
        cli_.account().assumed(statement, "as one more way to match: Sluice's classes have one field each");
    if (is_pcp)
        into.pcps = static_cast<std::uint8_t>(into.pcps | *values);
    else
        into.dscps |= *values;
}

const PacketClass* Classifier::class_of(std::string_view name) {
    static const PacketClass all{{}, all_dscps, 0xFF, true};
    if (name == "class-default") return &all;
    const auto found = classes_.find(name);
    return found == classes_.end() ? nullptr : &found->second;
}

void Classifier::set_classes(const PacketClass& packets, ClassId tc, MapConfig& map, std::uint64_t& dscps,
                             std::uint8_t& pcps) {
    for (unsigned n = 0; n < dscp_count; ++n)
        if ((packets.dscps & ~dscps) >> n & 1U) map.dscp_to_tc[n] = tc;
    for (unsigned n = 0; n < classes; ++n)
        if ((static_cast<unsigned>(packets.pcps) & ~static_cast<unsigned>(pcps)) >> n & 1U)
            map.pcp_to_tc[n] = tc;
    dscps |= packets.dscps;
    pcps = static_cast<std::uint8_t>(pcps | packets.pcps);
    std::string what = fmt::format("class {}:", tc);
    if (packets.dscps != 0) what += " dscp_to_tc " + list_text(packets.dscps);
    if (packets.pcps != 0) what += " pcp_to_tc " + list_text(packets.pcps);
    for (const Item* section : packets.items) {
        used_.insert(section);
        for (const auto& member : section->members)
            if (starts_with_words(member->word, "match")) cli_.account().taken(*member, what);
        cli_.account().taken_alone(*section, fmt::format("packets of class {}", tc));
    }
}

bool Classifier::apply(std::string_view policy, MapConfig& map, Trust& trust) {
    const auto found = policies_.find(policy);
    if (found == policies_.end()) return false;
    std::uint64_t dscps = 0, said_dscps = 0;
    std::uint8_t pcps = 0;
    bool by_pcp = false;
    for (const Item* section : found->second) {
        used_.insert(section);
        cli_.account().taken_alone(*section, "dscp_to_tc and pcp_to_tc of the ports that go by it");
        for (const auto& member : section->members) {
            StatementWords words(member->word);
            if (words.take("description")) {
                cli_.account().nothing(*member, "a name");
                continue;
            }
            if (parse_integer(words.peek())) words.next();  // a sequence number
            if (!words.take("class")) continue;
            if (words.take("type")) words.next();
            const std::string_view name = words.next();
            const PacketClass* packets = class_of(name);
            if (packets == nullptr) {
                cli_.account().left_out(*member, fmt::format("there is no class-map {}", in_quotes(name)),
                                        "add it, or leave the class out");
                continue;
            }
            cli_.account().taken_alone(*member, fmt::format("class {}", name));
            std::optional<ClassId> tc;
            for (const auto& action : member->members) {
                StatementWords set(action->word);
                if (!set.take("set")) continue;
                if (set.take(rules_.set)) {
                    tc = cli_.out.class_of(*action, set.peek());
                    if (tc) cli_.account().taken(*action, fmt::format("class {}", *tc));
                } else {
                    cli_.account().nothing(*action, "Sluice leaves DSCP and PCP as they are");
                }
            }
            if (!tc && packets->takes_all) continue;
            if (!packets->takes_all) {
                said_dscps |= packets->dscps;
                by_pcp = by_pcp || packets->pcps != 0;
            }
            if (tc) set_classes(*packets, *tc, map, dscps, pcps);
        }
    }
    if (said_dscps != 0)
        trust = Trust::dscp;
    else if (by_pcp)
        trust = Trust::pcp;
    if (said_dscps != 0 && by_pcp)
        cli_.account().assumed(*found->second.front(),
                               "trust = \"dscp\": a packet's PCP counts where it has no DSCP");
    return true;
}

void Classifier::tell_unused() {
    for (const auto& [name, sections] : policies_)
        for (const Item* section : sections)
            if (!used_.contains(section))
                cli_.account().nothing_in(*section, "policy-map", "no port goes by it");
    for (const auto& [name, packets] : classes_)
        for (const Item* section : packets.items)
            if (!used_.contains(section))
                cli_.account().nothing_in(*section, "class-map", "no policy that a port goes by has it");
}

}  // namespace sluice::import
