// A text made from the switch's state, kept for a moment: however many ask, it is made once.
//
// It is made anew when it is older than `lifetime`, or when the state has another mark.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/values/units.hh"

namespace sluice {

class Rendering {
  public:
    using Clock = std::chrono::steady_clock;
    using Text = std::shared_ptr<const std::string>;
    static constexpr std::chrono::milliseconds lifetime{100};

    // The objects that a text must not outlive.
    struct Mark {
        std::uint64_t generation;  // of the configuration
        std::uint64_t events;      // noted so far
        Time virtual_now;          // 0 under the real clock
        bool operator==(const Mark&) const = default;
    };

    template <class Make>
    const Text& at(const Mark& mark, Clock::time_point now, Make make) {
        if (!text_ || mark != mark_ || now - made_ >= lifetime) {
            text_ = std::make_shared<const std::string>(make());
            mark_ = mark;
            made_ = now;
        }
        return text_;
    }

  private:
    Text text_;
    Mark mark_{};
    Clock::time_point made_;
};

}  // namespace sluice
