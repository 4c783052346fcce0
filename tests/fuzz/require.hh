// What a fuzzer holds its target to.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

// Ends the process where it does not hold. `text`: what shows why.
inline void require(bool holds, const char* what, const std::string& text = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n%s\n", what, text.c_str());
    std::abort();
}

// As messages are.
inline bool is_one_line(const std::string& text) {
    return !text.empty() && text.find('\n') == std::string::npos;
}
