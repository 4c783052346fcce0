// For scripts: conditions on the report.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/report/figures/expression.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/interrupt.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

using Clock = std::chrono::steady_clock;

Expression said_by(const Arguments& arguments) {
    std::string text;
    for (const std::string& word : arguments.rest) append_item(text, " ", word);
    auto expression = Expression::parse(text);
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
