// Text as XML, SVG and HTML have it, in an element or in an attribute. Control characters, which XML cannot
// have, become blanks.
#pragma once

#include <string>
#include <string_view>

namespace sluice::fabric {

inline std::string xml_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else if (static_cast<unsigned char>(c) < ' ' && c != '\n')
            out += ' ';
        else
            out += c;
    }
    return out;
}

}  // namespace sluice::fabric
