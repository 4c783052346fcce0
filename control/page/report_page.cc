#include "control/page/report_page.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/values.hh"
#include "control/page/one_file.hh"
#include "control/page/page_files.hh"
#include "control/page/report_shape.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_levels = 32;  // a report has fewer than half as many

std::string too_deep_text() {
    return fmt::format("it is no report: it has more than {} levels", most_levels);
}

// The error: of its text.
tl::expected<Json, std::string> parse(std::string_view text) {
    bool too_deep = false;
    const auto look = [&](int depth, Json::parse_event_t, Json&) {
        too_deep |= depth > most_levels;
        return depth <= most_levels;
    };
    try {
        Json json = Json::parse(text, look);
        if (too_deep) return tl::unexpected(too_deep_text());
        return json;
    } catch (const Json::parse_error& wrong) {
        if (too_deep) return tl::unexpected(too_deep_text());
        const std::string_view before = text.substr(0, std::max<std::size_t>(wrong.byte, 1) - 1);
        const auto line = std::count(before.begin(), before.end(), '\n');
        return tl::unexpected(fmt::format("line {}, column {}: it is no JSON from here on", line + 1,
                                          before.size() - (before.rfind('\n') + 1) + 1));
    } catch (const Json::exception&) {  // a number that no machine has
        return tl::unexpected(std::string("it is no report: one of its numbers is too large"));
    }
}

}  // namespace

tl::expected<std::string, std::string> report_page(std::string_view text, std::string_view title) {
    auto json = parse(text);
    if (!json) return tl::unexpected(json.error());
    const bool is_fabric = json->is_object() && json->contains("switches");
    if (!is_fabric && !(json->is_object() && json->contains("ports")))
        return tl::unexpected(std::string(
            "it is no report: it has neither ports nor switches; do: name what sluiced --report has written, "
            "or report.json of sluice-fabric run"));
    auto shown = is_fabric ? fabric_for_page(*json) : switch_for_page(*json);
    if (!shown)
        return tl::unexpected(
            fmt::format("it is no report as this version writes it: {}", std::move(shown).error()));
    *json = nullptr;
    Json data = is_fabric ? std::move(*shown) : Json{{"report", std::move(*shown)}};
    const Json& whole = data.at(is_fabric ? "fabric" : "report");
    std::string name(title);
    if (is_fabric)
        for (const char* key : {"fabric", "name"})
            if (const std::string own = whole.at(key).get<std::string>(); !own.empty()) name = own;
    const std::string summary = whole.at("verdict").at("headline").get<std::string>();
    data["name"] = name;  // behind which `whole` may be elsewhere
    return one_file_page(name, summary, data,
                         {page_files::dom_js, page_files::chart_js, page_files::live_table_js,
                          page_files::switch_js, page_files::fabric_js, page_files::live_js});
}

}  // namespace sluice
