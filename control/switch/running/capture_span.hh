// The time that the inputs' captures span, and the remarks on it: which gaps are shortened, and which files
// are too far apart. A virtual clock runs at most 100 days, because times more than 106 days apart do not
// compare.
#pragma once

#include <cstdint>
#include <string>

#include "lib/clock/capture_timeline.hh"

namespace sluice {

class CaptureSpan {
  public:
    static constexpr std::uint64_t max_days = 100;

    // `stamps` of a file that holds frames.
    void add(const std::string& file, const StampRanges& stamps);
    CaptureTimeline timeline() const { return CaptureTimeline(stamps_); }
    // An error's text that names the first and the last file and the remedy, or empty.
    std::string too_long() const;

  private:
    StampRanges stamps_;
    std::string first_file_;
    std::string last_file_;
};

// "3 gaps ... are shortened", for an event; empty without gaps.
std::string shortened_text(const CaptureTimeline& timeline);

}  // namespace sluice
