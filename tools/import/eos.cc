#include "tools/import/eos.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"

namespace sluice::import {
namespace {

constexpr auto rules = std::to_array<StatementRule>({
    {"description"},
    {"switchport", 2},
    {"speed"},
    {"mtu"},
    {"ip address"},
    {"ip address virtual", 1},
    {"ipv6 address", 1},
    {"shutdown"},
    {"vrf"},
    {"channel-group"},
    {"service-profile"},
    {"service-policy type qos input"},
    {"qos trust"},
    {"qos cos"},
    {"qos dscp"},
    {"shape rate"},
    {"priority-flow-control"},
    {"priority-flow-control on", 0, "priority-flow-control"},
    {"priority-flow-control mode", 0, "priority-flow-control"},
    {"priority-flow-control priority", 1},
    {"priority-flow-control pause watchdog"},
    {"priority-flow-control pause watchdog disable"},
    {"priority-flow-control pause watchdog port action"},
    {"priority-flow-control pause watchdog port timer"},
});

// Keys that a bundle gives its members.
constexpr auto inherited = std::to_array<std::string_view>(
    {"service-", "qos ", "shape ", "priority-flow-control", "tx-queue ", "mtu"});

// EOS's defaults: of a routed port, and of one that is switched, which takes long frames in any case.
constexpr std::uint32_t routed_mtu = 1500, switched_mtu = 9214;

void collect_profiles(Eos& in, const std::function<bool(const Item&, Settings&)>& nested) {
    for (const auto& section : in.cli.root.members) {
        StatementWords words(section->word);
        if (!words.take("qos profile")) continue;
        const std::string name(words.peek());
        in.profiles.emplace(name, section.get());
        Settings& into = in.profile_settings[name];
        for (const auto& member : section->members) {
            if (nested(*member, into)) continue;
            if (auto matched = match_statement(*member, rules))
                put_setting(into, "", std::move(*matched), in.cli.replaced);
            else
                in.account().nothing(*member, "Sluice has none of it");
        }
    }
}

void use_profiles(Eos& in) {
    for (auto& [name, interface] : in.cli.ports) {
        const Said* said = find_said(interface.settings, "service-profile");
        if (said == nullptr) continue;
        if (said->negated) {
            in.account().taken(*said->item, "no profile");
            continue;
        }
        const auto found = in.profile_settings.find(said->words);
        if (found == in.profile_settings.end()) {
            in.account().left_out(*said->item,
                                  fmt::format("there is no qos profile {}", in_quotes(said->words)),
                                  "add it, or leave the reference out");
            continue;
        }
        SharedNames& names = in.cli.out.names;
        names.references["service-profile"][name] = found->first;
        for (const auto& [key, own] : interface.settings)
            names.own_keys[name].insert(key.starts_with("tx-queue") ? names.queue_word + key.substr(8) : key);
        put_below(interface.settings, found->second);
        in.account().taken(*said->item, "what the profile has, where the port says nothing else");
        in.account().taken_alone(*in.profiles.at(found->first), "of the ports that go by it");
    }
    for (const auto& [name, section] : in.profiles)
        if (!section->accounted) in.account().nothing_in(*section, "qos profile", "no port goes by it");
}

std::uint32_t mtu_without_a_word(const Settings& settings) {
    const Said* switched = find_said(settings, "switchport");
    const bool is_routed = (switched != nullptr && switched->negated && switched->words.empty()) ||
                           find_said(settings, "ip address") != nullptr;
    return is_routed ? routed_mtu : switched_mtu;
}

// `interface defaults` has an MTU for all.
std::optional<std::uint32_t> default_mtu(Eos& in) {
    std::optional<std::uint32_t> mtu;
    for (const auto& section : in.cli.root.members) {
        if (section->word != "interface defaults") continue;
        for (const auto& member : section->members) {
            StatementWords words(member->word);
            if (!words.take("mtu")) continue;
            const Said said{member.get(), false, words.rest()};
            const auto value = in.cli.number(said, words.peek(), min_mtu, 65'535);
            if (!value) continue;
            mtu = static_cast<std::uint32_t>(std::min<std::uint64_t>(*value, max_mtu));
            in.account().taken(*member, fmt::format("mtu = {} where a port says none", *mtu));
        }
    }
    return mtu;
}

void take_links(Eos& in) {
    const auto mtu_of_all = default_mtu(in);
    std::size_t without_speed = 0, without_mtu = 0;
    for (auto& [name, port] : in.cli.config().ports) {
        const Settings& settings = in.settings_of(name);
        if (find_said(settings, "speed") == nullptr) ++without_speed;
        if (find_said(settings, "mtu") == nullptr && !mtu_of_all) ++without_mtu;
    }
    std::vector<std::string> names;
    for (const auto& [name, port] : in.cli.config().ports) names.push_back(name);
    for (const std::string& name : names) {
        const std::uint32_t usual = mtu_of_all.value_or(mtu_without_a_word(in.settings_of(name)));
        // A switched port takes what comes, and its default compares with nothing.
        PortNotes& notes = in.cli.out.notes[name];
        if (mtu_of_all || usual == routed_mtu)
            notes.said[static_cast<std::size_t>(Aspect::mtu)] = notes.place;
        in.cli.take_link(name, in.cli.config().ports.at(name), usual);
    }
    if (without_speed != 0)
        in.account().assumed("interface.speed",
                             fmt::format("speed = \"100G\" at {}: the file leaves it to the link",
                                         print_count(without_speed, "port")));
    if (without_mtu != 0)
        in.account().assumed("interface.mtu",
                             fmt::format("mtu = {} where a port is routed, {} where it is switched: EOS's "
                                         "defaults, {} {} no other",
                                         routed_mtu, switched_mtu, print_count(without_mtu, "port"),
                                         without_mtu == 1 ? "says" : "say"));
    in.account().assumed("interface.cable", "5 m at each port: EOS does not say it, --cable does");
}

}  // namespace

bool is_switched(const Settings& settings) {
    const Said* bare = find_said(settings, "switchport");
    if (bare != nullptr) return !bare->negated;
    return std::ranges::any_of(settings, [](const auto& each) {
        return each.first.starts_with("switchport") && !each.second.negated;
    });
}

void import_eos(const Item& root, Importing& out) {
    Cli cli{root, out};
    Eos in{cli};
    const auto nested = [&](const Item& section, Settings& into) {
        return take_eos_queue_body(in, section, into);
    };
    cli.collect_interfaces(rules, nested);
    collect_profiles(in, nested);
    cli.inherit_from_bundles(inherited);
    use_profiles(in);
    cli.add_ports();
    take_links(in);
    take_eos_maps(in);
    take_eos_queues(in);
    take_eos_pfc(in);
    take_eos_watchdog(in);
    cli.take_routes();
    tell_replaced(cli.replaced, out.account);
    for (const auto& [name, section] : in.profiles)
        out.account.nothing_in(*section, "qos profile", "every port that goes by it says another");
    cli.tell_rest();
}

}  // namespace sluice::import
