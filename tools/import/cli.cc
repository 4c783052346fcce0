#include "tools/import/cli.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/compile/wred_profiles.hh"
#include "control/config/schema/schema_types.hh"
#include "control/config/schema/values.hh"

namespace sluice::import {
namespace {

constexpr std::string_view digits = "0123456789";

// Appends the interfaces of "1/1-4" or "1/1-1/4", behind `stem`; what is wrong with it, or empty.
std::string add_interfaces(std::string_view stem, std::string_view part, std::vector<std::string>& names) {
    constexpr std::size_t longest = 24;
    constexpr std::uint64_t highest = 9999;  // of port-channels
    const std::size_t dash = part.find('-');
    const std::string_view first = trimmed(part.substr(0, dash));
    std::string_view last = dash == part.npos ? std::string_view() : trimmed(part.substr(dash + 1));
    if (first.empty() || first.size() > longest || first.find_first_not_of("0123456789/") != first.npos)
        return in_quotes(part) + " is not an interface";
    const std::size_t number_at = first.find_last_not_of(digits) + 1;
    const std::string_view before = first.substr(0, number_at);
    if (last.starts_with(before)) last.remove_prefix(before.size());
    const auto low = parse_integer(first.substr(number_at));
    const auto high = dash == part.npos ? low : parse_integer(last);
    if (!low || !high || *high < *low || *high > highest)
        return in_quotes(part) + " is not a range of interfaces";
    for (std::uint64_t n = *low; n <= *high && names.size() <= 2 * std::size_t{max_ports}; ++n) {
        std::string name = fmt::format("{}{}{}", stem, before, n);
        std::ranges::replace(name, '/', '_');
        names.push_back(std::move(name));
    }
    return {};
}

// What a summary calls a line of an interface that is none of Sluice's business.
std::string section_of(std::string_view statement) {
    StatementWords words(statement);
    if (!words.take("no")) words.take("default");
    std::string name(words.next());
    words.take("type");
    constexpr std::array two{"ip", "ipv6", "router", "management", "policy-map", "class-map", "interface"};
    if (std::ranges::find(two, name) != two.end() && !words.empty())
        append_item(
            name, " ",
            name == "interface" ? words.peek().substr(0, words.peek().find_first_of(digits)) : words.peek());
    return name;
}

}  // namespace

std::string interface_of_port(std::string_view port) {
    std::string name(port);
    std::ranges::replace(name, '_', '/');
    return name;
}

InterfaceList interfaces_in(std::string_view words) {
    InterfaceList out;
    std::string_view stem;
    bool is_first = true;
    for (std::string_view part : split(words, ',')) {
        const std::size_t letters = std::min(part.find_first_of(digits), part.size());
        const std::string name = lower(trimmed(part.substr(0, letters)));
        if (!name.empty() || is_first) {
            const bool is_port = name == "ethernet" || name == "eth" || name == "et";
            const bool is_bundle = name == "port-channel" || name == "po";
            const auto kind = is_port     ? InterfaceList::Kind::port
                              : is_bundle ? InterfaceList::Kind::bundle
                                          : InterfaceList::Kind::other;
            if (!is_first && kind != out.kind)
                return {InterfaceList::Kind::other, {}, "names interfaces of several kinds"};
            out.kind = kind;
            stem = is_port ? "Ethernet" : "port-channel";
        }
        is_first = false;
        part = trimmed(part.substr(letters));
        if (out.kind == InterfaceList::Kind::other || part.find('.') != part.npos)
            return {InterfaceList::Kind::other, {}, {}};
        out.wrong = add_interfaces(stem, part, out.names);
        if (!out.wrong.empty()) return out;
    }
    return out;
}

bool is_interface_name(std::string_view port) {
    const InterfaceList list = interfaces_in(interface_of_port(port));
    return list.kind == InterfaceList::Kind::port && list.names == std::vector{std::string(port)};
}

void Cli::collect_body(const Item& section, std::span<const StatementRule> rules, Settings& into,
                       const std::function<bool(const Item&, Settings&)>& nested) {
    for (const auto& member : section.members) {
        if (nested && nested(*member, into)) continue;
        if (auto matched = match_statement(*member, rules)) {
            // It stands beside the first one.
            if (matched->said.words.find(" secondary") != std::string_view::npos)
                matched->key += " " + std::string(matched->said.arguments().peek());
            put_setting(into, "", std::move(*matched), replaced);
        } else
            account().nothing_in(*member, "interface: " + section_of(member->word),
                                 "Sluice's ports have none of it");
    }
}

void Cli::collect_interfaces(std::span<const StatementRule> rules,
                             const std::function<bool(const Item&, Settings&)>& nested) {
    for (const auto& section : root.members) {
        StatementWords words(section->word);
        if (!words.take("interface")) continue;
        const InterfaceList list = interfaces_in(words.rest());
        if (!list.wrong.empty()) {
            account().wrong(*section, list.wrong, "write interface Ethernet1/1, or Ethernet1/1-4,7");
            continue;
        }
        if (list.kind == InterfaceList::Kind::other) continue;
        auto& known = list.kind == InterfaceList::Kind::port ? ports : bundles;
        for (const std::string& name : list.names) {
            CliInterface& interface = known[name];
            if (interface.item == nullptr) interface.item = section.get();
            collect_body(*section, rules, interface.settings, nested);
        }
        if (list.kind == InterfaceList::Kind::bundle)
            account().taken_alone(*section, "for its members: Sluice has no bundles of links");
    }
}

void Cli::inherit_from_bundles(std::span<const std::string_view> keys) {
    for (auto& [name, port] : ports) {
        const Said* group = find_said(port.settings, "channel-group");
        if (group == nullptr || group->negated) continue;
        const std::string bundle = "port-channel" + std::string(group->arguments().peek());
        account().taken(*group->item, "a member of " + bundle + ": a port of its own to Sluice");
        const auto found = bundles.find(bundle);
        if (found == bundles.end()) continue;
        for (const auto& [key, said] : found->second.settings)
            if (std::ranges::any_of(keys, [&](std::string_view start) { return key.starts_with(start); }) &&
                port.settings.emplace(key, said).second)
                account().assumed(*said.item, "for the members of " + bundle);
    }
}

void Cli::add_ports() {
    for (auto at = ports.begin(); at != ports.end();) {
        const auto& [name, interface] = *at;
        const bool is_name = out.check_name(*interface.item, name);
        if (is_name && out.add_port(*interface.item, name) != nullptr) {
            ++at;
            continue;
        }
        account().nothing_in(*interface.item, "interface", "of a port that is left out");
        at = ports.erase(at);
    }
    for (const auto& [name, interface] : ports)
        account().taken_alone(*interface.item, fmt::format("port {}", name));
    for (const auto& section : root.members)
        if (starts_with_words(section->word, "interface") && !section->accounted &&
            interfaces_in(std::string_view(section->word).substr(9)).kind == InterfaceList::Kind::port)
            account().taken_alone(*section, "more of ports that are there");
}

std::optional<std::uint64_t> Cli::number(const Said& said, std::string_view word, std::uint64_t low,
                                         std::uint64_t high) const {
    const auto value = parse_integer(word);
    if (value && *value >= low && *value <= high) return *value;
    wrong(said, fmt::format("{} is not a number from {} to {}", in_quotes(word), low, high));
    return std::nullopt;
}

Duration Cli::watchdog_time(const Said& said, Duration time, Duration low, Duration high,
                            std::string_view key) const {
    const Duration taken = std::clamp(time, low, high);
    const std::string what = fmt::format("{} = \"{}\"", key, print_time(taken));
    if (taken == time)
        account().taken(*said.item, what);
    else
        account().assumed(*said.item,
                          fmt::format("{}: Sluice has {} to {}", what, print_time(low), print_time(high)));
    return taken;
}

std::optional<std::uint64_t> Cli::threshold(const Said& said, std::string_view number, std::string_view unit,
                                            const PortConfig& port) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    const auto count = parse_integer(number);
    if (!count || *count > most) {
        wrong(said, fmt::format("{} is not a threshold from 0 to {}", in_quotes(number), most));
        return std::nullopt;
    }
    constexpr std::uint64_t kilo = 1000, bits_per_byte = 8;
    const auto bytes = [&](std::uint64_t factor) -> std::optional<std::uint64_t> {
        if (*count <= most / factor) return *count * factor;
        wrong(said, fmt::format("{} {} is more than {} bytes", number, unit, most));
        return std::nullopt;
    };
    if (unit == "bytes" || unit == "byte") return *count;
    if (unit == "kbytes" || unit == "kilobytes" || unit == "kb") return bytes(kilo);
    if (unit == "mbytes" || unit == "megabytes" || unit == "mb") return bytes(kilo * kilo);
    if (unit == "segments" || unit == "cells") {
        if (out.wishes.segment_bytes) return bytes(*out.wishes.segment_bytes);
        account().nothing(*said.item,
                          fmt::format("{} are the chip's own: --segment BYTES says how large one is", unit));
        return std::nullopt;
    }
    const std::uint64_t per_second = unit == "milliseconds" || unit == "ms"   ? kilo
                                     : unit == "microseconds" || unit == "us" ? kilo * kilo
                                                                              : 0;
    if (per_second != 0) {
        const auto at_speed = bytes(port.speed.bits_per_second / bits_per_byte / per_second);
        if (at_speed)
            account().assumed(*said.item, fmt::format("{} {} are {} bytes at {}", number, unit, *at_speed,
                                                      print_rate(port.speed)));
        return at_speed;
    }
    wrong(said, in_quotes(unit) + " is none of bytes, kbytes, mbytes, segments, milliseconds, microseconds");
    return std::nullopt;
}

std::optional<Rate> Cli::rate(const Said& said, StatementWords words, const PortConfig& port) const {
    const std::string_view first = words.next();
    std::string_view unit = words.next();
    std::string_view figure = first;
    if (first == "percent") std::swap(figure, unit);
    constexpr std::uint64_t most = 1'000'000'000;
    const auto value = number(said, figure, 0, most);
    if (!value) return std::nullopt;
    constexpr std::uint64_t kilo = 1000;
    if (unit == "percent") {
        if (*value <= 100) return Rate{port.speed.bits_per_second / 100 * *value};
        return wrong(said, in_quotes(figure) + " is not a number from 0 to 100"), std::nullopt;
    }
    if (unit == "bps") return Rate{*value};
    if (unit == "kbps" || unit.empty()) return Rate{*value * kilo};
    if (unit == "mbps") return Rate{*value * kilo * kilo};
    if (unit == "gbps" && *value <= kilo) return Rate{*value * kilo * kilo * kilo};
    if (unit == "pps")
        return account().nothing(*said.item, "Sluice's rates are in bits a second"), std::nullopt;
    return wrong(said, in_quotes(unit) + " is none of percent, kbps, mbps, gbps"), std::nullopt;
}

std::string Cli::wred_name(const Item& item, const WredConfig& profile, const PortConfig& port) const {
    for (const auto& [name, known] : config().wred)
        if (known == profile) return name;
    const WredCurveConfig& curve = profile.green.min_bytes ? profile.green : profile.ect;
    const std::string wanted =
        fmt::format("{}-{}-{}", profile.ecn ? "ecn" : "drop", print_size(curve.min_bytes.value_or(0)),
                    print_size(curve.max_bytes.value_or(0)))
            .substr(0, 28);
    std::string name = wanted;
    for (unsigned n = 2; config().wred.contains(name); ++n) name = fmt::format("{}-{}", wanted, n);
    config().wred[name] = profile;
    const auto made = wred_profile(config(), name, port.speed, port.mtu);
    if (made) return name;
    config().wred.erase(name);
    account().left_out(item, made.error().wrong + ": the queue marks and drops nothing",
                       "write a minimum-threshold that is at most its maximum-threshold");
    return {};
}

std::string Cli::map_name(const MapConfig& map, std::string wanted) const {
    for (const auto& [name, known] : config().maps)
        if (name != "default" && known == map) return name;
    constexpr std::size_t most = 28;
    for (char& c : wanted)
        if (!schema::valid_name({&c, 1})) c = '_';
    wanted = wanted.substr(0, most);
    std::string name = wanted;
    for (unsigned n = 2; config().maps.contains(name); ++n) name = fmt::format("{}-{}", wanted, n);
    config().maps[name] = map;
    return name;
}

void Cli::tell_rest() {
    tell_replaced(replaced, account());
    for (const auto& [name, port] : ports)
        for (const auto& [key, said] : port.settings) {
            if (out.ports_left_out.contains(name))
                account().nothing_in(*said.item, "interface", "of a port that is left out");
            else if (said.negated)
                account().taken(*said.item, "the default");
        }
    for (const auto& [name, bundle] : bundles)
        for (const auto& [key, said] : bundle.settings)
            account().nothing_in(*said.item, "interface: " + section_of(said.item->word),
                                 "of a bundle: its members say it themselves, or there are none");
    for (const auto& section : root.members) {
        if (section->accounted) continue;
        account().nothing_in(*section, section_of(section->word), "neither QoS, nor a port, nor a route");
    }
}

}  // namespace sluice::import
