// Files of the sources that are part of the binaries: tools/workshop/embed.py makes strings of them.
#pragma once

#include <span>
#include <string_view>

namespace sluice::embedded {

struct File {
    std::string_view name;  // "spectrum.toml"
    std::string_view text;
};

extern const std::span<const File> buffer_profiles;  // conf/profiles
extern const std::span<const File> page;             // control/report/page; its scripts are in their order

}  // namespace sluice::embedded
