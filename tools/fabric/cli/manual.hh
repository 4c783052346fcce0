// What sluice-fabric says of itself: usage and man page, from the same tables.
#pragma once

#include <string>
#include <string_view>

namespace sluice::fabric {

std::string usage();
std::string man_page(std::string_view version);  // sluice-fabric(1)

}  // namespace sluice::fabric
