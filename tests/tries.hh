// How much a test of random cases tries.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace sluice {

#ifdef SLUICE_SANITIZED
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

inline bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && std::string_view(value) == "1";
}
// More samples, many packets (under sanitizers, which take ten times as long, only what is usual elsewhere);
// and the same thing for hours.
inline bool is_long() { return !is_sanitized && is_set("SLUICE_LONG"); }
inline bool is_soak() { return is_set("SLUICE_SOAK"); }

// Under sanitizers fewer: there a test is run for what any of them can show.
struct Tries {
    std::uint64_t in_long, usual, sanitized;
};
inline std::uint64_t tries(const Tries& of) {
    if (is_long()) return of.in_long;
    return is_sanitized && !is_set("SLUICE_LONG") ? of.sanitized : of.usual;
}

}  // namespace sluice
