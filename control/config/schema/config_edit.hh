// A configuration file changed so that it says another configuration: values are replaced where they stand,
// and only keys that the file lacks are added; comments, order and layout stay.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/config/schema/config.hh"

namespace sluice {

// `text` so changed that it loads as `wanted`. Nothing when the text is no configuration, or when more would
// have to change than values, keys, routes and neighbors: a section to be removed, or a section written as a
// value. The result was parsed and compared, so it is right where there is one.
std::optional<std::string> edited(std::string_view text, const Config& wanted);

}  // namespace sluice
