// Texts of a file cut up, without the white space that people and scripts leave around a value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::import {

std::string_view trimmed(std::string_view text);
// "3, 4" at ',': {"3", "4"}; parts that are empty are left out.
std::vector<std::string_view> split(std::string_view text, char at);
// "a|b|c" at the last '|': {"a|b", "c"}; without one: {text, ""}.
std::pair<std::string_view, std::string_view> split_last(std::string_view text, char at);
// "Ethernet0 | 3, 4" as "Ethernet0|3,4".
std::string tidy_key(std::string_view key);

}  // namespace sluice::import
