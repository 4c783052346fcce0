#include "tools/sluicectl/commands.hh"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/complete.hh"

namespace sluice::ctl {

std::span<const Task> tasks() {
    static const std::array all{
        Task{"The switch: its clock, its report, its events", "events show", look_commands()},
        Task{
            "What happens in it, since when, and how much a second", "queue show h1 rates", queue_commands(),
            "total: since the start; rates: a second, since the start or stats clear, with --watch since the "
            "look before; over TIME: a second, in such a window from now on"},
        Task{"Ports, by hand, and what is promised", "port show h1", port_commands()},
        Task{"Why packets were dropped, marked or paused", "why", record_commands()},
        Task{"Change values: together, for a time, to see what it does",
             "set --watch 10ms wred.mine.green_min=20KB default.queue.3.wred=mine", set_commands()},
        Task{"The configuration: judge, compare, save, roll back", "config diff", config_commands()},
        Task{"Routes and neighbors", "route replace 10.7.0.0/16 via 10.0.1.2 weight 2", route_commands()},
        Task{"Simulated hosts", "host show", host_commands()},
        Task{"Wires that disturb", "wire show", wire_commands()},
        Task{"Workers", "worker show", worker_commands()},
        Task{"In scripts", "wait port h1 up --timeout 5s", script_commands()},
        Task{"This program", "help port", help_commands()},
    };
    return all;
}

std::span<const Command> commands() {
    static const std::vector<Command> all = [] {
        std::vector<Command> list;
        for (const Task& task : tasks()) list.insert(list.end(), task.commands.begin(), task.commands.end());
        return list;
    }();
    return all;
}

std::optional<std::uint64_t> number_said(const Arguments& arguments, std::string_view name) {
    if (!arguments.has(name)) return std::nullopt;
    const auto number = parse_integer(arguments.value(name));
    if (!number)
        throw Failure{exit_usage, fmt::format("{} {} {}", name, sluice::in_quotes(arguments.value(name)),
                                              number.error().wrong)};
    return *number;
}

Answer timed_command(Context& context, const Arguments& arguments) {
    std::string words;
    for (const Element& element : parse_pattern(commands()[arguments.command].pattern)) {
        const bool is_word = element.kind == Element::Kind::word;
        const bool is_rest = element.kind == Element::Kind::rest;
        append_item(words, " ",
                    is_word   ? element.name
                    : is_rest ? joined(arguments.rest, " ")
                              : arguments.value(element.name));
    }
    return {context.call("command", {{"command", words}}), {}};
}

const Grammar& grammar() {
    static const Grammar made = [] {
        std::vector<std::string_view> patterns;
        for (const Command& command : commands()) patterns.push_back(command.pattern);
        return Grammar(patterns);
    }();
    return made;
}

}  // namespace sluice::ctl
