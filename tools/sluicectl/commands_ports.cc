// Ports, queues, PFC, the buffer, the watchdog, and the effective quality of service.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// "p1.3", or with `whole` also "p1".
struct QueueName {
    std::string port;
    std::optional<unsigned> queue;
};

QueueName queue_name(const std::string& arguments, bool whole) {
    const auto dot = arguments.rfind('.');
    constexpr unsigned classes = 8;
    if (dot != std::string::npos) {
        const auto queue = parse_integer(arguments.substr(dot + 1));
        if (queue && *queue < classes) return {arguments.substr(0, dot), static_cast<unsigned>(*queue)};
    }
    if (whole) return {arguments, std::nullopt};
    throw Failure{exit_usage, sluice::in_quotes(arguments) + " is no queue; say PORT.N, N from 0 to 7"};
}

// The ports of the report that `name` chooses, all when it is empty.
Json ports_of(Context& context, const std::string& name) {
    if (name.empty()) return context.stats("ports");
    Json one = Json::object();
    one[name] = context.stats("ports." + name);
    return one;
}

// The configured and the present state of a priority group: "changing" until its headroom is there.
std::string configured_text(const Json& group) { return group["lossless"] == true ? "lossless" : "lossy"; }

// "class h1.3 is changing since 170 us, waiting for 312 cells, most of them in queue h4.3"; empty otherwise.
std::string wait_text(const std::string& name, const Json& group) {
    if (!group.contains("changing_since_ns")) return {};
    const Json& queue = group["waiting_queue"];
    return fmt::format("class {} is changing since {}, waiting for {} cells{}\n", name,
                       ns_text(group["changing_since_ns"]), json_text(group["waiting_cells"]),
                       queue.is_null() ? std::string() : ", most of them in queue " + word_text(queue));
}

std::string drops_text(const Json& drops) {
    std::string text;
    for (const auto& [reason, count] : drops.items())
        append_item(text, ", ", reason + " " + count_text(count));
    return text;
}

std::uint64_t sum_of(const Json& object) {
    std::uint64_t sum = 0;
    for (const Json& number : object) sum += number.get<std::uint64_t>();
    return sum;
}

// The decisions of an XDP port's steering program.
std::string steering_table(const Json& port) {
    const Figures steering("ports.{port}.steering", port["steering"]);
    Table table({"<steering", "frames"});
    for (const auto& [verdict, frames] : port["steering"].items()) table.row({verdict, steering(verdict)});
    return table.text();
}

// The capabilities of the port's device.
std::string capabilities_table(const Json& port) {
    Table table({"<device", "<"});
    for (const auto& [what, value] : port["capabilities"].items()) table.row({what, word_text(value)});
    if (port["link_speed_bps"] != 0)
        table.row({"link_speed", Figures("ports.{port}", port)("link_speed_bps")});
    return table.text();
}

// The counters of its MAC, but for zeros, and its module's temperature.
std::string physical_table(const Json& physical) {
    const Figures figure("ports.{port}.physical", physical);
    Table table({"<physical", "<"});
    const auto row = [&](const std::string& name, const Json& count) {
        if (count.is_number() && count != 0) table.row({name, figure(name)});
    };
    for (const auto& [name, value] : physical.items()) {
        if (name == "module_temperature_mc")
            table.row({"module_temperature", figure(name)});
        else if (value.is_array())
            for (std::size_t n = 0; n < value.size(); ++n) row(fmt::format("{}.{}", name, n), value[n]);
        else
            row(name, value);
    }
    return table.empty() ? "no physical errors\n" : table.text();
}

// The frames that control received from the port, and sent by it.
std::string slow_path_table(const Json& port) {
    const Figures figure("ports.{port}", port);
    Table table({"<punted", "frames"});
    for (const auto& [punt, frames] : port["punted"].items()) table.row({punt, figure("punted." + punt)});
    return fmt::format("{}\ninjected {}, replied {}, returned {}\n", table.text(), figure("injected_packets"),
                       figure("replied_packets"), figure("returned_packets"));
}

// By receive queue, of a port with several.
std::string receive_queues_table(const Json& queues) {
    Table table({"rx queue", "worker", "in", "in bytes", "fell behind"});
    for (std::size_t n = 0; n < queues.size(); ++n) {
        const Figures queue("ports.{port}.rx_queues.{queue}", queues[n]);
        table.row(
            {std::to_string(n), queue("worker"), queue("packets"), queue("bytes"), queue("fell_behind")});
    }
    return table.text();
}

Answer port_show(Context& context, const Arguments& arguments) {
    Json ports = ports_of(context, arguments.value("PORT"));
    const auto now_ns = context.call("clock.show")["now_ns"].get<std::uint64_t>();
    const auto age = [&](const Json& port) {
        return ns_text(now_ns - port["link_since_ns"].get<std::uint64_t>());
    };
    Table table({"<port", "<MAC", "<link", "for", "flaps", "in", "in bytes", "out", "out bytes", "missed",
                 "dropped", "<why"});
    std::string warnings;
    for (const auto& [name, port] : ports.items()) {
        const Figures figure("ports.{port}", port);
        table.row({name, figure("mac"), port["link_up"] == true ? "up" : "down", age(port), figure("flaps"),
                   figure("rx.packets"), figure("rx.bytes"), figure("tx.packets"), figure("tx.bytes"),
                   figure("imissed"), count_text(sum_of(port["drops"])), drops_text(port["drops"])});
        for (const Json& warning : port["warnings"]) warnings += "\nWARNING: " + word_text(warning) + "\n";
    }
    std::string text = table.text() + warnings;
    if (!arguments.has("PORT")) return {ports, std::move(text)};
    const Json& port = ports[arguments.value("PORT")];
    if (port.contains("link_down_cause")) text += "\ndown: " + word_text(port["link_down_cause"]) + "\n";
    if (port.contains("rx_queues")) text += "\n" + receive_queues_table(port["rx_queues"]);
    if (port.contains("capabilities")) text += "\n" + capabilities_table(port);
    if (port.contains("physical")) text += "\n" + physical_table(port["physical"]);
    if (port.contains("steering")) text += "\n" + steering_table(port);
    if (port.contains("punted")) text += "\n" + slow_path_table(port);
    return {port, std::move(text)};
}

Answer set_port(Context& context, const Arguments& arguments) {
    return {context.call("port.set",
                         {{"port", arguments.value("PORT")}, {"up", arguments.value("up|down") == "up"}}),
            {}};
}

Answer queue_show(Context& context, const Arguments& arguments) {
    const QueueName wanted =
        arguments.has("QUEUE") ? queue_name(arguments.value("QUEUE"), true) : QueueName{};
    const Json ports = ports_of(context, wanted.port);
    Table table({"<queue", "sent", "bytes", "dropped", "WRED", "marked", "now", "deepest", "median", "99 %",
                 "longest"});
    Json json = Json::object();
    for (const auto& [name, port] : ports.items())
        for (std::size_t n = 0; n < port["queues"].size(); ++n) {
            const Json& queue = port["queues"][n];
            if (wanted.queue && *wanted.queue != n) continue;
            const bool used =
                queue["tx_packets"] != 0 || queue["dropped_packets"] != 0 || queue["occupancy_packets"] != 0;
            json[fmt::format("{}.{}", name, n)] = queue;
            if (!used && !wanted.queue) continue;
            const Figures figure("ports.{port}.queues.{queue}", queue);
            table.row({fmt::format("{}.{}", name, n), figure("tx_packets"), figure("tx_bytes"),
                       figure("dropped_packets"), figure("wred_dropped_packets"),
                       figure("ecn_marked_packets"), figure("occupancy_bytes"), figure("watermark_bytes"),
                       figure("latency_ns.p50"), figure("latency_ns.p99"), figure("latency_ns.max")});
        }
    return {std::move(json), table.empty() ? "no queue has been used\n" : table.text()};
}

Answer hold(Context& context, const Arguments& arguments, bool held) {
    const QueueName name = queue_name(arguments.value("QUEUE"), false);
    return {context.call("queue.hold", {{"port", name.port}, {"queue", *name.queue}, {"hold", held}}), {}};
}
Answer queue_hold(Context& context, const Arguments& arguments) { return hold(context, arguments, true); }
Answer queue_release(Context& context, const Arguments& arguments) { return hold(context, arguments, false); }

Answer pfc_show(Context& context, const Arguments& arguments) {
    const Json ports = ports_of(context, arguments.value("PORT"));
    Table table({"<port", "priority", "Rx XOFF", "Rx XON", "Rx paused", "Tx XOFF", "Tx XON", "Tx refresh",
                 "Tx paused"});
    Json json = Json::object();
    for (const auto& [name, port] : ports.items()) {
        const Json& pfc = port["pfc"];
        json[name] = pfc;
        for (std::size_t n = 0; n < pfc["rx_xoff"].size(); ++n) {
            const bool lossless = port["priority_groups"][n]["lossless"] == true;
            if (!lossless && pfc["rx_xoff"][n] == 0 && pfc["rx_unexpected"][n] == 0) continue;
            const auto figure = [&](std::string_view of) {
                return Figures("ports.{port}.pfc", pfc)(fmt::format("{}.{}", of, n));
            };
            table.row({name, fmt::format("{}", n), figure("rx_xoff"), figure("rx_xon"),
                       figure("rx_paused_ns"), figure("tx_xoff"), figure("tx_xon"), figure("tx_refresh"),
                       figure("tx_paused_ns")});
        }
    }
    return {arguments.has("PORT") ? json[arguments.value("PORT")] : json,
            table.empty() ? "no priority is lossless, and no PFC came\n" : table.text()};
}

// How much of its headroom a group or pool has needed so far.
std::string needed_text(const Json& of) {
    return sluice::print_share(of["headroom_watermark_bytes"].get<std::uint64_t>(),
                               of["headroom_size_bytes"].get<std::uint64_t>());
}

// Of all ports, a port, or one of its groups.
Answer buffer_show(Context& context, const Arguments& arguments) {
    const QueueName wanted =
        arguments.has("GROUP") ? queue_name(arguments.value("GROUP"), true) : QueueName{};
    const Json all_pools = context.stats("pools");
    const Json ports = ports_of(context, wanted.port);
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
    for (const auto& [name, port] : ports.items())
        for (std::size_t n = 0; n < port["priority_groups"].size(); ++n) {
            if (wanted.queue && *wanted.queue != n) continue;
            const Json& group = port["priority_groups"][n];
            const std::string group_name = fmt::format("{}.{}", name, n);
            json["priority_groups"][group_name] = group;
            if (!wanted.queue && group["lossless"] != true && group["packets"] == 0) continue;
            waits += wait_text(group_name, group);
            const Figures figure("ports.{port}.priority_groups.{priority}", group);
            groups.row({group_name, configured_text(group), figure("state"), figure("packets"),
                        figure("dropped_packets"), figure("reserved_bytes"), figure("shared_bytes"),
                        figure("shared_watermark_bytes"), figure("headroom_bytes"),
                        figure("headroom_watermark_bytes"), figure("headroom_size_bytes"), needed_text(group),
                        figure("xoff_transitions")});
        }
    return {std::move(json), pools.text() + "\n" + groups.text() + waits};
}

Answer watermark_clear(Context& context, const Arguments&) {
    return {context.call("stats.clear"), "users' watermarks start anew\n"};
}

Answer watchdog_show(Context& context, const Arguments&) {
    Json json = context.stats("watchdog");
    Table table({"<queue", "<state", "<action", "detection", "restoration", "storms", "restored", "passed",
                 "dropped", "passed in all", "dropped in all"});
    for (const Json& queue : json) {
        const Figures figure("watchdog.{port,queue}", queue);
        table.row({figure("port") + "." + figure("queue"), figure("state"), figure("action"),
                   figure("detection_ns"), figure("restoration_ns"), figure("detected"), figure("restored"),
                   figure("storm_passed"), figure("storm_dropped"), figure("total_passed"),
                   figure("total_dropped")});
    }
    return {std::move(json), table.empty() ? "no queue is watched\n" : table.text()};
}

Answer command(Context& context, const std::string& words) {
    return {context.call("command", {{"command", words}}), {}};
}
Answer watchdog_start(Context& context, const Arguments& arguments) {
    return command(context, "watchdog start " + arguments.value("PORT"));
}
Answer watchdog_stop(Context& context, const Arguments& arguments) {
    return command(context, "watchdog stop " + arguments.value("PORT"));
}
Answer big_red_switch(Context& context, const Arguments& arguments) {
    return command(context, "watchdog big-red-switch " + arguments.value("on|off"));
}

std::string numbers_text(const Json& list) {
    std::string text;
    for (const Json& number : list) append_item(text, ",", json_text(number));
    return text.empty() ? "-" : text;
}

Answer qos_show(Context& context, const Arguments& arguments) {
    Json json = context.call("qos.show");
    Table pools({"<pool", "<", "size", "reserved", "headroom", "shared"});
    for (const Json& pool : json["pools"])
        pools.row({word_text(pool["name"]), word_text(pool["direction"]), bytes_text(pool["size_bytes"]),
                   bytes_text(pool["reserved_bytes"]), bytes_text(pool["headroom_bytes"]),
                   bytes_text(pool["shared_bytes"])});
    Table ports({"<port", "<preset", "<PFC", "<lossless", "<sends", "<obeys"});
    Table groups({"<group", "<configured", "<state", "<pool", "reserved", "limit", "headroom", "needed",
                  "XON at", "or below"});
    std::string waits;
    Table queues({"<queue", "<pool", "reserved", "limit", "<scheduler", "<WRED"});
    const std::string wanted = arguments.value("PORT");
    if (!wanted.empty() && !json["ports"].contains(wanted))
        throw Failure{exit_usage, "no port " + sluice::in_quotes(wanted)};
    for (const auto& [name, port] : json["ports"].items()) {
        if (!wanted.empty() && wanted != name) continue;
        ports.row({name, word_text(port["preset"]), word_text(port["pfc_mode"]),
                   numbers_text(port["lossless"]), numbers_text(port["sends_pfc"]),
                   numbers_text(port["obeys_pfc"])});
        for (const Json& group : port["priority_groups"]) {
            const std::string group_name = fmt::format("{}.{}", name, json_text(group["group"]));
            waits += wait_text(group_name, group);
            if (group["lossless"] == true)
                groups.row({group_name, configured_text(group), word_text(group["state"]),
                            word_text(group["pool"]), bytes_text(group["reserved_bytes"]),
                            word_text(group["threshold"]), bytes_text(group["headroom_bytes"]),
                            bytes_text(group["headroom_needed_bytes"]), bytes_text(group["xon_bytes"]),
                            "T - " + bytes_text(group["xon_offset_bytes"])});
        }
        for (const Json& queue : port["queues"])
            if (queue["lossless"] == true || queue["wred"] != nullptr || !wanted.empty())
                queues.row({fmt::format("{}.{}", name, json_text(queue["queue"])), word_text(queue["pool"]),
                            bytes_text(queue["reserved_bytes"]), word_text(queue["threshold"]),
                            word_text(queue["scheduler"]), word_text(queue["wred"])});
    }
    std::string text =
        pools.text() + "\n" + ports.text() + "\n" + groups.text() + waits + "\n" + queues.text() + "\n";
    for (const Json& given : json["configured"])
        text += fmt::format("configured: {} = {}\n", word_text(given["path"]), word_text(given["value"]));
    for (const Json& exception : json["exceptions"]) text += "exception: " + word_text(exception) + "\n";
    if (json["exceptions"].empty() && waits.empty())
        text += "no exceptions: what is lossless is promised to be\n";
    return {std::move(json), std::move(text)};
}

}  // namespace

std::span<const Command> port_commands() {
    static constexpr std::array table{
        Command{"port show [PORT]", "links, packets, drops with their reasons", port_show},
        Command{"port set PORT up|down", "an operator's port up or down", set_port},
        Command{"port PORT up|down", "the same", set_port},
        Command{"queue show [QUEUE]", "what queues sent, dropped, marked, hold; QUEUE: PORT or PORT.N",
                queue_show},
        Command{"queue hold QUEUE", "admission goes on, dequeue stops", queue_hold},
        Command{"queue release QUEUE", "dequeue goes on", queue_release},
        Command{"pfc show [PORT]", "XOFF, XON and paused time of every priority", pfc_show},
        Command{"buffer show [GROUP]", "pools, priority groups, watermarks; GROUP: PORT or PORT.N",
                buffer_show},
        Command{"watermark clear", "users' watermarks start anew", watermark_clear},
        Command{"watchdog show", "queues that the PFC watchdog watches", watchdog_show},
        Command{"watchdog start PORT", "watches the port again", watchdog_start},
        Command{"watchdog stop PORT", "stops watching it", watchdog_stop},
        Command{"watchdog big-red-switch on|off", "cuts every lossless queue, or gives them back",
                big_red_switch},
        Command{"qos show [PORT]", "what is configured, what it comes to, and what is not promised",
                qos_show},
    };
    return table;
}

}  // namespace sluice::ctl
