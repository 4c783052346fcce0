#include "control/config/text/xml_text.hh"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "control/config/text/json_text.hh"

namespace sluice {

std::string xml_text(std::string_view text) {
    std::string utf8;
    nlohmann::json::parse(json_text(nlohmann::json(text))).get_to(utf8);
    std::string out;
    for (std::size_t n = 0; n < utf8.size(); ++n) {
        const char c = utf8[n];
        if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '&') {
            out += "&amp;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (static_cast<unsigned char>(c) < ' ' && c != '\n') {
            out += ' ';
        } else if (const std::string_view three(utf8.data() + n, std::min<std::size_t>(3, utf8.size() - n));
                   three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
            out += "\xEF\xBF\xBD";
            n += 2;
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace sluice
