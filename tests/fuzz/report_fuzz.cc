// Any bytes as what sluice-fabric wrote: a report, a row of a sweep, a manifest. It is refused in one line,
// or what verbs make of it can be made.
#include <string>

#include "control/fabric/goal/ranking.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/scenario/compare.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "control/report/page/report_page.hh"
#include "control/report/page/report_shape.hh"
#include "tests/fuzz/require.hh"

namespace {

using namespace sluice;

template <class Read>
bool is_good(const Read& read) {
    require(read.has_value() || is_one_line(read.error()), "an error is one line");
    return read.has_value();
}

// The row as the one point of a sweep with its own goal.
void rank(const nlohmann::ordered_json& row) {
    using Json = nlohmann::ordered_json;
    const auto own = row.find("goal");
    if (own == row.end()) return;
    Json goal = {{"keep", (*own)["keep"]}, {"least", (*own)["least"]}, {"today", Json::object()}};
    for (Json& each : goal["least"]) each["within"] = 0.02;
    const fabric::Ranking ranking(goal, fabric::judged_points({row}, goal));
    require(ranking.json()["points"] == 1, "a row is a point");
    require(!ranking.text().empty(), "a best point is said");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    is_good(report_page(text, "fuzz", {}));
    is_good(fabric::SweepManifest::parse(text));
    if (const auto report = read_shaped(text, fabric::shape_for_why()); is_good(report))
        for (const char* host : {"", "h1"}) fabric::why_text((*report)["pause_trees"], host);
    static const JsonShape whole{{"verdict", part::any}, {"*", part::any}};
    if (const auto report = read_shaped(text, whole); is_good(report)) {
        if (is_good(report_for_page(text))) {
            const auto differences = fabric::compare_reports(*report, *report);
            require(differences["differ"] == false, "a report is as itself");
            fabric::differences_text(differences, 12);
        }
    }
    const auto row = read_shaped(text, fabric::shape_of_row());
    if (!is_good(row) || !fabric::figure_missing(*row).empty()) return 0;
    fabric::csv_text({*row});
    fabric::jsonl_text({*row});
    fabric::changes_text(fabric::compare_rows({*row}, {*row}));
    rank(*row);
    return 0;
}
