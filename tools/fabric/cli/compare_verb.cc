// compare: two runs, or two sweeps.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/fabric/scenario/compare.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "control/report/figures/shaped_json.hh"
#include "control/report/page/report_shape.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kinds{"report of sluiced", "report of sluice-fabric", "sweep"};
enum class Kind : std::uint8_t { of_switch, of_fabric, of_sweep };

struct Compared {
    Kind kind = Kind::of_sweep;
    Json report;             // of a run
    std::vector<Json> rows;  // of a sweep
};

constexpr const char* what_to_name =
    "do: name the folder of one run or sweep, a report.json, or what sluiced --report wrote";

tl::expected<Compared, std::string> read_report(const std::string& path) {
    const auto refuse = [&](const std::string& why) {
        return tl::unexpected(fmt::format("{}: it is not a report: {}; {}", path, why, what_to_name));
    };
    Compared made;
    // All of it, for anything may differ, and what the page uses is as it should be.
    static const JsonShape whole{{"verdict", part::any}, {"*", part::any}};
    auto json = read_shaped_file(path, whole);
    if (!json) return refuse(json.error());
    if (const auto shown = report_for_page(json_text(*json)); !shown) return refuse(shown.error());
    made.report = std::move(*json);
    made.kind = made.report.contains("switches") ? Kind::of_fabric : Kind::of_switch;
    return made;
}

tl::expected<Compared, std::string> read_compared(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code none;
    if (!fs::is_directory(path, none)) return read_report(path);
    if (fs::exists(path + "/sweep.json", none)) {
        auto sweep = read_sweep(path);
        if (!sweep) return tl::unexpected(std::move(sweep).error());
        return Compared{Kind::of_sweep, {}, std::move(sweep->rows)};
    }
    if (fs::exists(path + "/report.json", none)) return read_report(path + "/report.json");
    return tl::unexpected(fmt::format("{} has neither report.json nor sweep.json; {}", path, what_to_name));
}

// In words or as JSON. Whether they differ.
bool say_sweeps(const Arguments& arguments, const std::vector<FigureChange>& changes) {
    say("{}", arguments.json ? json_text(changes_json(changes), 2) + "\n" : changes_text(changes));
    return differ(changes);
}

bool say_runs(const Arguments& arguments, const std::array<Compared, 2>& both) {
    constexpr std::size_t usual_rows = 12;
    Json differences = compare_reports(both[0].report, both[1].report);
    if (arguments.json) {
        say("{}\n", json_text(differences, 2));
    } else {
        for (std::size_t n = 0; n < both.size(); ++n)
            say("{}  {}: {}\n", "AB"[n], arguments.files[n],
                both.at(n).report["verdict"]["headline"].get<std::string>());
        say("{}", differences_text(differences,
                                   arguments.all ? std::numeric_limits<std::size_t>::max() : usual_rows));
    }
    return differences["differ"] == true;
}

}  // namespace

int compare_verb(const Arguments& arguments) {
    std::array<Compared, 2> both;
    for (std::size_t n = 0; n < both.size(); ++n) {
        auto read = read_compared(arguments.files[n]);
        if (!read) return failed(read.error(), exit_configuration);
        both.at(n) = std::move(*read);
    }
    const auto kind_of = [](const Compared& each) { return kinds.at(static_cast<std::size_t>(each.kind)); };
    if (both[0].kind != both[1].kind) {
        complain("sluice-fabric: {} is a {}, {} is a {}; do: name two of one kind\n", arguments.files[0],
                 kind_of(both[0]), arguments.files[1], kind_of(both[1]));
        return exit_configuration;
    }
    const bool differ = both[0].kind == Kind::of_sweep
                            ? say_sweeps(arguments, compare_rows(both[0].rows, both[1].rows))
                            : say_runs(arguments, both);
    return differ && arguments.exit_code ? exit_differ : exit_done;
}

}  // namespace sluice::fabric
