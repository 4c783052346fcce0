#include "control/config/schema/command_words.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"

namespace sluice {
namespace {

using ParsedCommand = tl::expected<Command, std::string>;

std::set<std::string_view> keys_of(std::string_view section) {
    std::set<std::string_view> keys;
    for (const KeyInfo& key : schema_keys())
        if (key.section == section) keys.insert(key.name);
    return keys;
}

ParsedCommand parse_port(const Words& words) {
    if (words.size() != 3 || (words[2] != "up" && words[2] != "down"))
        return tl::unexpected<std::string>("wanted: port NAME up|down");
    return PortCommand{words[1], words[2] == "up"};
}

ParsedCommand parse_queue(const Words& words) {
    static const std::string wanted = "wanted: queue PORT.N hold|release, N from 0 to 7";
    if (words.size() != 3 || (words[2] != "hold" && words[2] != "release")) return tl::unexpected(wanted);
    const auto dot = words[1].rfind('.');
    if (dot == std::string::npos) return tl::unexpected(wanted);
    const auto queue = parse_integer(words[1].substr(dot + 1));
    if (!queue || *queue >= classes) return tl::unexpected(wanted);
    return QueueCommand{words[1].substr(0, dot), static_cast<ClassId>(*queue), words[2] == "hold"};
}

ParsedCommand parse_route(const Words& words) {
    static const std::string wanted =
        "wanted: route add|replace PREFIX via ADDRESS [dev PORT] [weight N]... [balance MODE], route "
        "add|replace PREFIX blackhole, or route delete PREFIX";
    if (words.size() < 3) return tl::unexpected(wanted);
    RouteCommand command{};
    constexpr std::array<std::string_view, 3> verbs{"add", "replace", "delete"};  // as RouteVerb has them
    const auto* const verb = std::ranges::find(verbs, words[1]);
    if (verb == verbs.end()) return tl::unexpected(wanted);
    command.verb = static_cast<RouteVerb>(verb - verbs.begin());
    const auto prefix = parse_network(words[2]);
    if (!prefix) return tl::unexpected(in_quotes(words[2]) + " " + prefix.error().wrong);
    command.route.prefix = *prefix;
    const bool removes = command.verb == RouteVerb::remove;
    if (removes && words.size() > 3)
        return tl::unexpected<std::string>("a delete names no next hop; " + wanted);
    if (!removes && words.size() == 3)
        return tl::unexpected("route " + in_quotes(words[2]) + " has no next hop; " + wanted);
    if (removes) return command;
    // A route without next hops is a blackhole; the word is required.
    const std::string wrong = parse_next_hops(std::span(words).subspan(3), command.route);
    if (!wrong.empty()) return tl::unexpected(wrong + "; " + wanted);
    std::sort(command.route.via.begin(), command.route.via.end());
    return command;
}

ParsedCommand parse_fault(const Words& words) {
    if (words.size() == 3 && words[2] == "clear") return FaultCommand{words[1], {}, {}};
    if (words.size() < 4)
        return tl::unexpected<std::string>("wanted: fault PORT KEY VALUE, or fault PORT clear");
    FaultCommand command{words[1], words[2], joined(std::span(words).subspan(3), " ")};
    FaultSettings tried;
    std::string error = set_fault(tried, command.key, command.value);
    if (!error.empty()) return tl::unexpected(std::move(error));
    return command;
}

ParsedCommand parse_watchdog(const Words& words) {
    if (words.size() == 3 && (words[1] == "start" || words[1] == "stop"))
        return WatchdogCommand{words[2], words[1] == "start"};
    if (words.size() == 3 && words[1] == "big-red-switch" && (words[2] == "on" || words[2] == "off"))
        return WatchdogCommand{{}, words[2] == "on"};
    return tl::unexpected<std::string>("wanted: watchdog start|stop PORT, or watchdog big-red-switch on|off");
}

// The value is the rest of the line: it may be a list.
ParsedCommand parse_set(std::string_view text) {
    constexpr std::string_view space = " \t";
    const auto trimmed = [&](std::string_view part) {
        const auto first = part.find_first_not_of(space);
        if (first == std::string_view::npos) return std::string_view();
        return part.substr(first, part.find_last_not_of(space) - first + 1);
    };
    const std::string_view rest = trimmed(trimmed(text).substr(3));
    const auto end = std::min(rest.find_first_of(" \t="), rest.size());
    std::string_view value = trimmed(rest.substr(end));
    if (value.starts_with('=')) value = trimmed(value.substr(1));
    if (end == 0 || value.empty())
        return tl::unexpected<std::string>("wanted: set KEY VALUE, or set KEY=VALUE");
    return SetCommand{std::string(rest.substr(0, end)), std::string(value)};
}

ParsedCommand parse_decisions_command(const Words& words) {
    auto wanted = parse_decisions(std::span(words).subspan(1));
    if (!wanted) return tl::unexpected(std::move(wanted.error()));
    return DecisionsCommand{std::move(*wanted), joined(std::span(words).subspan(1), " ")};
}

// Keys of `match` may be mixed with those of the rule.
ParsedCommand parse_wire(const Words& words) {
    static const std::string wanted =
        "wanted: wire add WIRE RULE do ACTION [KEY VALUE]..., or wire remove WIRE RULE";
    const bool removes = words.size() == 4 && words[1] == "remove";
    const bool adds = words.size() > 4 && words.size() % 2 == 0 && words[1] == "add";
    if (!removes && !adds) return tl::unexpected(wanted);
    WireCommand command{words[2], words[3], {}};
    static const std::set<std::string_view> of_match = keys_of("wire.NAME.impair.NAME.match");
    static const std::set<std::string_view> of_rule = keys_of("wire.NAME.impair.NAME");
    for (std::size_t i = 4; i < words.size(); i += 2) {
        const bool match = of_match.contains(words[i]);
        if (!match && !of_rule.contains(words[i])) {
            std::string known;
            for (const auto* keys : {&of_rule, &of_match})
                for (const std::string_view key : *keys) append_item(known, ", ", key);
            return tl::unexpected(in_quotes(words[i]) + " is not a key of a rule; known: " + known);
        }
        command.keys.emplace_back(match ? "match." + words[i] : words[i], words[i + 1]);
    }
    return command;
}

std::string check(const Config&, const PortCommand&) { return {}; }

std::string check(const Config&, const QueueCommand&) { return {}; }

std::string check(const Config& config, const FaultCommand&) {
    return config.clock == ClockKind::real_time ? "faults are injected under the virtual clock only" : "";
}

std::string check(const Config& config, const WatchdogCommand& command) {
    if (!command.port.empty() || !command.on) return {};
    const bool any = config.ports.empty()
                         ? cuts(config.watchdog.action)
                         : std::any_of(config.ports.begin(), config.ports.end(), [&](const auto& port) {
                               return cuts(watchdog_of(config.watchdog, port.second).action);
                           });
    return any ? "" : "watchdog.action cuts nothing; do: write action = \"drop\" or \"forward\"";
}

std::string text_of(const ConfigError& error) {
    std::string text = error.path.empty() ? error.wrong : error.path + ": " + error.wrong;
    if (!error.allowed.empty()) text += "; allowed: " + error.allowed;
    if (!error.remedy.empty()) text += "; do: " + error.remedy;
    return text;
}

// Finds reasons to refuse a change before it is applied.
std::string check(const Config& config, const SetCommand& command) {
    const auto changed = with_value(config, command.path, command.value);
    if (!changed) return text_of(changed.error());
    for (const ConfigChange& change : config_changes(config, *changed))
        if (change.restart) return change.path + " cannot change while the switch runs";
    return {};
}

std::string check(const Config& config, const WireCommand& command) {
    // An earlier event may add or remove the rule.
    Config then = config;
    if (const auto wire = then.wires.find(command.wire); wire != then.wires.end()) {
        wire->second.impair.erase(command.rule);
        if (command.keys.empty()) return {};
    }
    const auto changed = with_wire_command(then, command);
    return changed ? std::string{} : changed.error();
}

std::string check(const Config& config, const DecisionsCommand& command) {
    return check_decisions(config, command.wanted);
}

std::string check(const Config& config, const RouteCommand& command) {
    for (const NextHopConfig& hop : command.route.via) {
        if (!has_neighbor(*config.neighbors, hop))
            return "next hop " + print_next_hop(hop.address, hop.port) + " has no [[neighbor]]";
    }
    return {};
}

}  // namespace

tl::expected<Config, std::string> with_wire_command(const Config& config, const WireCommand& command) {
    const auto wire = config.wires.find(command.wire);
    if (wire == config.wires.end()) return tl::unexpected("no wire " + in_quotes(command.wire));
    const bool is_there = wire->second.impair.contains(command.rule);
    const std::string path = fmt::format("wire.{}.impair.{}", command.wire, command.rule);
    if (command.keys.empty() && !is_there)
        return tl::unexpected(fmt::format("wire {} has no rule {}", command.wire, in_quotes(command.rule)));
    if (!command.keys.empty() && is_there)
        return tl::unexpected(fmt::format("wire {} has a rule {}; do: remove it, or set {}.KEY", command.wire,
                                          in_quotes(command.rule), path));
    std::vector<ValueChange> changes;
    if (command.keys.empty()) changes.push_back({path, std::nullopt});
    for (const auto& [key, value] : command.keys) changes.push_back({path + "." + key, value});
    auto changed = with_values(config, changes);
    if (!changed) return tl::unexpected(text_of(changed.error()));
    return std::move(*changed);
}

std::string parse_next_hops(std::span<const std::string> words, RouteConfig& route) {
    NextHops& hops = route.via;
    if (words.size() == 1 && words[0] == "blackhole") return {};
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const std::string& word = words[i];
        if (word == "blackhole") return "a blackhole has no next hop";
        if (word != "via" && word != "dev" && word != "weight" && word != "balance")
            return in_quotes(word) + " is not a word of a next hop";
        if (i + 1 == words.size()) return word + " wants a value";
        const std::string& value = words[i + 1];
        if (word == "via") {
            const auto address = parse_address(value);
            if (!address) return "via " + in_quotes(value) + " " + address.error().wrong;
            hops.push_back({*address});
            continue;
        }
        if (word == "balance") {
            const auto mode = parse_load_balance(value);
            if (!mode)
                return fmt::format("balance {} {}; {}", in_quotes(value), mode.error().wrong,
                                   mode.error().remedy);
            route.load_balance = *mode;
            continue;
        }
        if (hops.empty()) return word + " comes behind its via";
        if (word == "dev") {
            hops.back().port = value;
            continue;
        }
        const auto weight = parse_integer(value);
        if (!weight || *weight < min_hop_weight || *weight > max_hop_weight)
            return fmt::format("weight {}: allowed: {} to {}", in_quotes(value), min_hop_weight,
                               max_hop_weight);
        hops.back().weight = static_cast<std::uint32_t>(*weight);
    }
    if (hops.empty()) return "no next hop; say: via ADDRESS, or blackhole";
    return {};
}

tl::expected<Command, std::string> parse_command(std::string_view text) {
    const Words words = split_words(text);
    const std::string verb = words.empty() ? "" : words[0];
    if (verb == "port") return parse_port(words);
    if (verb == "queue") return parse_queue(words);
    if (verb == "route") return parse_route(words);
    if (verb == "fault") return parse_fault(words);
    if (verb == "watchdog") return parse_watchdog(words);
    if (verb == "wire") return parse_wire(words);
    if (verb == "set") return parse_set(text);
    if (verb == "decisions") return parse_decisions_command(words);
    return tl::unexpected("unknown command " + in_quotes(text) +
                          "; known: port, queue, route, fault, watchdog, wire, set, decisions");
}

std::string check_command(const Config& config, const Command& command) {
    return std::visit(
        [&](const auto& known) {
            if constexpr (requires { known.port; })
                if (!known.port.empty() && !config.ports.contains(known.port))
                    return "no port " + in_quotes(known.port);
            return check(config, known);
        },
        command);
}

std::string check_command(const Config& config, std::string_view text) {
    const ParsedCommand command = parse_command(text);
    return command ? check_command(config, *command) : command.error();
}

}  // namespace sluice
