#include "control/report/figures/summary.hh"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "control/config/schema/host_config.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/report/figures/losses.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t number(const Json& json) { return json.get<std::uint64_t>(); }
std::string counted(const Json& json) { return grouped_text(number(json)); }
std::string timed(const Json& ns) { return time_text(number(ns)); }
std::string sized(const Json& bytes) { return size_text(number(bytes)); }

}  // namespace

std::string verdict_text(const nlohmann::ordered_json& report) {
    const Json& ledger = report["ledger"];
    std::string text = fmt::format(
        "{} frames in, {} out, {} dropped, {} MAC control, {} still queued, in {} of {} time\n",
        counted(ledger["rx"]), counted(ledger["tx"]), counted(ledger["dropped"]), counted(ledger["consumed"]),
        counted(ledger["queued"]), timed(report["end_ns"]), report["clock"].get<std::string>());
    const Json& verdict = report["verdict"];
    if (verdict["interrupted"].get<bool>())
        text += "INTERRUPTED before the end of the run: this is of the time until then\n";
    text += verdict["headline"].get<std::string>() + "\n";
    for (const Json& reason : verdict["reasons"]) text += "  " + reason.get<std::string>() + "\n";
    for (const Json& port : report["ports"])
        for (const Json& warning : port["warnings"]) text += "WARNING: " + warning.get<std::string>() + "\n";
    for (const auto& [name, host] : report["hosts"].items())
        for (const Json& symptom : host["symptoms"])
            text += fmt::format("SYMPTOM: host {}: {}\n", name, symptom.get<std::string>());
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

namespace {

std::string port_table(const Json& ports) {
    std::string text = fmt::format("\n{:<12}{:>14}{:>14}{:>12}{:>12}  {}\n", "port", "in", "out", "missed",
                                   "dropped", "why");
    for (const auto& [name, port] : ports.items()) {
        std::uint64_t dropped = 0;
        std::string why;
        for (const auto& [reason, packets] : losses_of(port))
            append_item(why, ", ", fmt::format("{} {}", reason, grouped_text(packets)));
        for (const Json& count : port["drops"]) dropped += number(count);
        text += fmt::format("{:<12}{:>14}{:>14}{:>12}{:>12}  {}\n", name, counted(port["rx"]["packets"]),
                            counted(port["tx"]["packets"]), counted(port["missed_packets"]),
                            grouped_text(dropped), why);
    }
    return text;
}

// Frames that ports handed to control, and frames from it.
std::string slow_path_table(const Json& ports) {
    std::string text;
    for (const auto& [name, port] : ports.items()) {
        if (!port.contains("punted")) continue;
        std::uint64_t all = number(port["injected_packets"]) + number(port["replied_packets"]);
        for (const Json& count : port["punted"]) all += number(count);
        if (all == 0) continue;
        if (text.empty()) {
            text = fmt::format("\n{:<12}", "punted");
            for (const auto& [punt, count] : port["punted"].items()) text += fmt::format("{:>12}", punt);
            text += fmt::format("{:>12}{:>12}\n", "injected", "replied");
        }
        text += fmt::format("{:<12}", name);
        for (const auto& [punt, count] : port["punted"].items())
            text += fmt::format("{:>12}", counted(count));
        text += fmt::format("{:>12}{:>12}\n", counted(port["injected_packets"]),
                            counted(port["replied_packets"]));
    }
    return text;
}

// How much of a headroom was needed.
std::string headroom_text(const Json& watermark, const Json& size) {
    if (number(watermark) + number(size) == 0) return "-";
    return fmt::format("{} of {}, {}", sized(watermark), sized(size),
                       print_share(number(watermark), number(size)));
}

std::string class_table(const Json& ports) {
    std::string text =
        fmt::format("\n{:<12}{:>6}{:>10}{:>10}{:>9}{:>9}{:>15}{:>12}{:>12}{:>12}\n", "port", "class", "in",
                    "out", "dropped", "marked", "deepest queue", "median wait", "99 %", "longest");
    for (const auto& [name, port] : ports.items()) {
        for (std::size_t n = 0; n < port["queues"].size(); ++n) {
            const Json& queue = port["queues"][n];
            const Json& group = port["priority_groups"][n];
            const auto in = number(group["packets"]);
            const auto out = number(queue["tx_packets"]);
            const auto lost = number(queue["dropped_packets"]) + number(group["dropped_packets"]);
            if (in + out + lost == 0) continue;
            const Json& latency = queue["latency_ns"];
            const auto wait = [&](const char* which) {
                return out == 0 ? "-" : quantile_text(number(latency[which]), number(latency["max"]));
            };
            text += fmt::format("{:<12}{:>6}{:>10}{:>10}{:>9}{:>9}{:>15}{:>12}{:>12}{:>12}\n", name, n,
                                grouped_text(in), grouped_text(out), grouped_text(lost),
                                counted(queue["ecn_marked_packets"]), sized(queue["deepest_bytes"]),
                                wait("p50"), wait("p99"), out == 0 ? "-" : timed(latency["max"]));
        }
    }
    return text;
}

// Congestion as others told of it: CNPs and CE that came in, and how long CNPs waited on their way out.
std::string congestion_table(const Json& ports) {
    std::string rows;
    for (const auto& [name, port] : ports.items()) {
        const auto cnps = number(port["cnp_packets"]);
        const auto ce = number(port["ce_arrived_packets"]);
        const auto sent = number(port["cnp_sent_packets"]);
        if (cnps + ce + sent == 0) continue;
        rows += fmt::format("{:<12}{:>10}{:>12}{:>10}{:>12}{:>10}{:>16}\n", name, grouped_text(cnps),
                            counted(port["cnp_per_s"]), grouped_text(ce), counted(port["ce_arrived_per_s"]),
                            grouped_text(sent), sent == 0 ? "-" : timed(port["cnp_latency_ns"]["max"]));
    }
    if (rows.empty()) return rows;
    return fmt::format("\n{:<12}{:>10}{:>12}{:>10}{:>12}{:>10}{:>16}\n", "congestion", "CNPs in", "a second",
                       "CE in", "a second", "CNPs out", "longest wait") +
           rows;
}

// Classes that are configured to be lossless: what they are, who was paused, for how long, and how near the
// buffer came to its limits.
std::string lossless_table(const Json& ports) {
    std::string rows, waits;
    for (const auto& [name, port] : ports.items()) {
        const Json& pfc = port["pfc"];
        for (std::size_t n = 0; n < port["priority_groups"].size(); ++n) {
            const Json& group = port["priority_groups"][n];
            const auto sent = number(pfc["tx_xoff"][n]) + number(pfc["tx_xon"][n]);
            const auto got = number(pfc["rx_xoff"][n]) + number(pfc["rx_xon"][n]);
            if (group.contains("changing_since_ns")) {
                const Json& queue = group["waiting_queue"];
                waits += fmt::format(
                    "class {}.{} is changing since {}, waiting for {} cells{}\n", name, n,
                    timed(group["changing_since_ns"]), counted(group["waiting_cells"]),
                    queue.is_null() ? std::string() : ", most of them in queue " + queue.get<std::string>());
            } else if (!group["lossless"].get<bool>() || number(group["packets"]) + sent + got == 0) {
                continue;
            }
            rows +=
                fmt::format("{:<12}{:>6}{:>10}{:>14}{:>12}{:>14}{:>12}{:>14}{:>28}\n", name, n,
                            group["state"].get<std::string>(),
                            fmt::format("{}/{}", number(pfc["tx_xoff"][n]), number(pfc["tx_xon"][n])),
                            timed(pfc["tx_paused_ns"][n]),
                            fmt::format("{}/{}", number(pfc["rx_xoff"][n]), number(pfc["rx_xon"][n])),
                            timed(pfc["rx_paused_ns"][n]), sized(group["shared_watermark_bytes"]),
                            headroom_text(group["headroom_watermark_bytes"], group["headroom_size_bytes"]));
        }
    }
    if (rows.empty()) return rows;
    return fmt::format("\n{:<12}{:>6}{:>10}{:>14}{:>12}{:>14}{:>12}{:>14}{:>28}\n", "lossless", "class",
                       "state", "Tx XOFF/XON", "Tx paused", "Rx XOFF/XON", "Rx paused", "peak shared",
                       "peak headroom") +
           rows + waits;
}

// The rates and losses of the flows of simulated hosts.
std::string flow_table(const Json& flows) {
    std::string text;
    if (!flows.empty())
        text = fmt::format("\n{:<16}{:>10}{:>15}{:>12}{:>12}{:>12}{:>16}{:>9}{:>15}{:>12}\n", "flow",
                           "messages", "throughput", "median", "99 %", "longest", "slowdown, 99 %", "CNPs",
                           "retransmitted", "paused");
    for (const auto& [name, flow] : flows.items()) {
        const Json &times = flow["completion_ns"], &slowdown = flow["slowdown_permille"];
        const bool any = !times["max"].is_null();
        const auto took = [&](const char* which) {
            return any ? quantile_text(number(times[which]), number(times["max"])) : "-";
        };
        text += fmt::format("{:<16}{:>10}{:>15}{:>12}{:>12}{:>12}{:>16}{:>9}{:>15}{:>12}\n", name,
                            counted(flow["messages"]),
                            fmt::format("{:.3f} Gb/s", flow["throughput_bps"].get<double>() / 1e9),
                            took("p50"), took("p99"), any ? timed(times["max"]) : "-",
                            any ? quantile_ratio_text(number(slowdown["p99"]), number(slowdown["max"])) : "-",
                            counted(flow["cnp_received_packets"]), counted(flow["retransmitted_packets"]),
                            timed(flow["paused_ns"]));
    }
    return text + timeouts_text(flows);
}

// Queues in which there was a storm, or which were cut.
std::string watchdog_table(const Json& queues) {
    std::string rows;
    for (const Json& queue : queues) {
        const auto acted =
            number(queue["detected"]) + number(queue["total_passed"]) + number(queue["total_dropped"]);
        if (acted == 0) continue;
        rows += fmt::format("{:<12}{:>6}{:>14}{:>12}{:>14}{:>14}{:>14}\n", queue["port"].get<std::string>(),
                            number(queue["queue"]), queue["state"].get<std::string>(),
                            number(queue["detected"]), number(queue["restored"]),
                            counted(queue["total_passed"]), counted(queue["total_dropped"]));
    }
    if (rows.empty()) return rows;
    return fmt::format("\n{:<12}{:>6}{:>14}{:>12}{:>14}{:>14}{:>14}\n", "PFC watchdog", "queue", "state",
                       "storms", "ended", "passed", "dropped") +
           rows;
}

// When each storm was found and ended, out of the watchdog's events.
std::string storm_list(const Json& events) {
    std::string rows;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Json& found = events[i];
        if (found["kind"] != "watchdog_detected") continue;
        const auto ends = std::find_if(
            events.begin() + static_cast<std::ptrdiff_t>(i), events.end(), [&](const Json& event) {
                return event["kind"] == "watchdog_restored" && event["port"] == found["port"] &&
                       event["queue"] == found["queue"];
            });
        const bool ended = ends != events.end();
        const Json& last = ended ? *ends : found;
        const auto from = number(found["at_ns"]);
        rows += fmt::format("{:<12}{:>6}{:>14}{:>12}{:>14}{:>14}{:>14}\n", found["port"].get<std::string>(),
                            number(found["queue"]), time_text(from), ended ? timed(last["at_ns"]) : "runs on",
                            ended ? time_text(number(last["at_ns"]) - from) : "-",
                            ended ? counted(last["passed_packets"]) : "-",
                            ended ? counted(last["dropped_packets"]) : "-");
    }
    if (rows.empty()) return rows;
    return fmt::format("\n{:<12}{:>6}{:>14}{:>12}{:>14}{:>14}{:>14}\n", "storm", "queue", "found", "ended",
                       "in force", "passed", "dropped") +
           rows;
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
        const auto here = number(port["drops"]["watchdog_drop"]);
        append_item(came_in, ", ", fmt::format("{} that came in on {}", grouped_text(here), name));
    }
    if (came_in.empty()) return {};
    return fmt::format("\ndropped by the watchdog: {}\nlost beside them: {} of {} lossless packets\n",
                       came_in, grouped_text(others), grouped_text(all));
}

std::string pool_table(const Json& pools) {
    std::string text = fmt::format("\n{:<20}{:<9}{:>12}{:>12}{:>12}{:>28}\n", "pool", "", "size", "shared",
                                   "peak", "peak headroom");
    for (const auto& [name, pool] : pools.items())
        text += fmt::format("{:<20}{:<9}{:>12}{:>12}{:>12}{:>28}\n", name,
                            pool["direction"].get<std::string>(), sized(pool["size_bytes"]),
                            sized(pool["shared_bytes"]), sized(pool["watermark_bytes"]),
                            headroom_text(pool["headroom_watermark_bytes"], pool["headroom_size_bytes"]));
    return text;
}

std::string ecmp_table(const Json& groups) {
    if (groups.empty()) return {};
    std::string text = fmt::format("\n{:<20}{:<18}{:<8}{:>7}{:>14}{:>8}\n", "ECMP group", "via", "port",
                                   "weight", "packets", "share");
    for (const auto& [name, group] : groups.items()) {
        std::uint64_t total = 0;
        for (const Json& member : group["members"]) total += number(member["packets"]);
        std::string shown = name;
        for (const Json& member : group["members"]) {
            const auto packets = number(member["packets"]);
            const double share =
                total == 0 ? 0.0 : 100.0 * static_cast<double>(packets) / static_cast<double>(total);
            text += fmt::format("{:<20}{:<18}{:<8}{:>7}{:>14}{:>7.1f}%\n", shown,
                                member["via"].get<std::string>(), member["port"].get<std::string>(),
                                number(member["weight"]), grouped_text(packets), share);
            shown.clear();
        }
    }
    return text;
}

std::string ledger_line(const Json& ledger) {
    return fmt::format(
        "\nledger: {} rx + {} injected + {} generated = {} tx + {} dropped + {} punted + {} consumed + {} "
        "queued: {}\n",
        counted(ledger["rx"]), number(ledger["injected"]), number(ledger["generated"]), counted(ledger["tx"]),
        counted(ledger["dropped"]), number(ledger["punted"]), counted(ledger["consumed"]),
        counted(ledger["queued"]), ledger["balanced"].get<bool>() ? "balanced" : "NOT BALANCED");
}

std::string event_list(const Json& events) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(events.size(), most); ++i)
        text += fmt::format("{:>12}  {}\n", timed(events[i]["at_ns"]), events[i]["text"].get<std::string>());
    if (events.size() > most)
        text += fmt::format("{:>12}  {} more in the report\n", "...", events.size() - most);
    return text.empty() ? text : "\nevents\n" + text;
}

// Why packets were dropped or marked and senders paused, most first.
std::string why_table(const Json& decisions) {
    if (!decisions.contains("why")) return {};
    constexpr std::size_t most = 8;
    std::vector<const Json*> entries;
    for (const Json& entry : decisions["why"]) entries.push_back(&entry);
    // Losses first.
    std::stable_sort(entries.begin(), entries.end(), [](const Json* a, const Json* b) {
        const bool a_lost = (*a)["verdict"] == "dropped", b_lost = (*b)["verdict"] == "dropped";
        return a_lost != b_lost ? a_lost : number((*a)["count"]) > number((*b)["count"]);
    });
    std::string text;
    if (!entries.empty())
        text = fmt::format("\n{:<9}{:<22}{:<16}{:>8}  {}\n", "why", "", "at", "times", "first");
    for (std::size_t i = 0; i < std::min(entries.size(), most); ++i) {
        const Json& entry = *entries[i];
        const Json& first = entry["first"];
        std::string at = "port " + entry["port"].get<std::string>();
        for (const char* what : {"queue", "group"})
            if (entry.contains(what))
                at = fmt::format("{} {}.{}", what, entry["port"].get<std::string>(), number(entry[what]));
        const std::string packet =
            first.contains("sequence")
                ? fmt::format("{}#{} ", first["port"].get<std::string>(), number(first["sequence"]))
                : std::string{};
        text +=
            fmt::format("{:<9}{:<22}{:<16}{:>8}  {}at {}\n         {}\n", entry["verdict"].get<std::string>(),
                        entry["reason"].get<std::string>(), at, counted(entry["count"]), packet,
                        timed(first["at_ns"]), entry["sentence"].get<std::string>());
    }
    if (entries.size() > most)
        text += fmt::format("{:<9}{} more in the report\n", "...", entries.size() - most);
    if (number(decisions["lost"]) != 0)
        text += fmt::format("{:<9}{} events did not fit the ring and are missing\n", "decisions",
                            counted(decisions["lost"]));
    return text;
}

std::string microburst_table(const Json& report) {
    const Json& bursts = report["microbursts"];
    if (bursts.empty()) return {};
    constexpr std::size_t most = 8;
    std::vector<const Json*> entries;
    for (const Json& burst : bursts) entries.push_back(&burst);
    std::stable_sort(entries.begin(), entries.end(), [](const Json* a, const Json* b) {
        return number((*a)["peak_bytes"]) > number((*b)["peak_bytes"]);
    });
    std::string text = fmt::format("\n{:<12}{:>6}{:>12}{:>12}{:>12}{:>10}{:>10}  {}\n", "microburst", "queue",
                                   "at", "for", "peak", "marked", "dropped", "fed by");
    for (std::size_t i = 0; i < std::min(entries.size(), most); ++i) {
        const Json& burst = *entries[i];
        std::string fed_by;
        for (const Json& port : burst["fed_by"]) append_item(fed_by, " ", port.get<std::string>());
        text += fmt::format("{:<12}{:>6}{:>12}{:>12}{:>12}{:>10}{:>10}  {}\n",
                            burst["port"].get<std::string>(), number(burst["queue"]),
                            timed(burst["start_ns"]), timed(burst["length_ns"]), sized(burst["peak_bytes"]),
                            counted(burst["marked_packets"]), counted(burst["dropped_packets"]), fed_by);
    }
    if (const auto more =
            bursts.size() - std::min(entries.size(), most) + number(report["microbursts_left_out"]);
        more != 0)
        text += fmt::format("{:<12}{} more\n", "...", grouped_text(more));
    return text;
}

}  // namespace

std::string summarize(const Json& report) {
    return verdict_text(report) + port_table(report["ports"]) + slow_path_table(report["ports"]) +
           class_table(report["ports"]) + congestion_table(report["ports"]) +
           lossless_table(report["ports"]) + flow_table(report["flows"]) +
           watchdog_table(report["watchdog"]) + storm_list(report["events"]) + storm_cost(report) +
           pool_table(report["pools"]) + ecmp_table(report["ecmp"]) + microburst_table(report) +
           why_table(report["decisions"]) + event_list(report["events"]) + ledger_line(report["ledger"]);
}

}  // namespace sluice
