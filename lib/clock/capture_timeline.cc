#include "lib/clock/capture_timeline.hh"

#include <algorithm>
#include <iterator>

namespace sluice {

void StampRanges::merge(std::uint64_t first_ns, std::uint64_t last_ns) {
    auto next = ranges_.upper_bound(first_ns);
    if (next != ranges_.begin()) {
        const auto before = std::prev(next);
        if (first_ns <= before->second + max_stamp_gap_ns) {
            first_ns = before->first;
            last_ns = std::max(last_ns, before->second);
        }
    }
    while (next != ranges_.end() && next->first <= last_ns + max_stamp_gap_ns) {
        last_ns = std::max(last_ns, next->second);
        next = ranges_.erase(next);
    }
    ranges_[first_ns] = last_ns;
    first_ns_ = first_ns;
    last_ns_ = last_ns;
}

CaptureTimeline::CaptureTimeline(const StampRanges& ranges) {
    for (const auto& [first, last] : ranges.all()) {
        if (!pieces_.empty()) {
            Piece& before = pieces_.back();
            before.times = span_ns_ + max_stamp_gap_ns - before.at_ns;
            before.stamps = first - before.first_ns;
            removed_ns_ += before.removed_ns();
            span_ns_ += max_stamp_gap_ns;
        }
        pieces_.push_back({.first_ns = first, .at_ns = span_ns_});
        span_ns_ += last - first;
    }
    if (pieces_.empty()) pieces_.emplace_back();
}

const CaptureTimeline::Piece& CaptureTimeline::piece_of_stamp(std::uint64_t stamp_ns) const {
    return *std::prev(
        std::upper_bound(pieces_.begin() + 1, pieces_.end(), stamp_ns,
                         [](std::uint64_t ns, const Piece& piece) { return ns < piece.first_ns; }));
}

const CaptureTimeline::Piece& CaptureTimeline::piece_of_time(std::uint64_t ns) const {
    return *std::prev(
        std::upper_bound(pieces_.begin() + 1, pieces_.end(), ns,
                         [](std::uint64_t at, const Piece& piece) { return at < piece.at_ns; }));
}

}  // namespace sluice
