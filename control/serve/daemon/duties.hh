// The duties of control in every round, each by itself: an exception of one is an event, and the others are
// done all the same. A duty that fails again and again is one event until it has gone well again.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "control/serve/server/boundary.hh"
#include "control/switch/running/event_log.hh"

namespace sluice {

class Duties {
  public:
    explicit Duties(EventLog& events) : events_(events) {}

    // `name` lives as long as this.
    template <class Work>
    void operator()(std::string_view name, Work&& work) {
        const auto failed = [&](const char* what) {
            if (find(name) != failing_.begin() + used_ || used_ == std::ssize(failing_)) return;
            events_.note("control_failed", fmt::format("{}: {}; the switch goes on", name, what));
            failing_[used_++] = name;
        };
        if (!boundary(work, failed)) return;
        if (const auto at = find(name); at != failing_.begin() + used_) *at = failing_[--used_];
    }

  private:
    std::array<std::string_view, 16>::iterator find(std::string_view name) {
        return std::find(failing_.begin(), failing_.begin() + used_, name);
    }

    EventLog& events_;
    std::array<std::string_view, 16> failing_{};
    std::ptrdiff_t used_ = 0;
};

}  // namespace sluice
