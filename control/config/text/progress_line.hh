// The progress of long work: a line on stderr, overwritten twice a second and erased at the end.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "control/config/text/say.hh"

namespace sluice {

class ProgressLine {
  public:
    // Reads the clock once in `calls` calls of is_due; no line before `patience`.
    explicit ProgressLine(unsigned calls = 1, std::chrono::milliseconds patience = {})
        : calls_(calls), next_(start_ + patience) {}
    ~ProgressLine() {
        if (width_ != 0) complain("\r{:{}}\r", "", width_);
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    bool is_due() {
        if (!on_terminal_ || ++asked_ % calls_ != 0) return false;
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return false;
        next_ = now + std::chrono::milliseconds(500);
        return true;
    }
    void show(std::string_view text) {
        complain("\r{}", text);
        width_ = std::max(width_, text.size());
    }
    double seconds() const {  // so far
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    bool on_terminal_ = isatty(STDERR_FILENO) == 1;
    std::size_t width_ = 0;  // of the longest line
    unsigned calls_, asked_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), next_;
};

}  // namespace sluice
