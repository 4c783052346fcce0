// report: makes the page of a run or of a sweep again from what it left in its folder.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "control/config/schema.hh"
#include "control/server/program.hh"
#include "control/text/say.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_folder.hh"
#include "tools/fabric/cli/verbs.hh"
#include "tools/fabric/page/page.hh"
#include "tools/fabric/scenario/files.hh"
#include "tools/fabric/scenario/sweep_folder.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// Null: there is none, or it is no object.
Json load_object(const std::string& path) {
    const auto text = read_config_file(path);
    Json json = text ? Json::parse(*text, nullptr, false) : Json();
    return json.is_object() ? json : Json();
}

// A sweep's page, or nothing: it is none.
std::string page_of_sweep(const std::string& folder, std::string& error) {
    std::error_code none;
    if (!std::filesystem::exists(folder + "/sweep.json", none)) return {};
    const auto sweep = read_sweep(folder);
    if (!sweep) return error = sweep.error(), std::string();
    return sweep_page(sweep->manifest.json, sweep->rows);
}

// The runs of a folder, or of the folders in it.
std::vector<Json> runs_in(const std::string& folder) {
    std::vector<std::string> folders{folder};
    std::error_code error;
    if (!std::filesystem::exists(folder + "/report.json", error)) {
        folders.clear();
        for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error))
            folders.push_back(entry->path().string());
        std::sort(folders.begin(), folders.end());
    }
    std::vector<Json> runs;
    for (const std::string& each : folders) {
        const Json report = load_object(each + "/report.json");
        if (report.is_null()) continue;
        std::string name = report.value("name", "");
        if (name.empty()) name = std::filesystem::path(report.value("fabric", "run")).stem().string();
        runs.push_back(run_for_page(name, report, load_object(each + "/series.json"), {}));
    }
    return runs;
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
        return complain("sluice-fabric: {}\n", clash), exit_configuration;
    std::string error, page;
    try {
        page = page_of_sweep(folder, error);
        if (page.empty() && error.empty())
            if (const std::vector<Json> runs = runs_in(folder); !runs.empty()) page = run_page(runs);
    } catch (const Json::exception& wrong) {
        error = fmt::format("{}: a file there is not as this version writes it: {}", folder,
                            without_tag(wrong.what()));
    }
    if (page.empty() && error.empty())
        error = folder + " has neither report.json nor sweep.json; do: name what run or sweep had as --out";
    if (error.empty() && arguments.html.empty()) {
        auto out = OutputFolder::open(folder);
        error = out ? out->write(usual_name, page) : out.error();
    } else if (error.empty()) {
        error = write_text(path, page);
    }
    if (!error.empty()) return complain("sluice-fabric: {}\n", error), exit_failed;
    return say("{}\n", path), exit_done;
}

}  // namespace sluice::fabric
