#include "tools/sluicectl/look.hh"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/report/figures/figure_path.hh"
#include "control/report/figures/since.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
    if (to_ns <= from_ns)
        throw Failure{exit_refused, "no time has passed to make rates of; do: clock run, or wait"};
    return static_cast<double>(to_ns - from_ns) / ns_a_second;
}

Look over_window(Context& context, Duration window, const std::string& path) {
    const Sample before = sample(context, path);
    pass_time(context, window, false);
    const Sample after = sample(context, path);
    return {between(before, after, path), seconds_between(before.now_ns, after.now_ns),
            fmt::format("a second, over {}\n", ns_text(after.now_ns - before.now_ns))};
}

// A shell that has cleared for itself has a beginning of its own.
Look since_beginning(const Sample& beginning, const Sample& now, const std::string& path) {
    static const Json nothing;
    const Json* before = find_part(beginning.part, path).value;
    const std::uint64_t elapsed_ns = now.now_ns - beginning.now_ns;
    return {figures_since({now.part, before == nullptr ? nothing : *before, path, elapsed_ns, false}), 0,
            fmt::format("since {} ago, in this session; peaks are since the switch's own beginning\n",
                        ns_text(elapsed_ns))};
}

Look since_clear(Context& context, const std::string& path, bool rates) {
    Json said = context.call("stats.since", {{"path", path}});
    const auto now_ns = said["now_ns"].get<std::uint64_t>(), since_ns = said["since_ns"].get<std::uint64_t>();
    Look look{std::move(said["value"]), rates ? seconds_between(since_ns, now_ns) : 0, {}};
    if (said.contains("by"))
        look.since = fmt::format("since {} ago, by stats clear\n", ns_text(now_ns - since_ns));
    return look;
}

}  // namespace

Sample sample(Context& context, const std::string& path) {
    Json said = context.call("stats.since", {{"path", path}, {"from", "start"}, {"buckets", true}});
    return {std::move(said["value"]), said["now_ns"].get<std::uint64_t>()};
}

Json between(const Sample& before, const Sample& after, const std::string& path) {
    return figures_since({after.part, before.part, path, after.now_ns - before.now_ns, false});
}

void pass_time(Context& context, Duration window, bool may_run) {
    const Json hello = context.call("hello");
    if (hello["clock"] == "real") return pause_for(std::chrono::nanoseconds(window.ps / 1000));
    if (hello["interactive"] == true) {
        if (!may_run)
            throw Failure{exit_refused,
                          "the clock of an interactive switch stands still meanwhile; do: stats clear, then "
                          "clock run TIME, then look with: rates"};
        context.call("clock.run", {{"for", print_time(window)}});
        return;
    }
    const auto now_ns = [&] { return context.call("clock.show")["now_ns"].get<std::uint64_t>(); };
    const std::uint64_t end_ns = now_ns() + static_cast<std::uint64_t>(window.ps) / 1000;
    while (now_ns() < end_ns) pause_for(std::chrono::milliseconds(1));
}

Duration time_said(const Arguments& arguments, const char* name) {
    const std::string text = arguments.value(name);
    const auto time = parse_time(text);
    if (!time || time->ps <= 0)
        throw Failure{exit_usage, fmt::format("{} {}: {}; do: write 10s", name, sluice::in_quotes(text),
                                              time ? "no time" : time.error().wrong)};
    return *time;
}

Look look_at(Context& context, const Arguments& arguments, const std::string& path) {
    const bool rates = arguments.has("rates");
    if (arguments.has("over")) return over_window(context, time_said(arguments, "over"), path);
    if (rates && context.is_watching()) {
        Sample now = sample(context, path);
        std::optional<Sample>& before = context.before(path);
        if (before && before->now_ns < now.now_ns) {
            Look look{between(*before, now, path), seconds_between(before->now_ns, now.now_ns),
                      fmt::format("a second, over {}\n", ns_text(now.now_ns - before->now_ns))};
            before = std::move(now);
            return look;
        }
        before = std::move(now);
    }
    if (arguments.has("total") || (context.is_json() && !rates)) {
        Look look{context.stats(path), 0, {}};
        if (rates)
            look.seconds = seconds_between(0, context.call("clock.show")["now_ns"].get<std::uint64_t>());
        return look;
    }
    if (!context.beginning) return since_clear(context, path, rates);
    const Sample now = sample(context, path);
    if (now.now_ns < context.beginning->now_ns) {  // another switch, or the same started anew
        context.beginning.reset();
        return since_clear(context, path, rates);
    }
    Look look = since_beginning(*context.beginning, now, path);
    if (rates) look.seconds = seconds_between(context.beginning->now_ns, now.now_ns);
    return look;
}

Answer looked(const Look& look, Json json, std::string text) {
    if (look.seconds != 0)
        json = {{"window_ns", static_cast<std::uint64_t>(look.seconds * ns_a_second)},
                {"value", std::move(json)}};
    return {std::move(json), look.since + std::move(text)};
}

QueueName queue_name(const std::string& said, bool whole) {
    const auto dot = said.rfind('.');
    constexpr unsigned classes = 8;
    if (dot != std::string::npos) {
        const auto queue = parse_integer(said.substr(dot + 1));
        if (queue && *queue < classes) return {said.substr(0, dot), static_cast<unsigned>(*queue)};
    }
    if (whole) return {said, std::nullopt};
    throw Failure{exit_usage, sluice::in_quotes(said) + " is not a queue; say PORT.N, N from 0 to 7"};
}

Look ports_at(Context& context, const Arguments& arguments, const std::string& name) {
    if (name.empty()) return look_at(context, arguments, "ports");
    Look look = look_at(context, arguments, "ports." + name);
    Json one = Json::object();
    one[name] = std::move(look.part);
    look.part = std::move(one);
    return look;
}

std::string configured_text(const Json& group) { return group["lossless"] == true ? "lossless" : "lossy"; }

std::string wait_text(const std::string& name, const Json& group) {
    if (!group.contains("changing_since_ns")) return {};
    const Json& queue = group["waiting_queue"];
    return fmt::format("class {} is changing since {}, waiting for {} cells{}\n", name,
                       ns_text(group["changing_since_ns"]), json_text(group["waiting_cells"]),
                       queue.is_null() ? std::string() : ", most of them in queue " + word_text(queue));
}

}  // namespace sluice::ctl
