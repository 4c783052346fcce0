#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/report/job_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/report/schedule_report.hh"
#include "control/fabric/report/size_report.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/summary.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_rows = 10;  // of flows and links
constexpr std::size_t max_lines = 8;  // of any other list

std::string gigabits_text(const Json& bits) { return fmt::format("{:.2f} Gb/s", bits.get<double>() / 1e9); }

std::string left_out_text(std::size_t lines) {
    return lines == 0 ? std::string() : fmt::format("  and {} more (report)\n", lines);
}

// The first lines of a list, and how many more the report has.
std::string bounded(const std::vector<std::string>& lines) {
    std::string text;
    for (std::size_t n = 0; n < std::min(lines.size(), max_lines); ++n) text += lines[n] + "\n";
    return text + left_out_text(lines.size() - std::min(lines.size(), max_lines));
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
    std::uint64_t lost = 0;
    for (const char* fate :
         {"dropped", "missed", "overrun", "lost_on_wire", "lost_into_cut", "lost_by_fault"})
        lost += number(ledger[fate]);
    std::uint64_t sent = 0, received = 0;  // without PFC
    for (const Json& host : report["hosts"]) {
        sent += number(host["sent_packets"]);
        received += number(host["received_packets"]);
    }
    std::string text = fmt::format(
        "{} packets sent by hosts, {} received, {} frames lost, {} under way, in {} of virtual time\n",
        grouped_text(sent), grouped_text(received), grouped_text(lost),
        grouped_text(number(ledger["queued"]) + number(ledger["on_wire"])), timed(report["end_ns"]));
    const Json& verdict = report["verdict"];
    if (verdict["interrupted"].get<bool>())
        text += "INTERRUPTED before the end: this is of the time until then\n";
    text += words(verdict["headline"]) + "\n";
    std::vector<std::string> places;
    for (const auto& [place, lost_there] : ledger["dropped_by"].items()) {
        std::string list;
        for (const auto& [reason, frames] : lost_there.items())
            append_item(list, ", ", fmt::format("{} {}", reason, counted(frames)));
        places.push_back(fmt::format("  lost at {}: {}", place, list));
    }
    std::vector<std::string> reasons;
    for (const Json& reason : verdict["reasons"]) reasons.push_back("  " + words(reason));
    return text + bounded(places) + bounded(reasons);
}

// A row for each tier, from the leaves up.
std::string tier_table(const Json& report) {
    struct Tier {
        std::size_t nodes = 0;
        std::uint64_t in = 0, out = 0, dropped = 0, marked = 0, xoff = 0, deepest = 0;
    };
    std::map<std::uint64_t, Tier> tiers;
    for (const Json& device : report["switches"]) {
        Tier& tier = tiers[number(device["tier"])];
        ++tier.nodes;
        tier.in += number(device["ledger"]["rx"]);
        tier.out += number(device["ledger"]["tx"]);
        tier.dropped += number(device["ledger"]["dropped"]);
        for (const Json& port : device["ports"]) {
            tier.xoff += sum_of(port["pfc"]["tx_xoff"]);
            for (const Json& queue : port["queues"]) {
                tier.marked += number(queue["ecn_marked_packets"]);
                tier.deepest = std::max(tier.deepest, number(queue["deepest_bytes"]));
            }
        }
    }
    TextTable table("tier<8|switches>10|in>16|out>16|dropped>10|marked>12|XOFF sent>12|deepest queue>16");
    for (const auto& [tier, row] : tiers)
        table.row({std::to_string(tier), std::to_string(row.nodes), grouped_text(row.in),
                   grouped_text(row.out), grouped_text(row.dropped), grouped_text(row.marked),
                   grouped_text(row.xoff), size_text(row.deepest)});
    return table.text();
}

std::string flow_table(const Json& flows) {
    TextTable table(fmt::format("{}<20|throughput>14|messages>12|p50>12|p99>12|slowdown>10|CNPs>8|"
                                "resent>10|paused>12",
                                flows.size() > max_rows ? "slowest flows" : "flow"),
                    max_rows);
    const auto slowness = [](const Json& flow) {
        const Json& slowdown = flow["slowdown_permille"]["p99"];
        return slowdown.is_null() ? 0 : number(slowdown);
    };
    for (const Json* flow : largest_first(flows, slowness)) {
        const Json &times = (*flow)["completion_ns"], &slowdown = (*flow)["slowdown_permille"];
        table.row({words((*flow)["name"]), gigabits_text((*flow)["throughput_bps"]),
                   counted((*flow)["messages"]), quantile_cell(times, "p50"), quantile_cell(times, "p99"),
                   times["max"].is_null()
                       ? "-"
                       : quantile_ratio_text(number(slowdown["p99"]), number(slowdown["max"])),
                   counted((*flow)["cnp_received_packets"]), counted((*flow)["retransmitted_packets"]),
                   timed((*flow)["paused_ns"])});
    }
    const std::string all =
        table.left_out() == 0 ? "" : fmt::format("({} flows in all)\n", grouped_text(flows.size()));
    return table.text() + all + timeouts_text(flows);
}

// Directions by load, and how evenly those between the same two tiers are loaded.
std::string link_table(const Json& report) {
    Json all = Json::array();
    std::map<std::string, std::vector<double>> between;
    const auto tier_of = [&](const Json& name) {
        const auto found = report["switches"].find(words(name));
        return found == report["switches"].end() ? std::string()
                                                 : fmt::format("tier {}", number((*found)["tier"]));
    };
    for (const Json& link : report["links"])
        for (const Json& each : link["directions"]) {
            all.push_back(each);
            const std::string from = tier_of(each["from"]), to = tier_of(each["to"]);
            if (!from.empty() && !to.empty())
                between[from + " > " + to].push_back(each["load_ppm"].get<double>());
        }
    TextTable tiers("between<20|links>8|mean load>12|max load>12|max over mean>16|Jain>8");
    for (const auto& [name, loads] : between) {
        const double most = fold(FigureFunction::max, loads);
        const auto evenness = [&](FigureFunction function, int digits) {
            return most == 0 ? "-" : fmt::format("{:.{}f}", fold(function, loads), digits);
        };
        tiers.row({name, std::to_string(loads.size()), percent(fold(FigureFunction::mean, loads)),
                   percent(most), evenness(FigureFunction::imbalance, 2), evenness(FigureFunction::jain, 3)});
    }
    TextTable busiest("busiest links<28|load>8|paused>12", max_rows);
    const auto load_of = [](const Json& direction) { return number(direction["load_ppm"]); };
    for (const Json* each : largest_first(all, load_of))
        if (load_of(*each) != 0)
            busiest.row({fmt::format("{} > {}", words((*each)["from"]), words((*each)["to"])),
                         percent((*each)["load_ppm"].get<double>()),
                         time_text(sum_of((*each)["paused_ns"]))});
    return tiers.text() + busiest.text();
}

// The most uneven groups among which switches choose by hash.
std::string balance_table(const Json& balance) {
    TextTable table("ECMP of<12|among<28|mean load>12|max over mean>16|Jain>8", max_lines);
    for (const Json& group : balance) {
        if (group["jain_permille"].is_null()) continue;
        const std::string self = words(group["switch"]);
        std::vector<std::string> to;
        for (const Json& link : group["links"]) {
            const std::string name = words(link);
            to.push_back(name.starts_with(self + "-") ? name.substr(self.size() + 1) : name);
        }
        table.row({self, names_text(to), percent(group["mean_load_ppm"].get<double>()),
                   fmt::format("{:.2f}", group["max_over_mean_permille"].get<double>() / 1e3),
                   fmt::format("{:.3f}", group["jain_permille"].get<double>() / 1e3)});
    }
    return table.text() + left_out_text(table.left_out());
}

}  // namespace

std::string summarise(const Json& report) {
    std::string text = verdict_text(report) + tier_table(report) + job_table(report["jobs"]) +
                       collective_table(report["collectives"]) + schedule_table(report["schedules"]) +
                       flow_table(report["flows"]) + size_table(report["message_sizes"]) +
                       link_table(report) + balance_table(report["balance"]);
    std::vector<std::string> pauses;
    std::istringstream why(why_text(report["pause_trees"], {}));
    for (std::string line; std::getline(why, line);) pauses.push_back(line);
    if (!pauses.empty()) text += "\npauses\n" + bounded(pauses);
    text += symptoms_text(report["hosts"]);
    std::vector<std::string> events;
    for (const Json& event : report["events"])
        events.push_back(
            fmt::format("{:>12}  {}: {}", timed(event["at_ns"]), words(event["kind"]), words(event["text"])));
    return events.empty() ? text : text + "\nevents\n" + bounded(events);
}

}  // namespace sluice::fabric
