// The man pages of sluiced and of its configuration, from the tables of options, keys and findings.
#pragma once

#include <string>

namespace sluice {

std::string sluiced_man_page();  // sluiced(8)
std::string config_man_page();   // sluice.toml(5)

}  // namespace sluice
