#include "control/fabric/scenario/sweep_folder.hh"

#include <algorithm>
#include <array>

#include "control/config/text/json_text.hh"
#include "control/fabric/goal/goal.hh"
#include "control/fabric/plan/variants.hh"
#include "control/report/figures/assertions.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// Figures that every run has, and that people see.
constexpr std::array usual_figures{"throughput_bps", "completion_p99_ns", "completion_max_ns", "xoff_sent",
                                   "lost_lossless_packets"};

std::uint64_t sum_over(const Json& list, const char* figure) {
    std::uint64_t sum = 0;
    for (const Json& each : list) sum += number(each[figure]);
    return sum;
}

// Null: no message has completed.
Json max_over(const Json& flows, const char* figure, const char* quantile) {
    Json most;
    for (const Json& each : flows)
        if (const Json& one = each[figure][quantile]; !one.is_null() && (most.is_null() || one > most))
            most = one;
    return most;
}

// The figures of every run, whatever it asserts.
Json figures_of(const Json& report) {
    std::uint64_t marked = 0, deepest = 0, xoff = 0, paused_ns = 0;
    for (const Json& device : report["switches"])
        for (const Json& port : device["ports"]) {
            xoff += sum_of(port["pfc"]["tx_xoff"]);
            paused_ns += sum_of(port["pfc"]["tx_paused_ns"]);
            for (const Json& queue : port["queues"]) {
                marked += number(queue["ecn_marked_packets"]);
                deepest = std::max(deepest, number(queue["deepest_bytes"]));
            }
        }
    const Json& flows = report["flows"];
    const Json& ledger = report["ledger"];
    Json figures = {{"end_ns", report["end_ns"]},
                    {"lossless", report["verdict"]["lossless"]},
                    {"lost_lossless_packets", report["verdict"]["lost_packets"]},
                    {"dropped_packets", ledger["dropped"]},
                    {"messages", sum_over(flows, "messages")},
                    {"failed_messages", sum_over(flows, "failed_messages")},
                    {"throughput_bps", sum_over(flows, "throughput_bps")},
                    {"completion_p50_ns", max_over(flows, "completion_ns", "p50")},
                    {"completion_p99_ns", max_over(flows, "completion_ns", "p99")},
                    {"completion_max_ns", max_over(flows, "completion_ns", "max")},
                    {"slowdown_p99_permille", max_over(flows, "slowdown_permille", "p99")},
                    {"retransmitted_packets", sum_over(flows, "retransmitted_packets")},
                    {"cnp_packets", sum_over(flows, "cnp_received_packets")},
                    {"marked_packets", marked},
                    {"deepest_queue_bytes", deepest},
                    {"xoff_sent", xoff},
                    {"paused_ns", paused_ns}};
    for (const Json& each : report["collectives"]) {
        const std::string name = "collectives." + each["name"].get<std::string>() + ".";
        figures[name + "steps"] = each["steps"];
        figures[name + "step_p50_ns"] = each["step_ns"]["p50"];
        figures[name + "step_max_ns"] = each["step_ns"]["max"];
        figures[name + "bus_bandwidth_bps"] = each["bus_bandwidth_bps"];
    }
    for (const Json& each : report["schedules"]) {
        const std::string name = "schedules." + each["name"].get<std::string>() + ".";
        for (const char* figure : {"completion_ns", "compute_ns", "exposed_ns", "hidden_ns"})
            figures[name + figure] = each[figure];
    }
    for (const auto& [job, each] : report["jobs"].items()) {
        if (!each["placed"].get<bool>()) continue;
        const std::string name = "jobs." + job + ".";
        figures[name + "step_p50_ns"] = each["step_ns"]["p50"];
        figures[name + "step_max_ns"] = each["step_ns"]["max"];
        figures[name + "completion_ns"] = each["completion_ns"];
        figures[name + "exposed_ns"] = each["exposed_ns"];
        figures[name + "bus_bandwidth_bps"] = each["bus_bandwidth_bps"];
        if (each.contains("lost_permille")) figures[name + "lost_permille"] = each["lost_permille"];
    }
    return figures;
}

std::string csv_cell(const Json& value) {
    if (value.is_null()) return {};
    std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
    // A spreadsheet would take it for a formula; a number is none.
    if (value.is_string() && !text.empty() &&
        std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos &&
        !Json::parse(text, nullptr, false).is_number())
        text.insert(0, "'");
    if (text.find_first_of(",\"\n\r") == text.npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

// Columns of a row by their heading.
std::vector<std::pair<std::string, Json>> columns_of(const Json& row) {
    std::vector<std::pair<std::string, Json>> columns{{"run", row["run"]}};
    for (const auto& [path, value] : row["values"].items()) columns.emplace_back(path, value);
    columns.emplace_back("seed", row["seed"]);
    columns.emplace_back("met", row["met"]);
    for (const auto& [name, value] : row["figures"].items()) columns.emplace_back(name, value);
    for (const Json& each : row["asserts"]) {
        const std::string that = entry_text(each);
        columns.emplace_back("holds: " + that, each["met"]);
        columns.emplace_back("figure: " + that, each["value"]);
    }
    if (const auto goal = row.find("goal"); goal != row.end()) {
        for (const Json& each : (*goal)["keep"])
            columns.emplace_back("keep: " + entry_text(each), each["met"]);
        for (const Json& each : (*goal)["least"])
            columns.emplace_back("least: " + entry_text(each), each["value"]);
    }
    columns.emplace_back("error", row["error"]);
    return columns;
}

}  // namespace

bool RowHead::is_of(const Json& row) const {
    if (row.is_null()) return false;
    const auto own = row.find("trial");
    const bool same_trial = own == row.end() ? trial.empty() : *own == trial;
    return same_trial && row["run"] == run && row["seed"] == seed && row["values"] == values;
}

Json make_row(const RowHead& head, const std::string& mark, const tl::expected<Json, std::string>& report) {
    Json row = {{"run", head.run},
                {"version", SLUICE_VERSION},
                {"fingerprint", mark},
                {"seed", head.seed},
                {"values", head.values},
                {"met", report && all_met((*report)["asserts"])},
                {"figures", report ? figures_of(*report) : Json::object()},
                {"asserts", Json::array()},
                {"error", report ? Json() : Json(report.error())}};
    if (!head.trial.empty()) row["trial"] = head.trial;
    if (head.counts_packets) row["packets"] = report ? (*report)["ledger"]["sent"] : Json(0);
    if (!report) return row;
    for (const Json& each : (*report)["asserts"])
        row["asserts"].push_back({{"that", each["that"]},
                                  {"phase", each["phase"]},
                                  {"value", each["value"]},
                                  {"met", each["met"]}});
    if (const auto goal = report->find("goal"); goal != report->end()) row["goal"] = *goal;
    return row;
}

const JsonShape& shape_of_row() {
    static const JsonShape shape{{"run", part::count},
                                 {"fingerprint", part::text},
                                 {"seed", part::count},
                                 {"values.*", part::scalar},
                                 {"met", part::flag},
                                 {"figures.throughput_bps?", part::number},
                                 {"figures.completion_p99_ns?", part::count | part::null},
                                 {"figures.completion_max_ns?", part::count | part::null},
                                 {"figures.xoff_sent?", part::count},
                                 {"figures.lost_lossless_packets?", part::count},
                                 {"figures.*", part::number | part::flag | part::null},
                                 {"asserts.#.that", part::text},
                                 {"asserts.#.phase", part::text | part::null},
                                 {"asserts.#.value", part::scalar},
                                 {"asserts.#.met", part::flag | part::null},
                                 {"goal?.keep.#.that", part::text},
                                 {"goal?.keep.#.phase", part::text | part::null},
                                 {"goal?.keep.#.value", part::scalar},
                                 {"goal?.keep.#.met", part::flag | part::null},
                                 {"goal?.keep.#.where", part::text},
                                 {"goal?.keep.#.wrong", part::text},
                                 {"goal?.least.#.that", part::text},
                                 {"goal?.least.#.phase", part::text | part::null},
                                 {"goal?.least.#.value", part::scalar},
                                 {"goal?.least.#.met", part::flag | part::null},
                                 {"goal?.least.#.where", part::text},
                                 {"goal?.least.#.wrong", part::text},
                                 {"error", part::text | part::null},
                                 {"trial?", part::text},
                                 {"packets?", part::count},
                                 {"*", part::any}};
    return shape;
}

std::string figure_missing(const Json& row) {
    if (!row["error"].is_null()) return {};
    for (const char* name : usual_figures)
        if (!row["figures"].contains(name)) return name;
    return {};
}

std::string jsonl_text(const std::vector<Json>& rows) {
    std::string text;
    for (const Json& row : rows) text += json_text(row) + "\n";
    return text;
}

std::string csv_text(const std::vector<Json>& rows) {
    // A run without a report has no figures: the fullest row names the columns.
    std::vector<std::string> headings;
    for (const Json& row : rows) {
        const auto columns = columns_of(row);
        if (columns.size() <= headings.size()) continue;
        headings.clear();
        for (const auto& [heading, value] : columns) headings.push_back(heading);
    }
    // Variants have assertions of their own, and perhaps other collectives; `error` stays the last column.
    for (const Json& row : rows)
        if (row["values"].contains(variant_path))
            for (const auto& [heading, value] : columns_of(row))
                if (std::ranges::find(headings, heading) == headings.end())
                    headings.insert(headings.end() - 1, heading);
    std::string text;
    for (std::size_t n = 0; n < headings.size(); ++n) text += (n == 0 ? "" : ",") + csv_cell(headings[n]);
    text += "\n";
    for (const Json& row : rows) {
        const auto columns = columns_of(row);
        for (std::size_t n = 0; n < headings.size(); ++n) {
            const auto found = std::ranges::find_if(
                columns, [&](const auto& column) { return column.first == headings[n]; });
            text += (n == 0 ? "" : ",") + (found == columns.end() ? std::string() : csv_cell(found->second));
        }
        text += "\n";
    }
    return text;
}

}  // namespace sluice::fabric
