// How far a run has come, on stderr: before the first packet in lines, and then where that is a terminal.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "control/config/text/say.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

// A line a second, of CPU time: a busy machine alone makes no long start.
class StartProgress {
  public:
    void operator()(std::string_view what, std::size_t done, std::size_t all) {
        if (std::clock() < next_) return;
        next_ = std::clock() + CLOCKS_PER_SEC;
        complain("sluice-fabric: {}{}\n", what, all == 0 ? "" : fmt::format(": {} of {}", done, all));
    }

  private:
    std::clock_t next_ = CLOCKS_PER_SEC;  // of the whole process
};

// Twice a second.
class Progress {
  public:
    explicit Progress(std::optional<Duration> end) : end_(end) {}
    void show(Fabric& fabric) {
        if (!on_terminal_ || ++calls_ % 256 != 0) return;
        const auto wall = std::chrono::steady_clock::now();
        if (wall < next_) return;
        next_ = wall + std::chrono::milliseconds(500);
        const auto done = static_cast<double>(fabric.loop().now().ps);
        std::string left;
        if (end_ && done > 0) {
            const double spent = std::chrono::duration<double>(wall - start_).count();
            left = fmt::format(", about {:.0f} s left", spent * (static_cast<double>(end_->ps) / done - 1));
        }
        const Fabric::Ledger ledger = fabric.ledger();
        complain("\r{:.3f} ms of virtual time, {} frames sent, {} in flight, {} pauses ({} open){}   ",
                 done / 1e9, ledger.sent, ledger.queued + ledger.on_wire,
                 fabric.pauses().pauses().size() + fabric.pauses().left_out(), fabric.pauses().open(), left);
        shown_ = true;
    }
    ~Progress() {
        if (shown_) complain("\r{:110}\r", "");
    }

  private:
    std::optional<Duration> end_;
    bool on_terminal_ = isatty(STDERR_FILENO) == 1;
    bool shown_ = false;
    std::uint64_t calls_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point next_ = start_ + std::chrono::seconds(1);
};

}  // namespace sluice::fabric
