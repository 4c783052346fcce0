// What sweep, merge and advise share on the command line.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/config/text/progress_line.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {

// The folder for all files; nothing: it says why not.
std::optional<std::string> folder_for(const Arguments& arguments, std::span<const char* const> names);
// The options of the command line for runs that end with a signal.
SweepOptions options_of_runs(const SweepOptions& asked);
// Says where rows of an earlier sweep went, if there were any.
void say_earlier(const SweepFolder& folder);
// What rows depend on beside the file: words of the command line, and the files of workloads.
std::vector<std::string> words_of_rows(const Arguments& arguments, const FabricPlan& plan);

// The progress of many runs on a terminal, with the time left.
class SweepProgress {
  public:
    // `what` they are for; empty: nothing is said of it.
    explicit SweepProgress(std::string what = {}) : what_(std::move(what)) {}
    void show(std::size_t done, std::size_t of) {
        if (!line_.is_due()) return;
        if (!first_) first_ = done;
        std::string left;
        if (done > *first_)
            left = fmt::format(", about {:.0f} s left", line_.seconds() * static_cast<double>(of - done) /
                                                            static_cast<double>(done - *first_));
        line_.show(fmt::format("{}{}{} of {} runs{}   ", what_, what_.empty() ? "" : ": ", done, of, left));
    }

  private:
    std::string what_;
    std::optional<std::size_t> first_;  // runs that were done before
    ProgressLine line_;
};

}  // namespace sluice::fabric
