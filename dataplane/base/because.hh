// What the kernel refused, with its reason (errno).
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace sluice {

inline std::string because(const std::string& what) { return what + ": " + std::strerror(errno); }

}  // namespace sluice
