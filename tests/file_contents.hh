// All bytes of a file; none where there is no file.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace sluice {

inline std::string contents(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

}  // namespace sluice
