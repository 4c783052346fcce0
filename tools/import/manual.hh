// sluice-import(1), from the tables from which its command line is parsed.
#pragma once

#include <string>
#include <string_view>

namespace sluice::import {

std::string man_page(std::string_view version);

}  // namespace sluice::import
