// Ports, what an operator does with queues and the watchdog, and the effective quality of service.
#include <fmt/format.h>

#include <array>

#include "control/config/schema/values.hh"
#include "control/report/figures/losses.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

std::string why_text(const Json& port, double seconds) {
    std::string text;
    for (const auto& [reason, packets] : losses_of(port))
        append_item(text, ", ", reason + " " + packets_text(packets, seconds));
    return text;
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
    Table table({"rx queue", "worker", "in", "in bytes", "errors", "fell behind"});
    for (std::size_t n = 0; n < queues.size(); ++n) {
        const Figures queue("ports.{port}.rx_queues.{queue}", queues[n]);
        table.row(queue.row(std::to_string(n), "worker packets bytes rx_errors fell_behind"));
    }
    return table.text();
}

// A second: bits, packets, marks, CNPs, drops; and the share of time that its most paused class is held.
Answer port_rates(const Look& look, bool named) {
    Table table({"<port", "in", "packets", "out", "packets", "marked", "CNPs in", "missed", "dropped",
                 "paused by peer", "peer paused", "<why"});
    for (const auto& [name, port] : look.part.items()) {
        const Figures figure("ports.{port}", port, look.seconds);
        std::uint64_t marked = 0;
        for (const Json& queue : port["queues"]) marked += queue["ecn_marked_packets"].get<std::uint64_t>();
        const auto paused = [&](const char* list) {
            return share_text(largest_of(port["pfc"][list]) / 1e9 / look.seconds);
        };
        table.row({name, figure("rx.bytes"), figure("rx.packets"), figure("tx.bytes"), figure("tx.packets"),
                   packets_text(marked, look.seconds), figure("cnp_packets"), figure("missed_packets"),
                   packets_text(static_cast<std::uint64_t>(sum_of(port["drops"])), look.seconds),
                   paused("rx_paused_ns"), paused("tx_paused_ns"), why_text(port, look.seconds)});
    }
    return looked(look, named ? *look.part.begin() : look.part, table.text());
}

Answer port_show(Context& context, const Arguments& arguments) {
    const Look look = ports_at(context, arguments, arguments.value("PORT"));
    const Json& ports = look.part;
    const auto now_ns = context.call("clock.show")["now_ns"].get<std::uint64_t>();
    const auto age = [&](const Json& port) {
        return ns_text(now_ns - port["link_since_ns"].get<std::uint64_t>());
    };
    if (look.seconds != 0) return port_rates(look, arguments.has("PORT"));
    Table table({"<port", "<MAC", "<link", "for", "flaps", "in", "in bytes", "out", "out bytes", "missed",
                 "dropped", "<why"});
    std::string warnings;
    for (const auto& [name, port] : ports.items()) {
        const Figures figure("ports.{port}", port);
        table.row({name, figure("mac"), port["link_up"] == true ? "up" : "down", age(port), figure("flaps"),
                   figure("rx.packets"), figure("rx.bytes"), figure("tx.packets"), figure("tx.bytes"),
                   figure("missed_packets"),
                   packets_text(static_cast<std::uint64_t>(sum_of(port["drops"])), 0), why_text(port, 0)});
        for (const Json& warning : port["warnings"]) warnings += "\nWARNING: " + word_text(warning) + "\n";
    }
    std::string text = table.text() + warnings;
    if (!arguments.has("PORT")) return looked(look, ports, std::move(text));
    const Json& port = ports[arguments.value("PORT")];
    if (port.contains("link_down_cause")) text += "\ndown: " + word_text(port["link_down_cause"]) + "\n";
    if (port.contains("rx_queues")) text += "\n" + receive_queues_table(port["rx_queues"]);
    if (port.contains("capabilities")) text += "\n" + capabilities_table(port);
    if (port.contains("physical")) text += "\n" + physical_table(port["physical"]);
    if (port.contains("steering")) text += "\n" + steering_table(port);
    if (port.contains("punted")) text += "\n" + slow_path_table(port);
    return looked(look, port, std::move(text));
}

Answer set_port(Context& context, const Arguments& arguments) {
    return {context.call("port.set",
                         {{"port", arguments.value("PORT")}, {"up", arguments.value("up|down") == "up"}}),
            {}};
}

Answer hold(Context& context, const Arguments& arguments, bool held) {
    const QueueName name = queue_name(arguments.value("QUEUE"), false);
    return {context.call("queue.hold", {{"port", name.port}, {"queue", *name.queue}, {"hold", held}}), {}};
}

std::string numbers_text(const Json& list) {
    return list.empty() ? "-" : fmt::format("{}", fmt::join(list.get<std::vector<unsigned>>(), ","));
}

// The group sends XON once its shared use has fallen to this: SONiC's xon and xon_offset.
std::string xon_text(const Json& group) {
    const std::string by_limit = "limit - " + bytes_text(group["xon_offset_bytes"]);
    return group["xon_bytes"] == 0 ? by_limit
                                   : fmt::format("max({}, {})", bytes_text(group["xon_bytes"]), by_limit);
}

Answer qos_show(Context& context, const Arguments& arguments) {
    Json json = context.call("qos.show");
    Table pools({"<pool", "<", "size", "reserved", "headroom", "shared"});
    for (const Json& pool : json["pools"])
        pools.row({word_text(pool["name"]), word_text(pool["direction"]), bytes_text(pool["size_bytes"]),
                   bytes_text(pool["reserved_bytes"]), bytes_text(pool["headroom_bytes"]),
                   bytes_text(pool["shared_bytes"])});
    Table ports({"<port", "<preset", "<PFC", "<lossless", "<sends", "<obeys"});
    Table groups(
        {"<group", "<configured", "<state", "<pool", "reserved", "limit", "headroom", "needed", "XON below"});
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
                            bytes_text(group["headroom_needed_bytes"]), xon_text(group)});
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
        Command{"port show [PORT] [total] [rates] [over TIME]",
                "links, packets, drops with their reasons; rates: bits, marks, CNPs, time paused", port_show},
        Command{"port set PORT up|down", "an operator's port up or down", set_port},
        Command{"port PORT up|down", "the same", set_port},
        Command{"queue hold QUEUE", "admission goes on, dequeue stops",
                [](Context& context, const Arguments& arguments) { return hold(context, arguments, true); }},
        Command{"queue release QUEUE", "dequeue goes on",
                [](Context& context, const Arguments& arguments) { return hold(context, arguments, false); }},
        Command{"watchdog start PORT", "watches the port again", timed_command},
        Command{"watchdog stop PORT", "stops watching it", timed_command},
        Command{"watchdog big-red-switch on|off", "cuts every lossless queue, or gives them back",
                timed_command},
        Command{"qos show [PORT]", "what is configured, what it comes to, and what is not promised",
                qos_show},
    };
    return table;
}

}  // namespace sluice::ctl
