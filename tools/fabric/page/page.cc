#include "tools/fabric/page/page.hh"

#include <fmt/format.h>

#include <utility>

#include "control/fabric/report/pause_report.hh"
#include "control/report/page/one_file.hh"
#include "control/report/page/page_files.hh"
#include "tools/fabric/page/page_files.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

std::string page_of(const std::string& title, const std::string& verdict, const Json& data) {
    return one_file_page(title, verdict, data,
                         {sluice::page_files::dom_js, sluice::page_files::chart_js, page_files::run_js,
                          page_files::run_charts_js, page_files::sweep_js, page_files::main_js});
}

Json members(const Json& of, std::initializer_list<const char*> names) {
    Json made = Json::object();
    for (const char* name : names)
        if (of.contains(name)) made[name] = of.at(name);
    return made;
}

// Queues that sent or held something; `depth` is the figure's name there. What a phase leaves out is zero.
Json queues_of(const Json& switches, const char* depth) {
    Json queues = Json::array();
    for (const auto& [device, figures] : switches.items())
        for (const auto& [port, one] : figures.at("ports").items()) {
            const auto list = one.find("queues");
            for (std::size_t n = 0; list != one.end() && n < list->size(); ++n) {
                const auto figure = [&](const char* name) {
                    return list->at(n).value(name, std::uint64_t{0});
                };
                const std::uint64_t sent = figure("tx_packets"), dropped = figure("dropped_packets"),
                                    deepest = figure(depth);
                if (sent == 0 && dropped == 0 && deepest == 0) continue;
                queues.push_back({{"switch", device},
                                  {"port", port},
                                  {"queue", n},
                                  {"deepest_bytes", deepest},
                                  {"tx_packets", sent},
                                  {"ecn_marked_packets", figure("ecn_marked_packets")},
                                  {"dropped_packets", dropped}});
            }
        }
    return queues;
}

// Of the whole run, or of a phase: these have the same figures, but for the pauses.
Json part_of(const std::string& name, const Json& figures, std::uint64_t from_ns, std::uint64_t to_ns,
             Json pauses, const char* depth) {
    Json flows = Json::array();
    for (const Json& flow : figures.at("flows"))
        flows.push_back(
            members(flow, {"name", "queue_pairs", "messages", "failed_messages", "delivered_bytes",
                           "throughput_bps", "completion_ns", "slowdown_permille", "retransmitted_packets",
                           "cnp_received_packets", "paused_ns"}));
    Json links = Json::array();
    for (const auto& [link, of] : figures.at("links").items()) {
        Json one = {{"name", link}};
        one.update(members(of, {"speed_bps", "cut", "directions"}));
        links.push_back(std::move(one));
    }
    return {{"name", name},
            {"from_ns", from_ns},
            {"to_ns", to_ns},
            {"flows", std::move(flows)},
            {"links", std::move(links)},
            {"queues", queues_of(figures.at("switches"), depth)},
            {"pauses", std::move(pauses)}};
}

std::string title_of(const Json& run) {
    for (const char* key : {"name", "fabric"})
        if (const std::string text = run.value(key, ""); !text.empty()) return text;
    return "run";
}

}  // namespace

Json run_for_page(const std::string& name, const Json& report, const Json& series,
                  const std::vector<std::string>& errors) {
    Json run = {{"name", name}, {"errors", errors}};
    if (report.is_null()) return run;
    const auto end_ns = report.at("end_ns").get<std::uint64_t>();
    run.update(members(report, {"question", "fabric", "seed", "end_ns", "verdict", "ledger", "asserts"}));
    run["nodes"] = Json::array();
    for (const auto& [host, figures] : report.at("hosts").items())
        run["nodes"].push_back({{"name", host}, {"tier", 0}});
    for (const auto& [device, figures] : report.at("switches").items())
        run["nodes"].push_back({{"name", device}, {"tier", figures.at("tier")}});
    run["parts"] = {
        part_of("whole run", report, 0, end_ns,
                {{"count", report.at("pauses").size() + report.at("pauses_left_out").get<std::size_t>()}},
                "deepest_bytes")};
    for (const auto& [phase, figures] : report.at("phases").items())
        run["parts"].push_back(part_of(phase, figures, figures.at("from_ns").get<std::uint64_t>(),
                                       figures.at("to_ns").get<std::uint64_t>(), figures.at("pauses"),
                                       "user_deepest_bytes"));
    run.update(members(
        report, {"collectives", "balance", "pause_trees", "pause_cycles", "pause_timeline", "events"}));
    run["culprit"] = culprit_of(report.at("pause_trees"));
    run["series"] = series;
    return run;
}

std::string run_page(const std::vector<Json>& runs) {
    std::string verdict;
    for (const Json& run : runs) {
        std::size_t met = 0;
        if (run.contains("asserts"))
            for (const Json& each : run.at("asserts")) met += each.at("met") == true ? 1 : 0;
        verdict += run.contains("asserts") ? fmt::format("{}: {} of {} assertions hold. ", title_of(run), met,
                                                         run.at("asserts").size())
                                           : title_of(run) + ": it did not run. ";
    }
    const std::string title = runs.size() == 1 ? title_of(runs[0]) : fmt::format("{} scenarios", runs.size());
    return page_of(title, verdict, {{"runs", runs}});
}

std::string sweep_page(const Json& sweep, const std::vector<Json>& rows) {
    std::size_t met = 0;
    for (const Json& row : rows) met += row.at("met") == true ? 1 : 0;
    return page_of(sweep.at("name").get<std::string>(),
                   fmt::format("All assertions hold in {} of {} runs.", met, rows.size()),
                   {{"sweep", sweep}, {"rows", rows}});
}

}  // namespace sluice::fabric
