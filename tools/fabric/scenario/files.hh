// Files and folders that the commands write. Each gives an error's text, or an empty one.
#pragma once

#include <string>

namespace sluice::fabric {

std::string write_text(const std::string& path, const std::string& text);
// With those above it; one that is there already is good.
std::string make_folder(const std::string& path);

}  // namespace sluice::fabric
