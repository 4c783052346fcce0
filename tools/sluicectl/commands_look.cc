// Version and ports, the clock, the report, events.
#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/say.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

Answer hello(Context& context, const Arguments&) {
    Json json = context.call("hello");
    std::string ports;
    for (const Json& port : json["ports"]) append_item(ports, " ", port.get<std::string>());
    std::string text = fmt::format(
        "{} {} (API {}), pid {}, {} clock{}\nconfiguration {}\nports {}\n", word_text(json["name"]),
        word_text(json["version"]), json_text(json["api"]), json_text(json["pid"]), word_text(json["clock"]),
        json["interactive"] == true ? ", interactive" : "", word_text(json["config_file"]), ports);
    return {std::move(json), std::move(text)};
}

Answer version(Context& context, const Arguments&) {
    const Json there = context.call("hello");
    Json json = {{"sluicectl", SLUICE_VERSION}, {"sluiced", there["version"]}, {"api", there["api"]}};
    std::string text = fmt::format("sluicectl {}, sluiced {}, API {}\n", SLUICE_VERSION,
                                   word_text(there["version"]), json_text(there["api"]));
    return {std::move(json), std::move(text)};
}

Answer methods(Context& context, const Arguments&) {
    Json json = context.call("methods");
    Table table({"<method", "<parameters", "<what it does"});
    for (const Json& method : json)
        table.row({word_text(method["name"]), word_text(method["params"]), word_text(method["sentence"])});
    return {std::move(json), table.text()};
}

Answer clock_show(Context& context, const Arguments&) {
    Json json = context.call("clock.show");
    return {json, ns_text(json["now_ns"]) + "\n"};
}

Answer clock_run(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (arguments.has("TIME")) parameters["for"] = arguments.value("TIME");
    Json json = context.call("clock.run", parameters);
    return {json, "now " + ns_text(json["now_ns"]) + "\n"};
}

Answer stats_show(Context& context, const Arguments& arguments) {
    Json json = context.stats(arguments.value("PATH"));
    return {json, json_text(json, 2) + "\n"};
}

std::string event_line(const Json& event) {
    return fmt::format("{:>12}  {:<20} {}\n", ns_text(event["at_ns"]), word_text(event["kind"]),
                       word_text(event["text"]));
}

std::optional<std::uint64_t> number_of(const Arguments& arguments, std::string_view name) {
    if (!arguments.has(name)) return std::nullopt;
    const auto number = parse_integer(arguments.value(name));
    if (!number)
        throw Failure{exit_usage, fmt::format("{} {} {}", name, sluice::in_quotes(arguments.value(name)),
                                              number.error().wrong)};
    return *number;
}

Answer events_show(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (const auto from = number_of(arguments, "from")) parameters["from"] = *from;
    Json json = context.call("events.list", parameters);
    std::string text;
    for (const Json& event : json["events"]) text += event_line(event);
    if (json["lost"] != 0) text += fmt::format("{} older events are forgotten\n", json_text(json["lost"]));
    return {std::move(json), text.empty() ? "nothing has happened\n" : std::move(text)};
}

// Prints as they come, until `count` came or the switch ends.
Answer events_follow(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (const auto from = number_of(arguments, "from")) parameters["from"] = *from;
    const auto count = number_of(arguments, "count");
    context.call("events.subscribe", parameters);
    for (std::uint64_t seen = 0; !count || seen < *count; ++seen) {
        const auto event = context.client().next_notification(std::nullopt);
        say("{}", context.options().json ? json_text(*event) + "\n" : event_line(*event));
        std::fflush(stdout);
    }
    context.call("events.subscribe", {{"on", false}});
    return {nullptr, {}};
}

Answer fault(Context& context, const Arguments& arguments) {
    const std::string words = "fault " + arguments.value("PORT") + " " + joined(arguments.rest, " ");
    return {context.call("command", {{"command", words}}), {}};
}

Answer command(Context& context, const Arguments& arguments) {
    return {context.call("command", {{"command", joined(arguments.rest, " ")}}), {}};
}

}  // namespace

std::span<const Command> look_commands() {
    static constexpr std::array table{
        Command{"hello", "who is there", hello},
        Command{"version", "versions of this tool and of the switch", version},
        Command{"methods", "all methods of the control socket", methods},
        Command{"clock show", "the switch's clock", clock_show},
        Command{"clock run [TIME]", "lets the clock of an interactive switch run, at most so long",
                clock_run},
        Command{"stats show [PATH]", "the report, or a part such as ports.p0.pfc", stats_show},
        Command{"events show [from N]", "what happened", events_show},
        Command{"events follow [from N] [count N]", "what happens, until so many came", events_follow},
        Command{"fault PORT WORDS...", "injects a fault (KEY VALUE), or: clear; virtual clock only", fault},
        Command{"command WORDS...", "a command as timed events give them", command},
    };
    return table;
}

}  // namespace sluice::ctl
