#include "tools/fabric/scenario/rows.hh"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "control/config/schema.hh"
#include "control/text/json_text.hh"
#include "lib/rng.hh"
#include "tools/fabric/scenario/asserts.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t sum_over(const Json& list, const char* figure) {
    std::uint64_t sum = 0;
    for (const Json& each : list) sum += each[figure].get<std::uint64_t>();
    return sum;
}

// Null: no message has completed.
Json most_over(const Json& flows, const char* figure, const char* quantile) {
    Json most;
    for (const Json& each : flows)
        if (const Json& one = each[figure][quantile]; !one.is_null() && (most.is_null() || one > most))
            most = one;
    return most;
}

// What every run is judged by, whatever it asserts.
Json figures_of(const Json& report) {
    std::uint64_t marked = 0, deepest = 0, xoff = 0, paused_ns = 0;
    for (const Json& device : report["switches"])
        for (const Json& port : device["ports"]) {
            for (const Json& count : port["pfc"]["tx_xoff"]) xoff += count.get<std::uint64_t>();
            for (const Json& time : port["pfc"]["tx_paused_ns"]) paused_ns += time.get<std::uint64_t>();
            for (const Json& queue : port["queues"]) {
                marked += queue["ecn_marked_packets"].get<std::uint64_t>();
                deepest = std::max(deepest, queue["deepest_bytes"].get<std::uint64_t>());
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
                    {"completion_p50_ns", most_over(flows, "completion_ns", "p50")},
                    {"completion_p99_ns", most_over(flows, "completion_ns", "p99")},
                    {"completion_max_ns", most_over(flows, "completion_ns", "max")},
                    {"slowdown_p99_permille", most_over(flows, "slowdown_permille", "p99")},
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
    return figures;
}

Json begin_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary, const std::string& mark) {
    Json row = {{"run", run}, {"fingerprint", mark}, {"seed", point.seed}, {"values", Json::object()}};
    for (std::size_t n = 0; n < point.values.size(); ++n)
        row["values"][vary.axes[n].path] = plain(point.values[n]);
    return row;
}

std::string csv_cell(const Json& value) {
    if (value.is_null()) return {};
    std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
    if (text.find_first_of(",\"\n") == text.npos) return text;
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
        std::string that = each["that"].get<std::string>();
        if (!each["phase"].is_null()) that += " in " + each["phase"].get<std::string>();
        columns.emplace_back("holds: " + that, each["met"]);
        columns.emplace_back("figure: " + that, each["value"]);
    }
    columns.emplace_back("error", row["error"]);
    return columns;
}

}  // namespace

std::string fingerprint(std::string_view text, const std::vector<std::string>& sets) {
    std::uint64_t mark = 0;
    const auto add = [&](std::string_view bytes) {
        for (const char c : bytes) mark = scramble(mark ^ static_cast<unsigned char>(c));
        mark = scramble(mark + bytes.size());
    };
    add(text);
    for (const std::string& set : sets) add(set);
    return fmt::format("{:016x}", mark);
}

Json make_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary, const std::string& mark,
              const Json& report) {
    Json row = begin_row(run, point, vary, mark);
    row["met"] = all_met(report["asserts"]);
    row["figures"] = figures_of(report);
    row["asserts"] = Json::array();
    for (const Json& each : report["asserts"])
        row["asserts"].push_back({{"that", each["that"]},
                                  {"phase", each["phase"]},
                                  {"value", each["value"]},
                                  {"met", each["met"]}});
    row["error"] = nullptr;
    return row;
}

Json error_row(std::size_t run, const SweepPoint& point, const VaryConfig& vary, const std::string& mark,
               const std::string& error) {
    Json row = begin_row(run, point, vary, mark);
    row["met"] = false;
    row["figures"] = Json::object();
    row["asserts"] = Json::array();
    row["error"] = error;
    return row;
}

std::string row_file(const std::string& folder, std::size_t run) {
    return fmt::format("{}/runs/{:06}.json", folder, run);
}

Json load_row(const std::string& folder, std::size_t run) {
    const auto text = read_config_file(row_file(folder, run));
    if (!text) return nullptr;
    Json row = Json::parse(*text, nullptr, false);
    return row.is_object() && row.contains("run") && row.contains("fingerprint") && row.contains("asserts")
               ? row
               : nullptr;
}

tl::expected<std::vector<Json>, std::string> load_rows(const std::string& folder) {
    std::vector<Json> rows;
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator entry(folder + "/runs", error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == ".json") names.push_back(entry->path().stem().string());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        Json row = load_row(folder, static_cast<std::size_t>(std::strtoull(name.c_str(), nullptr, 10)));
        if (row.is_null())
            return tl::unexpected(fmt::format("{}/runs/{}.json is no row of a sweep", folder, name));
        rows.push_back(std::move(row));
    }
    if (!rows.empty()) return rows;
    const auto text = read_config_file(folder + "/sweep.jsonl");
    if (!text) return tl::unexpected(folder + " has neither runs nor sweep.jsonl");
    std::size_t at = 0;
    while (at < text->size()) {
        const std::size_t end = std::min(text->find('\n', at), text->size());
        Json row = Json::parse(text->substr(at, end - at), nullptr, false);
        if (!row.is_object() || !row.contains("run") || !row.contains("figures"))
            return tl::unexpected(folder + "/sweep.jsonl has a line that is no row");
        rows.push_back(std::move(row));
        at = end + 1;
    }
    return rows;
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
    std::string text;
    for (std::size_t n = 0; n < headings.size(); ++n) text += (n == 0 ? "" : ",") + csv_cell(headings[n]);
    text += "\n";
    for (const Json& row : rows) {
        const auto columns = columns_of(row);
        for (std::size_t n = 0; n < headings.size(); ++n) {
            const auto found = std::find_if(columns.begin(), columns.end(),
                                            [&](const auto& column) { return column.first == headings[n]; });
            text += (n == 0 ? "" : ",") + (found == columns.end() ? std::string() : csv_cell(found->second));
        }
        text += "\n";
    }
    return text;
}

}  // namespace sluice::fabric
