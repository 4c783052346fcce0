#pragma once

#include <string_view>

namespace sluice {

// "p2" sorts before "p10". A strict total order: different strings are never equal ("p01" before "p1").
struct NaturalOrder {
    bool operator()(std::string_view a, std::string_view b) const;
    using is_transparent = void;
};

}  // namespace sluice
