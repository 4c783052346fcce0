// Version and ports, the clock, the report, events; for scripts, conditions on the report.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/say.hh"
#include "control/report/figures/expression.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

Answer hello(Context& context, const Arguments&) {
    Json json = context.call("hello");
    std::string text = fmt::format("{} {} (API {}), pid {}, {} clock{}\nconfiguration {}\nports {}\n",
                                   word_text(json["name"]), word_text(json["version"]),
                                   json_text(json["api"]), json_text(json["pid"]), word_text(json["clock"]),
                                   json["interactive"] == true ? ", interactive" : "",
                                   word_text(json["config_file"]), joined(json["ports"].get<Words>(), " "));
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

Answer events_show(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (const auto from = number_said(arguments, "from")) parameters["from"] = *from;
    Json json = context.call("events.list", parameters);
    std::string text;
    for (const Json& event : json["events"]) text += event_line(event);
    if (json["lost"] != 0) text += fmt::format("{} older events are forgotten\n", json_text(json["lost"]));
    return {std::move(json), text.empty() ? "nothing has happened\n" : std::move(text)};
}

// Prints as they come, until `count` came or the switch ends.
Answer events_follow(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (const auto from = number_said(arguments, "from")) parameters["from"] = *from;
    const auto count = number_said(arguments, "count");
    context.call("events.subscribe", parameters);
    for (std::uint64_t seen = 0; !count || seen < *count; ++seen) {
        const Json event = context.client().next_notification();
        say("{}", context.is_json() ? json_text(event) + "\n" : event_line(event));
        std::fflush(stdout);
    }
    context.call("events.subscribe", {{"on", false}});
    return {nullptr, {}};
}

Answer any_command(Context& context, const Arguments& arguments) {
    return {context.call("command", {{"command", joined(arguments.rest, " ")}}), {}};
}

using Clock = std::chrono::steady_clock;

Expression said_by(const Arguments& arguments) {
    auto expression = Expression::parse(joined(arguments.rest, " "));
    if (!expression) throw Failure{exit_usage, expression.error()};
    return std::move(*expression);
}

// The report as far as the expression needs it.
Json report_for(Context& context, const Expression& expression) {
    const Words names = expression.part_needed();
    Json report = context.stats(joined(names, "."));
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        report = Json{{*name, std::exchange(report, nullptr)}};
    return report;
}

// Looks once; exit_false when it does not hold.
Answer look(Context& context, const Expression& expression) {
    const Judgment judged = expression.judge(report_for(context, expression), nullptr);
    if (judged.is_unfit) throw Failure{exit_usage, judged.wrong};
    std::string text;
    if (!judged.met) text = fmt::format("false: {}: {}\n", expression.text(), expression.finding(judged));
    return {{{"holds", judged.met}, {"value", judged.value}},
            std::move(text),
            judged.met ? exit_done : exit_false};
}

Answer check_condition(Context& context, const Arguments& arguments) {
    return look(context, said_by(arguments));
}

// A switch that only starts is waited for, too; one that was there and is gone is not.
Answer wait(Context& context, const Arguments& arguments) {
    constexpr auto interval = std::chrono::milliseconds(50);
    const Expression expression = said_by(arguments);
    context.wait_no_more();
    std::optional<Clock::time_point> end;
    if (arguments.has("timeout")) {
        const auto timeout = parse_time(arguments.value("timeout"));
        if (!timeout)
            throw Failure{exit_usage, "timeout " + sluice::in_quotes(arguments.value("timeout")) + " " +
                                          timeout.error().wrong};
        end = Clock::now() + std::chrono::nanoseconds(timeout->ps / 1000);
    }
    for (bool was_there = false;; pause_for(interval)) {
        const bool is_over = end && Clock::now() >= *end;
        try {
            Answer answer = look(context, expression);
            was_there = true;
            if (answer.status == exit_done) return answer;
            if (!is_over) continue;
            answer.text = "out of time: " + answer.text;
            return answer;
        } catch (const Failure& failure) {
            if (failure.status != exit_no_daemon || was_there) throw;
            if (is_over) return {{{"holds", false}}, "out of time: " + failure.message + "\n", exit_false};
        }
    }
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
        Command{"fault PORT WORDS...", "injects a fault (KEY VALUE), or: clear; virtual clock only",
                timed_command},
        Command{"command WORDS...", "a command as timed events give them", any_command},
    };
    return table;
}

std::span<const Command> script_commands() {
    static constexpr std::array table{
        Command{"wait CONDITION... [timeout TIME]",
                "waits until it holds, also for a switch that only starts; exits 4 when the time is over: "
                "wait port p0 up --timeout 5s",
                wait},
        Command{"assert CONDITION...", "exits 4 unless it holds: assert queue p1.3 dropped eq 0",
                check_condition},
    };
    return table;
}

}  // namespace sluice::ctl
