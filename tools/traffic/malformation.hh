// The catalogue of malformations.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::traffic {

enum class Malformation : std::uint8_t {
#define MALFORMATION(name, v4, v6, what) name,
#include "tools/traffic/malformations.def"
#undef MALFORMATION
};

struct MalformationInfo {
    Malformation which;
    std::string_view name;
    bool v4;
    bool v6;
    std::string_view what;
};

inline constexpr MalformationInfo malformations[] = {
#define MALFORMATION(name, v4, v6, what) {Malformation::name, #name, v4, v6, what},
#include "tools/traffic/malformations.def"
#undef MALFORMATION
};

}  // namespace sluice::traffic
