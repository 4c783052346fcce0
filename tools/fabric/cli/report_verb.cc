// report: makes the page of a run or of a sweep again from what it left in its folder.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "control/config/text/say.hh"
#include "control/fabric/scenario/files.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "control/report/page/report_page.hh"
#include "control/report/page/report_shape.hh"
#include "control/serve/server/program.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_folder.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// A sweep's page, or nothing: it is none.
std::string page_of_sweep(const std::string& folder, std::string_view charts, std::string& error) {
    std::error_code none;
    if (!std::filesystem::exists(folder + "/sweep.json", none)) return {};
    const auto sweep = read_sweep(folder);
    if (!sweep) return error = sweep.error(), std::string();
    return sweep_page(sweep->manifest.json, sweep->rows, charts);
}

// The page of the runs of a folder, or of the folders in it; empty: there are none.
std::string page_of_runs(const std::string& folder, std::string_view charts, std::string& error) {
    const auto has = [](const std::string& file) {
        std::error_code none;
        return std::filesystem::exists(file, none);
    };
    std::vector<std::string> folders{folder};
    std::error_code none;
    if (!has(folder + "/report.json")) {
        folders.clear();
        for (std::filesystem::directory_iterator entry(folder, none), end; !none && entry != end;
             entry.increment(none))
            folders.push_back(entry->path().string());
        std::ranges::sort(folders);
    }
    static const JsonShape anything{{"", part::any}};
    std::vector<Json> runs;
    for (const std::string& each : folders) {
        const std::string file = each + "/report.json", series_file = each + "/series.json";
        if (!has(file)) continue;
        auto shown = report_file_for_page(file);
        if (!shown) return error = file + ": " + shown.error(), std::string();
        auto series = has(series_file) ? read_shaped_file(series_file, anything) : Json();
        if (!series) return error = series_file + ": " + series.error(), std::string();
        if (!shown->contains("fabric"))
            return error = file + ": it is not a report of a fabric", std::string();
        const Json& fabric = (*shown)["fabric"];
        auto name = fabric["name"].get<std::string>();
        if (name.empty()) name = std::filesystem::path(fabric["fabric"].get<std::string>()).stem().string();
        runs.push_back(page_run(name, std::move(*shown), std::move(*series)));
    }
    return runs.empty() ? std::string() : runs_page(runs, charts);
}

}  // namespace

int report_verb(const Arguments& arguments) {
    const std::string& folder = arguments.files[0];
    constexpr const char* usual_name = "page.html";
    const std::string path = arguments.html.empty() ? folder + "/" + usual_name : arguments.html;
    FileRoles roles;
    for (const char* name : {"report.json", "series.json", "sweep.json", "sweep.jsonl"})
        roles.reads("what it reads", folder + "/" + name);
    roles.writes("--html", path);
    if (const std::string clash = roles.clash_text(); !clash.empty())
        return failed(clash, exit_configuration);
    const auto charts = read_charts();
    if (!charts) return failed(charts.error());
    std::string error;
    std::string page = page_of_sweep(folder, *charts, error);
    if (page.empty() && error.empty()) page = page_of_runs(folder, *charts, error);
    if (std::error_code none;
        page.empty() && error.empty() && std::filesystem::exists(folder + "/search.json", none))
        error = folder +
                " is of advise; do: run the same command once more with --html, which makes the page of the "
                "rows that are there";
    if (page.empty() && error.empty())
        error = folder + " has neither report.json nor sweep.json; do: name what run or sweep had as --out";
    if (error.empty() && arguments.html.empty()) {
        auto out = OutputFolder::open(folder);
        error = out ? out->write(usual_name, page) : out.error();
    } else if (error.empty()) {
        error = write_text(path, page);
    }
    if (!error.empty()) return failed(error);
    return say("{}\n", path), exit_done;
}

}  // namespace sluice::fabric
