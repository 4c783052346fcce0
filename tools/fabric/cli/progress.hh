// The progress of a run on stderr: before the first packet in lines, then on a terminal alone.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "control/config/text/progress_line.hh"
#include "control/config/text/say.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

// Prints a line a second of CPU time: a busy machine alone does not make a start long.
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

class Progress {
  public:
    explicit Progress(std::optional<Duration> end) : end_(end) {}
    void show(Fabric& fabric) {
        if (!line_.is_due()) return;
        const auto done = static_cast<double>(fabric.loop().now().ps);
        std::string left;
        if (end_ && done > 0)
            left = fmt::format(", about {:.0f} s left",
                               line_.seconds() * (static_cast<double>(end_->ps) / done - 1));
        const Fabric::Ledger ledger = fabric.ledger();
        line_.show(fmt::format(
            "{:.3f} ms of virtual time, {} frames sent, {} in flight, {} pauses ({} open){}   ", done / 1e9,
            ledger.sent, ledger.queued + ledger.on_wire,
            fabric.pauses().pauses().size() + fabric.pauses().left_out(), fabric.pauses().open(), left));
    }

  private:
    std::optional<Duration> end_;
    ProgressLine line_{256, std::chrono::seconds(1)};
};

}  // namespace sluice::fabric
