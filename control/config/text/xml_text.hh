// Text as XML, SVG and HTML have it, in an element or in an attribute. What XML 1.0 (section 2.2) cannot have
// is replaced: control characters by blanks, U+FFFE, U+FFFF and bytes that are not UTF-8 by U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string xml_text(std::string_view text);

}  // namespace sluice
