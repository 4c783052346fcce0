// Queues, PFC, the buffer, the watchdog: tables of what happens in them; and the moment that tables begin
// with.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

Answer queue_show(Context& context, const Arguments& arguments) {
    const QueueName wanted =
        arguments.has("QUEUE") ? queue_name(arguments.value("QUEUE"), true) : QueueName{};
    const Look look = ports_at(context, arguments, wanted.port);
    const bool trims = std::ranges::any_of(look.part, [](const Json& port) {
        return std::ranges::any_of(port["queues"],
                                   [](const Json& queue) { return queue.contains("trimmed_packets"); });
    });
    std::vector<std::string> heads{"<queue", "sent", "bytes", "dropped", "WRED drops"};
    std::string figures = "tx_packets tx_bytes dropped_packets wred_dropped_packets ";
    if (trims) {
        heads.insert(heads.end(), {"trimmed", "sent trimmed"});
        figures += "trimmed_packets trim_sent_packets ";
    }
    heads.insert(heads.end(), {"marked", "now", "deepest", "wait p50", "p99", "max"});
    figures +=
        "ecn_marked_packets occupancy_bytes deepest_bytes latency_ns.p50 latency_ns.p99 latency_ns.max";
    Table table(heads);
    Json json = Json::object();
    for (const auto& [name, port] : look.part.items())
        for (std::size_t n = 0; n < port["queues"].size(); ++n) {
            const Json& queue = port["queues"][n];
            if (wanted.queue && *wanted.queue != n) continue;
            const bool used =
                queue["tx_packets"] != 0 || queue["dropped_packets"] != 0 || queue["occupancy_packets"] != 0;
            json[fmt::format("{}.{}", name, n)] = queue;
            if (!used && !wanted.queue) continue;
            const Figures figure("ports.{port}.queues.{queue}", queue, look.seconds);
            table.row(figure.row(fmt::format("{}.{}", name, n), figures));
        }
    return looked(look, std::move(json), table.empty() ? "no queue has been used\n" : table.text());
}

Answer pfc_show(Context& context, const Arguments& arguments) {
    const Look look = ports_at(context, arguments, arguments.value("PORT"));
    Table table({"<port", "priority", "Rx XOFF", "Rx XON", "Rx paused", "Tx XOFF", "Tx XON", "Tx refresh",
                 "Tx paused"});
    Json json = Json::object();
    for (const auto& [name, port] : look.part.items()) {
        const Json& pfc = port["pfc"];
        json[name] = pfc;
        for (std::size_t n = 0; n < pfc["rx_xoff"].size(); ++n) {
            const bool lossless = port["priority_groups"][n]["lossless"] == true;
            if (!lossless && pfc["rx_xoff"][n] == 0 && pfc["rx_unexpected"][n] == 0) continue;
            const auto figure = [&](std::string_view of) {
                return Figures("ports.{port}.pfc", pfc, look.seconds)(fmt::format("{}.{}", of, n));
            };
            table.row({name, fmt::format("{}", n), figure("rx_xoff"), figure("rx_xon"),
                       figure("rx_paused_ns"), figure("tx_xoff"), figure("tx_xon"), figure("tx_refresh"),
                       figure("tx_paused_ns")});
        }
    }
    return looked(look, arguments.has("PORT") ? json[arguments.value("PORT")] : json,
                  table.empty() ? "no priority is lossless, and no PFC came\n" : table.text());
}

// How much of its headroom a group or pool has needed so far.
std::string needed_text(const Json& of) {
    return sluice::print_share(of["headroom_watermark_bytes"].get<std::uint64_t>(),
                               of["headroom_size_bytes"].get<std::uint64_t>());
}

// Shows all ports, a port, or one of its groups.
Answer buffer_show(Context& context, const Arguments& arguments) {
    const QueueName wanted =
        arguments.has("GROUP") ? queue_name(arguments.value("GROUP"), true) : QueueName{};
    Arguments plainly = arguments;  // pools have no counters
    plainly.values.erase("over");
    plainly.values.erase("rates");
    const Json all_pools = look_at(context, plainly, "pools").part;
    const Look look = ports_at(context, arguments, wanted.port);
    Table pools({"<pool", "<", "size", "shared", "used", "peak", "headroom", "peak", "of", "needed"});
    for (const auto& [name, pool] : all_pools.items()) {
        const Figures figure("pools.{pool}", pool);
        pools.row({name, figure("direction"), figure("size_bytes"), figure("shared_bytes"),
                   figure("used_bytes"), figure("watermark_bytes"), figure("headroom_used_bytes"),
                   figure("headroom_watermark_bytes"), figure("headroom_size_bytes"), needed_text(pool)});
    }
    Table groups({"<group", "<configured", "<state", "packets", "dropped", "reserved", "shared", "peak",
                  "headroom", "peak", "of", "needed", "XOFF"});
    std::string waits;
    Json json = {{"pools", all_pools}, {"priority_groups", Json::object()}};
    for (const auto& [name, port] : look.part.items())
        for (std::size_t n = 0; n < port["priority_groups"].size(); ++n) {
            if (wanted.queue && *wanted.queue != n) continue;
            const Json& group = port["priority_groups"][n];
            const std::string group_name = fmt::format("{}.{}", name, n);
            json["priority_groups"][group_name] = group;
            if (!wanted.queue && group["lossless"] != true && group["packets"] == 0) continue;
            waits += wait_text(group_name, group);
            const Figures figure("ports.{port}.priority_groups.{priority}", group, look.seconds);
            groups.row({group_name, configured_text(group), figure("state"), figure("packets"),
                        figure("dropped_packets"), figure("reserved_bytes"), figure("shared_bytes"),
                        figure("shared_watermark_bytes"), figure("headroom_bytes"),
                        figure("headroom_watermark_bytes"), figure("headroom_size_bytes"), needed_text(group),
                        figure("xoff_transitions")});
        }
    return looked(look, std::move(json), pools.text() + "\n" + groups.text() + waits);
}

Answer watchdog_show(Context& context, const Arguments& arguments) {
    const Look look = look_at(context, arguments, "watchdog");
    Table table({"<queue", "<state", "<action", "detection", "restoration", "storms", "restored", "passed",
                 "dropped", "passed in all", "dropped in all"});
    for (const Json& queue : look.part) {
        const Figures figure("watchdog.{port,queue}", queue, look.seconds);
        table.row(figure.row(figure("port") + "." + figure("queue"),
                             "state action detection_ns restoration_ns detected restored storm_passed "
                             "storm_dropped total_passed total_dropped"));
    }
    return looked(look, look.part, table.empty() ? "no queue is watched\n" : table.text());
}

// In a shell with a beginning of its own the switch's watermarks stay as they are.
Answer clear(Context& context, const Arguments& arguments) {
    if (!arguments.has("session")) {
        context.beginning.reset();
        return {
            context.call("stats.clear"),
            "tables begin now, and peaks anew, for everybody; the report and metrics keep their totals\n"};
    }
    if (!context.is_shell)
        throw Failure{exit_usage,
                      "a session is a shell, and this command ends it; do: stats clear, which is for "
                      "everybody, or call sluicectl without words"};
    context.beginning = sample(context, "");
    return {Json::object(), "tables of this session begin now; peaks stay the switch's\n"};
}

}  // namespace

std::span<const Command> queue_commands() {
    static constexpr std::array table{
        Command{"queue show [QUEUE] [total] [rates] [over TIME]",
                "what queues sent, dropped, marked, hold; QUEUE: PORT or PORT.N", queue_show},
        Command{"pfc show [PORT] [total] [rates] [over TIME]", "XOFF, XON and paused time of every priority",
                pfc_show},
        Command{"buffer show [GROUP] [total] [rates] [over TIME]",
                "pools, priority groups, watermarks; GROUP: PORT or PORT.N", buffer_show},
        Command{"watchdog show [total] [rates] [over TIME]", "queues that the PFC watchdog watches",
                watchdog_show},
        Command{
            "top [every TIME] [count N]",
            "on a terminal: ports with their rates, the worst first, again every second; Enter: classes and "
            "queues of a port, w: why, h: all keys",
            top},
        Command{"stats clear [session]",
                "tables begin now, and peaks anew, for everybody; session: the tables of this shell", clear},
        Command{"watermark clear", "the same as stats clear", clear},
    };
    return table;
}

}  // namespace sluice::ctl
