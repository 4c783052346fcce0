#include "tools/import/nxos.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"

namespace sluice::import {
namespace {

constexpr auto nxos_rules = std::to_array<StatementRule>({
    {"description"},
    {"switchport", 2},
    {"speed"},
    {"mtu"},
    {"ip address"},
    {"ipv6 address", 1},
    {"shutdown"},
    {"vrf"},
    {"channel-group"},
    {"service-policy type qos input"},
    {"service-policy input"},
    {"service-policy type queuing input"},
    {"service-policy type queuing output"},
    {"priority-flow-control mode"},
    {"priority-flow-control watch-dog-interval"},
});
constexpr auto system_rules = std::to_array<StatementRule>({
    {"service-policy type qos input"},
    {"service-policy input"},
    {"service-policy type network-qos"},
    {"service-policy type queuing input"},
    {"service-policy type queuing output"},
});

constexpr auto nxos_inherited =
    std::to_array<std::string_view>({"service-policy", "priority-flow-control", "mtu"});

constexpr std::uint32_t nxos_mtu = 1500;

void collect_system(Nxos& in) {
    for (const auto& section : in.cli.root.members) {
        if (section->word != "system qos") continue;
        in.account().taken_alone(*section, "for all ports");
        for (const auto& member : section->members) {
            if (auto matched = match_statement(*member, system_rules))
                put_setting(in.system, "", std::move(*matched), in.cli.replaced);
            else
                in.account().nothing(*member, "Sluice has none of it");
        }
    }
}

// Ports that one is broken out to: Ethernet1/3/1 to Ethernet1/3/4 of "module 1 port 3 map 10g-4x".
struct NxosBreakout {
    const Item* item;
    std::string parent;
    unsigned parts;
    Rate speed;
};

void read_breakout(Nxos& in, const Item& item, StatementWords words, std::vector<NxosBreakout>& out) {
    const Said said{&item, false, words.rest()};
    words.take("module");
    const auto module = in.cli.number(said, words.next(), 1, 64);
    if (!module) return;
    words.take("port");
    const InterfaceList list = interfaces_in("Ethernet" + std::string(words.next()));
    words.take("map");
    // "10g-4x"
    const std::string_view map = words.next();
    const std::size_t dash = map.find('-');
    const auto speed = parse_rate(
        map.substr(0, dash).ends_with('g') ? std::string(map.substr(0, map.find('g'))) + "G" : std::string());
    const std::string_view count = dash == map.npos ? std::string_view() : map.substr(dash + 1);
    const auto parts = parse_integer(count.substr(0, count.find('x')));
    constexpr unsigned most = 8;
    if (!list.wrong.empty() || list.names.empty() || !speed || !speed->valid_port_speed() || !parts ||
        *parts < 1 || *parts > most)
        return in.account().wrong(item, in_quotes(said.words) + " is not a breakout",
                                  "write interface breakout module 1 port 3 map 10g-4x");
    for (const std::string& name : list.names)
        out.push_back({&item, fmt::format("Ethernet{}_{}", *module, name.substr(8)),
                       static_cast<unsigned>(*parts), *speed});
    in.account().taken(item, fmt::format("{} ports of {} each, and the ports that they are of are none",
                                         *parts, print_rate(*speed)));
}

std::vector<NxosBreakout> take_breakouts(Nxos& in) {
    std::vector<NxosBreakout> breakouts;
    for (const auto& section : in.cli.root.members) {
        StatementWords words(section->word);
        if (words.take("interface breakout")) read_breakout(in, *section, words, breakouts);
    }
    for (const NxosBreakout& each : breakouts) {
        if (const auto parent = in.cli.ports.find(each.parent); parent != in.cli.ports.end()) {
            in.account().nothing_in(*parent->second.item, "interface", "of a port that is broken out");
            in.cli.ports.erase(parent);
        }
        for (unsigned n = 1; n <= each.parts; ++n) {
            CliInterface& part = in.cli.ports[fmt::format("{}_{}", each.parent, n)];
            if (part.item == nullptr) part.item = each.item;
        }
    }
    return breakouts;
}

// A port of which one is a part, as Ethernet1/3/2 is of Ethernet1/3, has the speed of Ethernet1/3/1.
bool take_speed_of_first(Nxos& in, const std::string& name) {
    auto& ports = in.cli.config().ports;
    const auto port = ports.find(name);
    if (port == ports.end() || std::ranges::count(name, '_') != 2 ||
        find_said(in.settings_of(name), "speed") != nullptr)
        return false;
    const std::string first_name = name.substr(0, name.rfind('_')) + "_1";
    const auto first = ports.find(first_name);
    if (first == ports.end() || first_name == name ||
        find_said(in.settings_of(first_name), "speed") == nullptr)
        return false;
    port->second.speed = first->second.speed;
    return true;
}

void take_nxos_links(Nxos& in, const std::vector<NxosBreakout>& breakouts) {
    for (const NxosBreakout& each : breakouts)
        for (unsigned n = 1; n <= each.parts; ++n) {
            const auto port = in.cli.config().ports.find(fmt::format("{}_{}", each.parent, n));
            if (port != in.cli.config().ports.end()) port->second.speed = each.speed;
        }
    std::vector<std::string> names;
    std::size_t without_speed = 0, without_mtu = 0;
    for (const auto& [name, port] : in.cli.config().ports) {
        names.push_back(name);
        const bool is_part = std::ranges::any_of(
            breakouts, [&](const NxosBreakout& each) { return name.starts_with(each.parent + "_"); });
        if (find_said(in.settings_of(name), "speed") == nullptr && !is_part) ++without_speed;
        if (find_said(in.settings_of(name), "mtu") == nullptr) ++without_mtu;
    }
    const std::uint32_t mtu = in.class_mtu.value_or(nxos_mtu);
    for (const std::string& name : names) {
        PortNotes& notes = in.cli.out.notes[name];
        notes.said[static_cast<std::size_t>(Aspect::mtu)] = notes.place;  // NX-OS's default holds
        in.cli.take_link(name, in.cli.config().ports.at(name), mtu);
    }
    std::size_t of_first = 0;
    for (const std::string& name : names) of_first += take_speed_of_first(in, name) ? 1 : 0;
    without_speed -= of_first;
    if (of_first != 0)
        in.account().assumed("interface.speed",
                             fmt::format("that of its first part at {} that one was broken out to",
                                         print_count(of_first, "port")));
    if (without_speed != 0)
        in.account().assumed("interface.speed",
                             fmt::format("speed = \"100G\" at {}: the file leaves it to the link",
                                         print_count(without_speed, "port")));
    if (without_mtu != 0)
        in.account().assumed(
            "interface.mtu",
            fmt::format("{} at {}: {}", mtu, print_count(without_mtu, "port"),
                        in.class_mtu ? "the largest of the network-qos policy" : "NX-OS's default"));
    in.account().assumed("interface.cable", "5 m at each port: NX-OS does not say it, --cable does");
}

// The number at the end of a class of the system's own: 3 of "c-8q-nq3", "c-out-8q-q3", "c-in-q3".
std::optional<ClassId> system_number(std::string_view name) {
    if (name == "class-default") return ClassId{0};
    if (!name.starts_with("c-")) return std::nullopt;
    if (name.ends_with("-default")) return ClassId{0};
    const std::size_t digit = name.find_last_not_of("0123456789") + 1;
    const auto number = parse_integer(name.substr(digit));
    if (digit == 0 || name[digit - 1] != 'q' || !number || *number >= classes) return std::nullopt;
    return static_cast<ClassId>(*number);
}

}  // namespace

const Said* Nxos::policy(const std::string& port, std::string_view key) const {
    const Said* own = find_said(settings_of(port), key);
    return own != nullptr ? own : find_said(system, key);
}

NxosPolicies::NxosPolicies(Nxos& in, std::string_view type) : in_(in), type_(type) {
    for (const auto& section : in.cli.root.members) {
        StatementWords words(section->word);
        const bool is_policy = words.take("policy-map");
        if (!is_policy && !words.take("class-map")) continue;
        if (!words.take("type") || words.next() != type_) continue;
        if (words.peek() == "match-any" || words.peek() == "match-all") words.next();
        in.cli.out.names.taken.insert(std::string(words.peek()));
        (is_policy ? policies_ : class_maps_)[std::string(words.peek())].push_back(section.get());
    }
}

std::optional<ClassId> NxosPolicies::number_of(const Item& section, std::string_view name) {
    if (const auto own = system_number(name)) return own;
    const auto found = class_maps_.find(name);
    if (found == class_maps_.end()) return std::nullopt;
    std::optional<ClassId> number;
    for (const Item* each : found->second) {
        if (used_.insert(each).second)
            in_.account().taken_alone(*each, fmt::format("a class of type {}", type_));
        for (const auto& member : each->members) {
            StatementWords words(member->word);
            if (words.take("match qos-group") || words.take("match cos")) {
                if (const auto group = in_.cli.out.class_of(*member, words.peek())) {
                    number = number.value_or(*group);
                    in_.account().taken(*member, fmt::format("class {}", *group));
                }
            } else if (words.take("description")) {
                in_.account().nothing(*member, "a name");
            } else {
                in_.account().nothing(*member, "Sluice's classes are qos-groups here");
            }
        }
    }
    if (!number)
        in_.account().wrong(section, fmt::format("class-map {} matches no qos-group", in_quotes(name)),
                            "write match qos-group 3 there");
    return number;
}

bool NxosPolicies::each_class(const Said& reference,
                              const std::function<void(const Item& section, ClassId number)>& take) {
    const std::string_view name = reference.arguments().peek();
    const auto found = policies_.find(name);
    if (found == policies_.end()) {
        const bool is_own = name.starts_with("default-");
        const std::string why = fmt::format("there is no policy-map of type {} {}", type_, in_quotes(name));
        if (is_own)
            in_.account().assumed(*reference.item, "the system's own policy: no more is known of it");
        else
            in_.account().left_out(*reference.item, why, "add it, or leave the reference out");
        return false;
    }
    for (const Item* policy : found->second) {
        if (used_.insert(policy).second)
            in_.account().taken_alone(*policy, fmt::format("a policy of type {}", type_));
        for (const auto& member : policy->members) {
            StatementWords words(member->word);
            if (words.take("description")) {
                in_.account().nothing(*member, "a name");
                continue;
            }
            if (!words.take("class")) continue;
            if (words.take("type")) words.next();
            std::optional<ClassId> number = number_of(*member, words.peek());
            if (!number && !class_maps_.contains(words.peek())) {
                // The class-map is missing: PFC says which it means.
                for (const auto& action : member->members) {
                    StatementWords pause(action->word);
                    if (!pause.take("pause pfc-cos")) continue;
                    const auto cos = parse_integer(pause.peek());
                    if (!cos || *cos >= classes) continue;
                    number = static_cast<ClassId>(*cos);
                    in_.account().assumed_alone(
                        *member, fmt::format("class {}, by its pfc-cos: there is no class-map {}", *cos,
                                             in_quotes(words.peek())));
                }
                if (!number)
                    in_.account().left_out(
                        *member,
                        fmt::format("there is no class-map of type {} {}", type_, in_quotes(words.peek())),
                        "add it, or leave the class out");
            }
            if (!number) continue;
            in_.account().taken_alone(*member, fmt::format("class {}", *number));
            in_.cli.out.names.class_names[std::string(name)][*number] = words.peek();
            take(*member, *number);
        }
    }
    return true;
}

std::string NxosPolicies::only_one() const {
    return policies_.size() == 1 ? policies_.begin()->first : std::string();
}

void NxosPolicies::tell_unused() {
    for (const auto& [name, sections] : policies_)
        for (const Item* section : sections)
            if (!used_.contains(section))
                in_.account().nothing_in(*section, "policy-map", "no port goes by it");
    for (const auto& [name, sections] : class_maps_)
        for (const Item* section : sections)
            if (!used_.contains(section))
                in_.account().nothing_in(*section, "class-map", "no policy that a port goes by has it");
}

void import_nxos(const Item& root, Importing& out) {
    Cli cli{root, out};
    Nxos in{cli};
    cli.collect_interfaces(nxos_rules, {});
    collect_system(in);
    cli.inherit_from_bundles(nxos_inherited);
    const auto breakouts = take_breakouts(in);
    cli.add_ports();
    take_nxos_network(in);
    take_nxos_links(in, breakouts);
    take_nxos_maps(in);
    take_nxos_queues(in);
    take_nxos_pfc(in);
    cli.take_routes();
    for (const auto& [key, said] : in.system) {
        if (said.negated)
            out.account.taken(*said.item, "NX-OS's default");
        else
            out.account.nothing_in(*said.item, "system qos", "no port goes by it");
    }
    cli.tell_rest();
}

}  // namespace sluice::import
