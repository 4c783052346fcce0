// The files of conf/profiles, which tools/workshop/embed.py puts into the binary.
#pragma once

#include <span>
#include <string_view>

namespace sluice::buffer_profile_files {

struct File {
    std::string_view name;  // without its extension
    std::string_view text;
};
extern const std::span<const File> files;

}  // namespace sluice::buffer_profile_files
