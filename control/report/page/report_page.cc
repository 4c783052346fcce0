#include "control/report/page/report_page.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "control/config/text/embedded_files.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/xml_text.hh"
#include "control/report/page/report_shape.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// `summary`: text for browsers that run no scripts.
std::string html_of(std::string_view title, std::string_view summary, const Json& data,
                    std::string_view charts) {
    // Inside of a script element a browser looks for an end tag and for comments.
    const std::string safe = boost::algorithm::replace_all_copy(json_text(data), "<", "\\u003c");
    const std::string heading = xml_text(title), sentence = xml_text(summary), scripts = page_scripts();
    const std::array<std::pair<std::string_view, std::string_view>, 6> parts{
        {{"title", heading},
         {"verdict", sentence},
         {"style", page_file("page.css")},
         {"data", safe},
         {"charts", charts},
         {"script", scripts}}};
    std::string_view left = page_file("one_file.html");
    std::string out;
    for (std::size_t open = left.find("{{"); open != left.npos; open = left.find("{{")) {
        const std::size_t close = left.find("}}", open);
        out += left.substr(0, open);
        for (const auto& [name, text] : parts)
            if (name == left.substr(open + 2, close - open - 2)) out += text;
        left.remove_prefix(close + 2);
    }
    return out += left;
}

std::string summary_of(const Json& run) {
    const auto& name = run["name"].get_ref<const std::string&>();
    const bool is_fabric = run.contains("fabric");
    if (!is_fabric && !run.contains("report")) return name + ": it did not run. ";
    if (!is_fabric) return run["report"]["verdict"]["headline"].get<std::string>();
    const Json& asserts = run["fabric"]["asserts"];
    return fmt::format("{}: {} of {} assertions hold. ", name,
                       std::ranges::count_if(asserts, [](const Json& each) { return each["met"] == true; }),
                       asserts.size());
}

}  // namespace

tl::expected<std::string, std::string> read_charts() {
    constexpr const char* name = "charts.min.js";
    std::error_code none;
    const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
    const std::array places{folder / name, (folder / SLUICE_DATA / name).lexically_normal()};
    for (const fs::path& place : places)
        if (std::ifstream file(place, std::ios::binary); file)
            return std::string(std::istreambuf_iterator<char>(file), {});
    return tl::unexpected(
        fmt::format("the charts of the page are in neither {} nor {}; do: copy {} there from the sources, "
                    "control/report/page/vendor, or install the program again",
                    places[0].string(), places[1].string(), name));
}

std::string_view page_file(std::string_view name) {
    const auto found =
        std::ranges::find_if(embedded::page, [&](const embedded::File& each) { return each.name == name; });
    return found == embedded::page.end() ? std::string_view() : found->text;
}

std::string page_scripts() {
    std::string all;
    for (const embedded::File& file : embedded::page)
        if (file.name.ends_with(".js")) all += file.text;
    return all;
}

Json page_run(std::string_view name, Json shown, Json series, const std::vector<std::string>& errors) {
    Json run = {{"name", name}, {"errors", errors}, {"series", std::move(series)}};
    if (!shown.is_null())
        for (auto& [kind, report] : shown.items()) run[kind] = std::move(report);
    return run;
}

std::string runs_page(const std::vector<Json>& runs, std::string_view charts) {
    std::string summary;
    for (const Json& run : runs) summary += summary_of(run);
    const std::string title =
        runs.size() == 1 ? runs[0]["name"].get<std::string>() : fmt::format("{} scenarios", runs.size());
    return html_of(title, summary, {{"runs", runs}}, charts);
}

std::string sweep_page(const Json& sweep, const std::vector<Json>& rows, std::string_view charts) {
    const auto met = std::ranges::count_if(rows, [](const Json& row) { return row.at("met") == true; });
    return html_of(sweep.at("name").get<std::string>(),
                   fmt::format("All assertions hold in {} of {} runs.", met, rows.size()),
                   {{"sweep", sweep}, {"rows", rows}}, charts);
}

std::string advice_page(const Json& data, std::string_view text, std::string_view charts) {
    return html_of(data.at("name").get<std::string>(), text, {{"advised", data}}, charts);
}

tl::expected<std::string, std::string> report_page(std::string_view text, std::string_view title,
                                                   std::string_view charts) {
    auto shown = report_for_page(text);
    if (!shown) return tl::unexpected(std::move(shown).error());
    std::string name(title);
    if (const auto fabric = shown->find("fabric"); fabric != shown->end())
        for (const char* key : {"fabric", "name"})
            if (const std::string own = (*fabric)[key].get<std::string>(); !own.empty()) name = own;
    return runs_page({page_run(name, std::move(*shown))}, charts);
}

bool begins_page(std::string_view text) {
    const std::string_view page = page_file("one_file.html");
    return text.starts_with(page.substr(0, page.find("{{")));
}

}  // namespace sluice
