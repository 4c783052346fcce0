// A small fabric's file, to which tests add.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "control/fabric/plan/fabric_config.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fabric {

inline bool says(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

inline const std::string small_fabric = R"(
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts = 2
[[flow]]
name = "a"
from = "h1"
to = "h3"
message = "20KB"
stop = "100us"
)";

// The file with `text` behind it; an error fails the test.
inline FabricConfig parsed(const std::string& text, const std::vector<std::string>& sets = {}) {
    auto file = parse_fabric(small_fabric + text, "f.toml", sets);
    if (!file) FAIL(file.error().front().text().c_str());
    return std::move(*file);
}

}  // namespace sluice::fabric
