// What sluice-traffic says of itself: usage, how to write a recipe, and the man page, from the same tables.
#pragma once

#include <string>
#include <string_view>

namespace sluice::traffic {

std::string usage();
std::string recipe_help();
std::string man_page(std::string_view version);  // sluice-traffic(1)

}  // namespace sluice::traffic
