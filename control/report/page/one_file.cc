#include "control/report/page/one_file.hh"

#include <utility>
#include <vector>

#include "control/config/text/json_text.hh"
#include "control/config/text/xml_text.hh"
#include "control/report/page/page_files.hh"

namespace sluice {
namespace {

// Inside of a script element, where the browser looks for an end tag and for comments.
std::string script_json(const nlohmann::ordered_json& data) {
    std::string out;
    for (const char c : json_text(data)) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

// `{{NAME}}` for each part, in the template's order; a part is put in as it is.
std::string fill_template(const std::vector<std::pair<std::string_view, std::string>>& parts) {
    std::string_view left = page_files::one_file_html;
    std::string out;
    while (true) {
        const std::size_t open = left.find("{{");
        if (open == left.npos) return out += left;
        const std::size_t close = left.find("}}", open);
        const std::string_view name = left.substr(open + 2, close - open - 2);
        out += left.substr(0, open);
        for (const auto& [known, text] : parts)
            if (known == name) out += text;
        left.remove_prefix(close + 2);
    }
}

}  // namespace

bool begins_one_file_page(std::string_view text) {
    const std::string_view page = page_files::one_file_html;
    return text.starts_with(page.substr(0, page.find("{{")));
}

std::string one_file_page(std::string_view title, std::string_view summary,
                          const nlohmann::ordered_json& data,
                          std::initializer_list<std::string_view> scripts) {
    std::string script;
    for (const std::string_view file : scripts) script += file;
    return fill_template({{"title", xml_text(title)},
                          {"verdict", xml_text(summary)},
                          {"style", std::string(page_files::page_css)},
                          {"data", script_json(data)},
                          {"charts", std::string(page_files::charts_min_js)},
                          {"script", std::move(script)}});
}

}  // namespace sluice
