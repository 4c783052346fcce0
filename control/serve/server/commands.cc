#include "control/config/schema/command_words.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/serve/server/api.hh"

namespace sluice {
namespace {

std::string run(Api& api, const PortCommand& command) {
    return api.running().set_port(command.port, command.up);
}

std::string run(Api& api, const QueueCommand& command) {
    return api.running().hold_queue(command.port, command.queue, command.hold);
}

std::string run(Api& api, const DecisionsCommand& command) {
    return api.running().set_decisions(command.wanted, command.text);
}

std::string apply(Api& api, Config changed) {
    const auto done = api.changes().apply(std::move(changed), {.force = api.options().force});
    if (done) return {};
    return done.error().message + (done.error().remedy ? "; do: " + *done.error().remedy : "");
}

std::string run(Api& api, const SetCommand& command) {
    auto changed = with_value(api.changes().base(), command.path, command.value);
    return changed ? apply(api, std::move(*changed)) : changed.error().wrong;  // check has found it good
}

std::string run(Api& api, const WireCommand& command) {
    auto changed = with_wire_command(api.changes().base(), command);
    return changed ? apply(api, std::move(*changed)) : changed.error();
}

std::string run(Api& api, const FaultCommand& command) {
    RunningSwitch& device = api.running();
    FaultSettings fault = device.config().ports.at(command.port).fault;
    if (command.key.empty()) {
        fault = {};
    } else if (std::string error = set_fault(fault, command.key, command.value); !error.empty()) {
        return error;
    }
    device.set_fault(command.port, fault, command.key.empty() ? "clear" : command.key + " " + command.value);
    return {};
}

std::string run(Api& api, const WatchdogCommand& command) {
    RunningSwitch& device = api.running();
    return command.port.empty() ? device.big_red_switch(command.on)
                                : device.run_watchdog(command.port, command.on);
}

std::string run(Api& api, const RouteCommand& command) {
    RunningSwitch& device = api.running();
    const IpPrefix& prefix = command.route.prefix;
    const bool there = device.config().routes->contains(prefix);
    if (command.verb == RouteVerb::add && there)
        return "route " + print_prefix(prefix) + " is there already; do: replace";
    if (command.verb == RouteVerb::remove && !there) return "no route " + print_prefix(prefix);
    RouteChanges changes;
    changes.routes.push_back({prefix, std::nullopt});
    if (command.verb != RouteVerb::remove) changes.routes.back().now = command.route;
    return device.change_routes(changes);
}

}  // namespace

std::string run_command(Api& api, std::string_view text) {
    const auto command = parse_command(text);
    if (!command) return command.error();
    std::string error = check_command(api.running().config(), *command);
    return error.empty() ? std::visit([&](const auto& known) { return run(api, known); }, *command) : error;
}

}  // namespace sluice
