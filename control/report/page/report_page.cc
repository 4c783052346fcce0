#include "control/report/page/report_page.hh"

#include <utility>

#include "control/report/page/one_file.hh"
#include "control/report/page/page_files.hh"
#include "control/report/page/report_shape.hh"

namespace sluice {

using Json = nlohmann::ordered_json;

tl::expected<std::string, std::string> report_page(std::string_view text, std::string_view title) {
    auto shown = report_for_page(text);
    if (!shown) return tl::unexpected(std::move(shown).error());
    Json& data = *shown;
    const bool is_fabric = data.contains("fabric");
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
