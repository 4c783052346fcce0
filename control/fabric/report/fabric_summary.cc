#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/run/pause_words.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/summary.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_flows_told = 10;
constexpr std::size_t max_links_told = 10;
constexpr std::size_t max_lines = 8;  // of any other list

std::uint64_t count(const Json& json) { return json.get<std::uint64_t>(); }

std::string time_text(std::uint64_t ns) { return text_of_time(static_cast<std::int64_t>(ns)); }

std::string gigabits_text(const Json& bits) {
    return fmt::format("{:.2f} Gb/s", static_cast<double>(count(bits)) / 1e9);
}

// The first lines of a list, and how many more the report has.
std::string bounded(const std::vector<std::string>& lines) {
    std::string text;
    for (std::size_t n = 0; n < std::min(lines.size(), max_lines); ++n) text += lines[n] + "\n";
    if (lines.size() > max_lines) text += fmt::format("  and {} more (report)\n", lines.size() - max_lines);
    return text;
}

// "h1..h4, h7": runs of numbers, in the order given.
std::string names_text(const std::vector<std::string>& names) {
    constexpr std::size_t max_runs = 4;
    const auto split = [](const std::string& name) {
        const std::size_t digits = name.find_last_not_of("0123456789") + 1;
        const bool numbered = digits < name.size() && name.size() - digits < 9;
        return std::pair(name.substr(0, digits), numbered ? std::stoul(name.substr(digits)) : 0);
    };
    std::string text;
    std::size_t runs = 0;
    for (std::size_t n = 0; n < names.size();) {
        std::size_t last = n;
        const auto [prefix, first] = split(names[n]);
        while (last + 1 < names.size() && first != 0 &&
               split(names[last + 1]) == std::pair(prefix, first + (last + 1 - n)))
            ++last;
        if (++runs > max_runs) return text + fmt::format(" and {} more", names.size() - n);
        append_item(text, ", ",
                    last == n ? names[n] : names[n] + (last == n + 1 ? ", " : "..") + names[last]);
        n = last + 1;
    }
    return text;
}

// Hosts with the same symptom share a line: the same but for figures, of which the first host's are shown.
std::string symptoms_text(const Json& hosts) {
    struct Symptom {
        std::string first;
        std::vector<std::string> names;
    };
    std::map<std::string, Symptom> symptoms;
    for (const auto& [name, host] : hosts.items())
        for (const Json& each : host["symptoms"]) {
            auto text = each.get<std::string>();
            std::string kind;
            for (const char c : text)
                if (c < '0' || c > '9') kind += c;
            Symptom& symptom = symptoms[kind];
            if (symptom.names.empty()) symptom.first = std::move(text);
            symptom.names.push_back(name);
        }
    std::vector<std::string> lines;
    for (const auto& [kind, symptom] : symptoms)
        lines.push_back(fmt::format("SYMPTOM: {}: {}{}", names_text(symptom.names), symptom.first,
                                    symptom.names.size() > 1 ? " (figures of the first)" : ""));
    return lines.empty() ? std::string() : "\n" + bounded(lines);
}

std::string verdict_text(const Json& report) {
    const Json& ledger = report["ledger"];
    const std::uint64_t lost = count(ledger["dropped"]) + count(ledger["missed"]) + count(ledger["overrun"]) +
                               count(ledger["lost_on_wire"]) + count(ledger["lost_into_cut"]) +
                               count(ledger["lost_by_fault"]);
    std::uint64_t sent = 0, received = 0;  // without PFC
    for (const Json& host : report["hosts"]) {
        sent += count(host["sent_packets"]);
        received += count(host["received_packets"]);
    }
    std::string text = fmt::format(
        "{} packets sent by hosts, {} received, {} frames lost, {} under way, in {} of virtual time\n",
        grouped_text(sent), grouped_text(received), grouped_text(lost),
        grouped_text(count(ledger["queued"]) + count(ledger["on_wire"])), time_text(count(report["end_ns"])));
    const Json& verdict = report["verdict"];
    if (verdict["interrupted"].get<bool>())
        text += "INTERRUPTED before the end: this is of the time until then\n";
    text += verdict["headline"].get<std::string>() + "\n";
    std::vector<std::string> places;
    for (const auto& [place, lost_there] : ledger["dropped_by"].items()) {
        std::string list;
        for (const auto& [reason, frames] : lost_there.items())
            append_item(list, ", ", fmt::format("{} {}", reason, grouped_text(count(frames))));
        places.push_back(fmt::format("  lost at {}: {}", place, list));
    }
    std::vector<std::string> reasons;
    for (const Json& reason : verdict["reasons"]) reasons.push_back("  " + reason.get<std::string>());
    return text + bounded(places) + bounded(reasons);
}

std::uint64_t sum_of(const Json& object) {
    std::uint64_t sum = 0;
    for (const Json& each : object) sum += count(each);
    return sum;
}

// A row for each tier: hosts, then switches from the leaves up.
std::string tier_table(const Json& report) {
    struct Tier {
        std::size_t nodes = 0;
        std::uint64_t in = 0, out = 0, dropped = 0, marked = 0, xoff = 0, deepest = 0;
    };
    std::map<std::uint64_t, Tier> tiers;
    for (const Json& device : report["switches"]) {
        Tier& tier = tiers[count(device["tier"])];
        ++tier.nodes;
        tier.in += count(device["ledger"]["rx"]);
        tier.out += count(device["ledger"]["tx"]);
        tier.dropped += count(device["ledger"]["dropped"]);
        for (const Json& port : device["ports"]) {
            tier.xoff += sum_of(port["pfc"]["tx_xoff"]);
            for (const Json& queue : port["queues"]) {
                tier.marked += count(queue["ecn_marked_packets"]);
                tier.deepest = std::max(tier.deepest, count(queue["deepest_bytes"]));
            }
        }
    }
    std::string text = fmt::format("\n{:<8}{:>10}{:>16}{:>16}{:>10}{:>12}{:>12}{:>16}\n", "tier", "switches",
                                   "in", "out", "dropped", "marked", "XOFF sent", "deepest queue");
    for (const auto& [tier, row] : tiers)
        text += fmt::format("{:<8}{:>10}{:>16}{:>16}{:>10}{:>12}{:>12}{:>16}\n", tier, row.nodes,
                            grouped_text(row.in), grouped_text(row.out), grouped_text(row.dropped),
                            grouped_text(row.marked), grouped_text(row.xoff),
                            fmt::format("{:.1f} KB", static_cast<double>(row.deepest) / 1e3));
    return text;
}

std::string flow_table(const Json& flows) {
    std::vector<const Json*> sorted;
    for (const Json& flow : flows) sorted.push_back(&flow);
    const auto worst = [](const Json* a, const Json* b) {
        const Json &slow = (*a)["slowdown_permille"]["p99"], &other = (*b)["slowdown_permille"]["p99"];
        return (slow.is_null() ? 0 : count(slow)) > (other.is_null() ? 0 : count(other));
    };
    std::stable_sort(sorted.begin(), sorted.end(), worst);
    if (sorted.empty()) return {};
    std::string text = fmt::format("\n{:<20}{:>14}{:>12}{:>12}{:>12}{:>10}{:>8}{:>10}{:>12}\n",
                                   sorted.size() > max_flows_told ? "slowest flows" : "flow", "throughput",
                                   "messages", "p50", "p99", "slowdown", "CNPs", "resent", "paused");
    for (std::size_t n = 0; n < std::min(sorted.size(), max_flows_told); ++n) {
        const Json& flow = *sorted[n];
        const Json &times = flow["completion_ns"], &slowdown = flow["slowdown_permille"];
        const bool any = !times["max"].is_null();
        text += fmt::format(
            "{:<20}{:>14}{:>12}{:>12}{:>12}{:>10}{:>8}{:>10}{:>12}\n", flow["name"].get<std::string>(),
            gigabits_text(flow["throughput_bps"]), grouped_text(count(flow["messages"])),
            any ? quantile_text(count(times["p50"]), count(times["max"])) : "-",
            any ? quantile_text(count(times["p99"]), count(times["max"])) : "-",
            any ? quantile_ratio_text(count(slowdown["p99"]), count(slowdown["max"])) : "-",
            grouped_text(count(flow["cnp_received_packets"])),
            grouped_text(count(flow["retransmitted_packets"])), time_text(count(flow["paused_ns"])));
    }
    if (sorted.size() > max_flows_told) text += fmt::format("({} flows in all)\n", sorted.size());
    return text + timeouts_text(flows);
}

// Directions by load, and how evenly those between the same two tiers are loaded.
std::string link_table(const Json& report) {
    struct Direction {
        std::string name;
        std::uint64_t load;
        std::uint64_t paused;
    };
    std::vector<Direction> all;
    std::map<std::string, std::vector<double>> between;
    const auto tier_of = [&](const Json& name) {
        const auto found = report["switches"].find(name.get<std::string>());
        return found == report["switches"].end() ? std::string("hosts")
                                                 : fmt::format("tier {}", count((*found)["tier"]));
    };
    for (const Json& link : report["links"])
        for (const Json& each : link["directions"]) {
            all.push_back(
                {fmt::format("{} > {}", each["from"].get<std::string>(), each["to"].get<std::string>()),
                 count(each["load_ppm"]), sum_of(each["paused_ns"])});
            const std::string from = tier_of(each["from"]), to = tier_of(each["to"]);
            if (from != "hosts" && to != "hosts")
                between[fmt::format("{} > {}", from, to)].push_back(
                    static_cast<double>(count(each["load_ppm"])));
        }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.load > b.load; });
    std::string text;
    if (!between.empty()) {
        text += fmt::format("\n{:<20}{:>8}{:>12}{:>12}{:>16}{:>8}\n", "between", "links", "mean load",
                            "max load", "max over mean", "Jain");
        for (const auto& [name, loads] : between) {
            const double most = fold(FigureFunction::max, loads);
            const auto evenness = [&](FigureFunction function, int digits) {
                return most == 0 ? "-" : fmt::format("{:.{}f}", fold(function, loads), digits);
            };
            text += fmt::format("{:<20}{:>8}{:>11.1f}%{:>11.1f}%{:>16}{:>8}\n", name, loads.size(),
                                fold(FigureFunction::mean, loads) / 1e4, most / 1e4,
                                evenness(FigureFunction::imbalance, 2), evenness(FigureFunction::jain, 3));
        }
    }
    text += fmt::format("\n{:<28}{:>8}{:>12}\n", "busiest links", "load", "paused");
    for (std::size_t n = 0; n < std::min(all.size(), max_links_told) && all[n].load != 0; ++n)
        text += fmt::format("{:<28}{:>7.1f}%{:>12}\n", all[n].name, static_cast<double>(all[n].load) / 1e4,
                            time_text(all[n].paused));
    return text;
}

// The most uneven groups among which switches choose by hash.
std::string balance_table(const Json& balance) {
    std::vector<std::string> lines;
    for (const Json& group : balance) {
        if (group["jain_permille"].is_null()) continue;
        std::vector<std::string> to;
        for (const Json& link : group["links"]) {
            const auto name = link.get<std::string>();
            const auto self = group["switch"].get<std::string>();
            to.push_back(name.starts_with(self + "-") ? name.substr(self.size() + 1) : name);
        }
        lines.push_back(fmt::format("{:<12}{:<28}{:>11.1f}%{:>16.2f}{:>8.3f}",
                                    group["switch"].get<std::string>(), names_text(to),
                                    static_cast<double>(count(group["mean_load_ppm"])) / 1e4,
                                    static_cast<double>(count(group["max_over_mean_permille"])) / 1e3,
                                    static_cast<double>(count(group["jain_permille"])) / 1e3));
    }
    if (lines.empty()) return {};
    return fmt::format("\n{:<12}{:<28}{:>12}{:>16}{:>8}\n", "ECMP of", "among", "mean load", "max over mean",
                       "Jain") +
           bounded(lines);
}

}  // namespace

std::string summarise(const Json& report) {
    std::string text = verdict_text(report) + tier_table(report) + collective_table(report["collectives"]) +
                       flow_table(report["flows"]) + link_table(report) + balance_table(report["balance"]);
    std::vector<std::string> pauses;
    std::istringstream why(why_text(report["pause_trees"], {}));
    for (std::string line; std::getline(why, line);) pauses.push_back(line);
    if (!pauses.empty()) text += "\npauses\n" + bounded(pauses);
    text += symptoms_text(report["hosts"]);
    std::vector<std::string> events;
    for (const Json& event : report["events"])
        events.push_back(fmt::format("{:>12}  {}: {}", time_text(count(event["at_ns"])),
                                     event["kind"].get<std::string>(), event["text"].get<std::string>()));
    return events.empty() ? text : text + "\nevents\n" + bounded(events);
}

}  // namespace sluice::fabric
