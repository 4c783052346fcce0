// Tells what long work before a run is at, and how much there is of it (0: it does not count).
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace sluice::fabric {

using Stage = std::function<void(std::string_view what, std::size_t done, std::size_t all)>;

inline void tell_nobody(std::string_view, std::size_t, std::size_t) {}

}  // namespace sluice::fabric
