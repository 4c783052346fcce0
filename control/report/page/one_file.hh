// A page as one HTML file, that needs neither a server nor the network: style, scripts and data stand in it.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sluice {

// `summary`: a sentence for browsers that run no scripts. `scripts`: files of this folder or of a page's own,
// which find the data in the element `data`. Names in the data are nothing but text.
std::string one_file_page(std::string_view title, std::string_view summary,
                          const nlohmann::ordered_json& data,
                          std::initializer_list<std::string_view> scripts);

// Whether a file that begins so is such a page.
bool begins_one_file_page(std::string_view text);

}  // namespace sluice
