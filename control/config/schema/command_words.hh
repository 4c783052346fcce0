// Operators' commands in words, from timed events and the socket: parsed and checked without a running
// switch, on which `commands` then executes them.
//
//   port NAME up|down
//   queue PORT.N hold|release
//   route add|replace PREFIX via ADDRESS [weight N] [via ...]
//   route add|replace PREFIX blackhole
//   route delete PREFIX
//   fault PORT KEY VALUE
//   fault PORT clear
//   watchdog start|stop PORT
//   watchdog big-red-switch on|off
//   decisions on [port P] [egress P] [class N] [verdict V] [KEY VALUE]..., decisions off (decision_filter.hh)
//   wire add WIRE RULE do ACTION [KEY VALUE]..., wire remove WIRE RULE
//   set KEY VALUE, set KEY=VALUE                            (as config.set of the socket)
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

struct PortCommand {
    std::string port;
    bool up;
};

struct QueueCommand {
    std::string port;
    ClassId queue;
    bool hold;
};

enum class RouteVerb { add, replace, remove };
struct RouteCommand {
    RouteVerb verb;
    RouteConfig route;
};

struct FaultCommand {
    std::string port;
    std::string key;  // empty: clear
    std::string value;
};

struct WatchdogCommand {
    std::string port;  // empty: the big red switch
    bool on;
};

struct WireCommand {
    std::string wire, rule;
    // Keys of [wire.WIRE.impair.RULE] and their values; empty: the rule is removed.
    std::vector<std::pair<std::string, std::string>> keys;
};

struct SetCommand {
    std::string path;
    std::string value;
};

struct DecisionsCommand {
    DecisionsConfig wanted;
    std::string text;
};

using Command = std::variant<PortCommand, QueueCommand, RouteCommand, FaultCommand, WatchdogCommand,
                             SetCommand, DecisionsCommand, WireCommand>;
// `config` after the command, or why the command is refused.
tl::expected<Config, std::string> with_wire_command(const Config& config, const WireCommand& command);
tl::expected<Command, std::string> parse_command(std::string_view text);
// The reason why the configuration does not allow it, or empty.
std::string check_command(const Config& config, const Command& command);
std::string check_command(const Config& config, std::string_view text);

// Parses the next hops of a route, for commands, events and sluicectl: any number of `via ADDRESS [dev PORT]
// [weight N]`, and `balance MODE`, or `blackhole` (no hops). An error's text names the wrong word.
std::string parse_next_hops(std::span<const std::string> words, RouteConfig& route);

}  // namespace sluice
