#include "control/report/figures/summary.hh"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "control/config/schema/host_config.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/losses.hh"
#include "control/report/figures/text_table.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_entries = 8;  // of the lists that grow
constexpr std::size_t most_events = 20;

std::string port_table(const Json& ports) {
    TextTable table("port<12|in>14|out>14|missed>12|dropped>12|why<");
    for (const auto& [name, port] : ports.items()) {
        std::string why;
        for (const auto& [reason, packets] : losses_of(port))
            append_item(why, ", ", fmt::format("{} {}", reason, grouped_text(packets)));
        table.row({name, counted(port["rx"]["packets"]), counted(port["tx"]["packets"]),
                   counted(port["missed_packets"]), grouped_text(sum_of(port["drops"])), why});
    }
    return table.text();
}

// Frames that ports handed to control, and frames from it.
std::string slow_path_table(const Json& ports) {
    const auto has = [](const Json& port) { return port.contains("punted"); };
    const auto any = std::ranges::find_if(ports, has);
    if (any == ports.end()) return {};
    std::string columns = "punted<12|";
    for (const auto& [punt, count] : (*any)["punted"].items()) columns += punt + ">12|";
    TextTable table(columns + "injected>12|replied>12");
    for (const auto& [name, port] : ports.items()) {
        if (!has(port)) continue;
        const Json &injected = port["injected_packets"], &replied = port["replied_packets"];
        if (number(injected) + number(replied) + sum_of(port["punted"]) == 0) continue;
        std::vector<std::string> cells{name};
        for (const Json& count : port["punted"]) cells.push_back(counted(count));
        cells.insert(cells.end(), {counted(injected), counted(replied)});
        table.row(cells);
    }
    return table.text();
}

// The part of a headroom that was needed.
std::string headroom_text(const Json& watermark, const Json& size) {
    if (number(watermark) + number(size) == 0) return "-";
    return fmt::format("{} of {}, {}", sized(watermark), sized(size),
                       print_share(number(watermark), number(size)));
}

std::string class_table(const Json& ports) {
    TextTable table(
        "port<12|class>6|in>10|out>10|dropped>9|marked>9|deepest queue>15|wait p50>12|p99>12|max>12");
    for (const auto& [name, port] : ports.items())
        for (std::size_t n = 0; n < port["queues"].size(); ++n) {
            const Json &queue = port["queues"][n], &group = port["priority_groups"][n];
            const auto in = number(group["packets"]), out = number(queue["tx_packets"]);
            const auto lost = number(queue["dropped_packets"]) + number(group["dropped_packets"]);
            if (in + out + lost == 0) continue;
            const Json& wait = queue["latency_ns"];
            const auto shown = [&](const std::string& text) { return out == 0 ? "-" : text; };
            table.row({name, std::to_string(n), grouped_text(in), grouped_text(out), grouped_text(lost),
                       counted(queue["ecn_marked_packets"]), sized(queue["deepest_bytes"]),
                       shown(quantile_cell(wait, "p50")), shown(quantile_cell(wait, "p99")),
                       shown(timed(wait["max"]))});
        }
    return table.text();
}

// Congestion that others signalled: CNPs and CE that came in, and how long CNPs waited on their way out.
std::string congestion_table(const Json& ports) {
    TextTable table("congestion<12|CNPs in>10|CNPs in/s>12|CE in>10|CE in/s>12|CNPs out>10|max wait>16");
    for (const auto& [name, port] : ports.items()) {
        const Json &cnps = port["cnp_packets"], &ce = port["ce_arrived_packets"];
        const auto sent = number(port["cnp_sent_packets"]);
        if (number(cnps) + number(ce) + sent == 0) continue;
        table.row({name, counted(cnps), counted(port["cnp_per_s"]), counted(ce),
                   counted(port["ce_arrived_per_s"]), grouped_text(sent),
                   sent == 0 ? "-" : timed(port["cnp_latency_ns"]["max"])});
    }
    return table.text();
}

// Lossless classes: their state, the pauses, and how near the buffer came to its limits.
std::string lossless_table(const Json& ports) {
    TextTable table(
        "lossless<12|class>6|state>10|Tx XOFF/XON>14|Tx paused>12|Rx XOFF/XON>14|Rx paused>12|"
        "peak shared>14|peak headroom>28");
    std::string waits;
    for (const auto& [name, port] : ports.items()) {
        const Json& pfc = port["pfc"];
        for (std::size_t n = 0; n < port["priority_groups"].size(); ++n) {
            const Json& group = port["priority_groups"][n];
            const auto frames = [&](const char* xoff, const char* xon) {
                return fmt::format("{}/{}", number(pfc[xoff][n]), number(pfc[xon][n]));
            };
            const std::string sent = frames("tx_xoff", "tx_xon"), got = frames("rx_xoff", "rx_xon");
            if (group.contains("changing_since_ns")) {
                const Json& queue = group["waiting_queue"];
                waits += fmt::format("class {}.{} is changing since {}, waiting for {} cells{}\n", name, n,
                                     timed(group["changing_since_ns"]), counted(group["waiting_cells"]),
                                     queue.is_null() ? "" : ", most of them in queue " + words(queue));
            } else if (!group["lossless"].get<bool>() ||
                       (group["packets"] == 0 && sent == "0/0" && got == "0/0")) {
                continue;
            }
            table.row({name, std::to_string(n), words(group["state"]), sent, timed(pfc["tx_paused_ns"][n]),
                       got, timed(pfc["rx_paused_ns"][n]), sized(group["shared_watermark_bytes"]),
                       headroom_text(group["headroom_watermark_bytes"], group["headroom_size_bytes"])});
        }
    }
    return table.text() + waits;
}

// The rates and losses of the flows of simulated hosts.
std::string flow_table(const Json& flows) {
    TextTable table(
        "flow<16|messages>10|throughput>15|p50>12|p99>12|max>12|slowdown p99>16|CNPs>9|"
        "retransmitted>15|paused>12");
    for (const auto& [name, flow] : flows.items()) {
        const Json &times = flow["completion_ns"], &slowdown = flow["slowdown_permille"];
        const bool any = !times["max"].is_null();
        table.row({name, counted(flow["messages"]),
                   fmt::format("{:.3f} Gb/s", flow["throughput_bps"].get<double>() / 1e9),
                   quantile_cell(times, "p50"), quantile_cell(times, "p99"), any ? timed(times["max"]) : "-",
                   any ? quantile_ratio_text(number(slowdown["p99"]), number(slowdown["max"])) : "-",
                   counted(flow["cnp_received_packets"]), counted(flow["retransmitted_packets"]),
                   timed(flow["paused_ns"])});
    }
    return table.text() + timeouts_text(flows);
}

// Queues in which there was a storm, or which were cut.
std::string watchdog_table(const Json& queues) {
    TextTable table("PFC watchdog<12|queue>6|state>14|storms>12|ended>14|passed>14|dropped>14");
    for (const Json& queue : queues) {
        const Json &passed = queue["total_passed"], &dropped = queue["total_dropped"];
        if (number(queue["detected"]) + number(passed) + number(dropped) != 0)
            table.row({words(queue["port"]), counted(queue["queue"]), words(queue["state"]),
                       counted(queue["detected"]), counted(queue["restored"]), counted(passed),
                       counted(dropped)});
    }
    return table.text();
}

// When each storm was found and ended, out of the watchdog's events.
std::string storm_list(const Json& events) {
    TextTable table("storm<12|queue>6|found>14|ended>12|in force>14|passed>14|dropped>14");
    for (auto found = events.begin(); found != events.end(); ++found) {
        if ((*found)["kind"] != "watchdog_detected") continue;
        const auto last = std::find_if(found, events.end(), [&](const Json& event) {
            return event["kind"] == "watchdog_restored" && event["port"] == (*found)["port"] &&
                   event["queue"] == (*found)["queue"];
        });
        const Json& from = (*found)["at_ns"];
        std::vector<std::string> cells{words((*found)["port"]), counted((*found)["queue"]), timed(from)};
        if (last == events.end())
            cells.insert(cells.end(), {"runs on", "-", "-", "-"});
        else
            cells.insert(cells.end(),
                         {timed((*last)["at_ns"]), time_text(number((*last)["at_ns"]) - number(from)),
                          counted((*last)["passed_packets"]), counted((*last)["dropped_packets"])});
        table.row(cells);
    }
    return table.text();
}

// Packets that the watchdog discarded, by ingress port, and the other losses.
std::string storm_cost(const Json& report) {
    std::uint64_t others = 0, all = number(report["verdict"]["lossless_packets"]);
    std::string came_in;
    for (const auto& [name, port] : report["ports"].items()) {
        for (const auto& [reason, count] : port["lossless_drops"].items()) {
            if (reason == "watchdog_drop")
                all -= number(count);
            else
                others += number(count);
        }
        if (!port["drops"].contains("watchdog_drop")) continue;
        append_item(came_in, ", ",
                    fmt::format("{} that came in on {}", counted(port["drops"]["watchdog_drop"]), name));
    }
    if (came_in.empty()) return {};
    return fmt::format("\ndropped by the watchdog: {}\nlost beside them: {} of {} lossless packets\n",
                       came_in, grouped_text(others), grouped_text(all));
}

std::string pool_table(const Json& pools) {
    TextTable table("pool<20|<9|size>12|shared>12|peak>12|peak headroom>28");
    for (const auto& [name, pool] : pools.items())
        table.row({name, words(pool["direction"]), sized(pool["size_bytes"]), sized(pool["shared_bytes"]),
                   sized(pool["watermark_bytes"]),
                   headroom_text(pool["headroom_watermark_bytes"], pool["headroom_size_bytes"])});
    return table.text();
}

std::string ecmp_table(const Json& groups) {
    TextTable table("ECMP group<20|via<18|port<8|weight>7|packets>14|share>8");
    for (const auto& [name, group] : groups.items()) {
        std::uint64_t total = 0;
        for (const Json& member : group["members"]) total += number(member["packets"]);
        std::string shown = name;
        for (const Json& member : group["members"]) {
            const double share =
                member["packets"].get<double>() / static_cast<double>(std::max<std::uint64_t>(total, 1));
            table.row({shown, words(member["via"]), words(member["port"]), counted(member["weight"]),
                       counted(member["packets"]), percent(1e6 * share)});
            shown.clear();
        }
    }
    return table.text();
}

std::string ledger_line(const Json& ledger) {
    return fmt::format(
        "\nledger: {} rx + {} injected + {} generated = {} tx + {} dropped + {} punted + {} consumed + {} "
        "queued: {}\n",
        counted(ledger["rx"]), counted(ledger["injected"]), counted(ledger["generated"]),
        counted(ledger["tx"]), counted(ledger["dropped"]), counted(ledger["punted"]),
        counted(ledger["consumed"]), counted(ledger["queued"]),
        ledger["balanced"].get<bool>() ? "balanced" : "NOT BALANCED");
}

std::string trimming_line(const Json& report) {
    if (!report.contains("trimmed_packets")) return {};
    return fmt::format(
        "\ntrimmed: {} of the dropped packets; the headers of {} went on, those of {} did not\n",
        counted(report["trimmed_packets"]), counted(report["trim_sent_packets"]),
        counted(report["trim_dropped_packets"]));
}

std::string event_list(const Json& events) {
    std::string text;
    for (std::size_t i = 0; i < std::min(events.size(), most_events); ++i)
        text += fmt::format("{:>12}  {}\n", timed(events[i]["at_ns"]), words(events[i]["text"]));
    if (events.size() > most_events)
        text += fmt::format("{:>12}  {} more in the report\n", "...", events.size() - most_events);
    return text.empty() ? text : "\nevents\n" + text;
}

// Why packets were dropped or marked and senders paused: losses first, then by their number.
std::string why_table(const Json& decisions) {
    if (!decisions.contains("why")) return {};
    const auto entries = largest_first(decisions["why"], [](const Json& entry) {
        return std::pair(entry["verdict"] == "dropped", number(entry["count"]));
    });
    std::string text;
    if (!entries.empty())
        text = fmt::format("\n{:<9}{:<22}{:<16}{:>8}  {}\n", "why", "", "at", "times", "first");
    for (std::size_t i = 0; i < std::min(entries.size(), most_entries); ++i) {
        const Json &entry = *entries[i], &first = entry["first"];
        std::string at = "port " + words(entry["port"]);
        for (const char* what : {"queue", "group"})
            if (entry.contains(what))
                at = fmt::format("{} {}.{}", what, words(entry["port"]), number(entry[what]));
        std::string packet;
        if (first.contains("sequence"))
            packet = fmt::format("frame {} of {}, ", number(first["sequence"]), words(first["port"]));
        text += fmt::format("{:<9}{:<22}{:<16}{:>8}  {}at {}\n         {}\n", words(entry["verdict"]),
                            words(entry["reason"]), at, counted(entry["count"]), packet,
                            timed(first["at_ns"]), words(entry["sentence"]));
    }
    if (entries.size() > most_entries)
        text += fmt::format("{:<9}{} more in the report\n", "...", entries.size() - most_entries);
    if (const auto lost = number(decisions["lost"]); lost != 0)
        text += fmt::format("decisions: {} {} missing: the ring was full\n", print_count(lost, "event"),
                            lost == 1 ? "is" : "are");
    return text;
}

std::string microburst_table(const Json& report) {
    TextTable table("microburst<12|queue>6|at>12|for>12|peak>12|marked>10|dropped>10|fed by<", most_entries);
    const auto peak = [](const Json& burst) { return number(burst["peak_bytes"]); };
    for (const Json* burst : largest_first(report["microbursts"], peak)) {
        std::string fed_by;
        for (const Json& port : (*burst)["fed_by"]) append_item(fed_by, " ", words(port));
        table.row({words((*burst)["port"]), counted((*burst)["queue"]), timed((*burst)["start_ns"]),
                   timed((*burst)["length_ns"]), sized((*burst)["peak_bytes"]),
                   counted((*burst)["marked_packets"]), counted((*burst)["dropped_packets"]), fed_by});
    }
    const auto more = table.left_out() + number(report["microbursts_left_out"]);
    return table.text() + (more == 0 ? "" : fmt::format("{:<12}{} more\n", "...", grouped_text(more)));
}

}  // namespace

std::string verdict_text(const Json& report) {
    const Json& ledger = report["ledger"];
    std::string text = fmt::format(
        "{} frames in, {} out, {} dropped, {} MAC control, {} still queued, in {} of {} time\n",
        counted(ledger["rx"]), counted(ledger["tx"]), counted(ledger["dropped"]), counted(ledger["consumed"]),
        counted(ledger["queued"]), timed(report["end_ns"]), words(report["clock"]));
    const Json& verdict = report["verdict"];
    if (verdict["interrupted"].get<bool>())
        text += "INTERRUPTED before the end of the run: this is of the time until then\n";
    text += words(verdict["headline"]) + "\n";
    for (const Json& reason : verdict["reasons"]) text += "  " + words(reason) + "\n";
    for (const Json& port : report["ports"])
        for (const Json& warning : port["warnings"]) text += "WARNING: " + words(warning) + "\n";
    for (const auto& [name, host] : report["hosts"].items())
        for (const Json& symptom : host["symptoms"])
            text += fmt::format("SYMPTOM: host {}: {}\n", name, words(symptom));
    return text;
}

std::string timeouts_text(const Json& flows) {
    const auto least_ns = static_cast<std::uint64_t>(min_default_timeout.ps / 1000);
    std::uint64_t shortest = UINT64_MAX, longest = 0;
    for (const Json& flow : flows) {
        shortest = std::min(shortest, number(flow["timeout_ns"]));
        longest = std::max(longest, number(flow["timeout_ns"]));
    }
    if (longest == 0 || (shortest == least_ns && longest == least_ns)) return {};
    return shortest == longest
               ? fmt::format("time-out of all flows: {}\n", time_text(longest))
               : fmt::format("time-outs of flows: from {} to {}\n", time_text(shortest), time_text(longest));
}

std::string summarize(const Json& report) {
    return verdict_text(report) + port_table(report["ports"]) + slow_path_table(report["ports"]) +
           class_table(report["ports"]) + congestion_table(report["ports"]) +
           lossless_table(report["ports"]) + flow_table(report["flows"]) + trimming_line(report) +
           watchdog_table(report["watchdog"]) + storm_list(report["events"]) + storm_cost(report) +
           pool_table(report["pools"]) + ecmp_table(report["ecmp"]) + microburst_table(report) +
           why_table(report["decisions"]) + event_list(report["events"]) + ledger_line(report["ledger"]);
}

}  // namespace sluice
