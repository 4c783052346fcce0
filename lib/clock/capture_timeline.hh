// The timestamps of captures on the switch's clock, and back.
//
// Time 0 is the earliest stamp over all inputs. A gap above an hour in all inputs counts as one hour. Both
// directions never decrease, and one undoes the other. A moment within a shortened gap has the stamp as far
// behind the gap's beginning. Stamps are nanoseconds since the epoch, at most `latest_stamp_ns`. Control
// builds a timeline at the start; it never changes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lib/values/units.hh"

namespace sluice {

constexpr std::uint64_t max_stamp_gap_ns = std::uint64_t{3600} * 1'000'000'000;
// The seconds of a capture record are 32 bits, unsigned: 7 February 2106, 06:28:15.
constexpr std::uint64_t latest_stamp_ns = (std::uint64_t{UINT32_MAX} + 1) * 1'000'000'000 - 1;

// Ranges of stamps, added in any order, with gaps of more than an hour between them.
class StampRanges {
  public:
    void add(std::uint64_t stamp_ns) {
        if (stamp_ns < first_ns_ || stamp_ns > last_ns_) merge(stamp_ns, stamp_ns);
    }
    void add(const StampRanges& other) {
        for (const auto& [first, last] : other.ranges_) merge(first, last);
    }
    // The first and last stamp of each range, in order.
    const std::map<std::uint64_t, std::uint64_t>& all() const { return ranges_; }

  private:
    void merge(std::uint64_t first_ns, std::uint64_t last_ns);

    std::map<std::uint64_t, std::uint64_t> ranges_;
    std::uint64_t first_ns_ = 1;  // of the range that was merged last; none yet
    std::uint64_t last_ns_ = 0;
};

class CaptureTimeline {
  public:
    // A range and the gap behind it. The last gap has no end.
    struct Piece {
        std::uint64_t first_ns = 0;                                  // stamp
        std::uint64_t at_ns = 0;                                     // the same moment on the switch's clock
        std::uint64_t stamps = INT64_MAX;                            // from first_ns to the next piece's
        std::uint64_t times = INT64_MAX;                             // from at_ns to the next piece's
        std::uint64_t removed_ns() const { return stamps - times; }  // of the gap
    };

    CaptureTimeline() : CaptureTimeline(StampRanges{}) {}
    explicit CaptureTimeline(const StampRanges& ranges);

    const std::vector<Piece>& pieces() const { return pieces_; }  // at least one
    std::uint64_t origin_ns() const { return pieces_.front().first_ns; }
    std::uint64_t span_ns() const {
        return span_ns_;
    }  // on the switch's clock, from the first stamp to the last
    std::size_t shortened_gaps() const { return pieces_.size() - 1; }
    std::uint64_t removed_ns() const { return removed_ns_; }  // of all gaps

    // Not before the origin.
    const Piece& piece_of_stamp(std::uint64_t stamp_ns) const;
    const Piece& piece_of_time(std::uint64_t ns) const;
    std::uint64_t stamp_of(Time time) const {
        const std::uint64_t ns = time.ps / 1000;
        const Piece& piece = piece_of_time(ns);
        return piece.first_ns + (ns - piece.at_ns);
    }

  private:
    std::vector<Piece> pieces_;
    std::uint64_t span_ns_ = 0;
    std::uint64_t removed_ns_ = 0;
};

// Follows a timeline, which must outlive it: the next stamp is usually in the same piece.
class TimelineCursor {
  public:
    explicit TimelineCursor(const CaptureTimeline& timeline)
        : timeline_(&timeline), piece_(timeline.pieces().front()) {}
    Time time_of(std::uint64_t stamp_ns) {
        if (stamp_ns - piece_.first_ns >= piece_.stamps) [[unlikely]]
            piece_ = timeline_->piece_of_stamp(stamp_ns);
        return Time{(piece_.at_ns + (stamp_ns - piece_.first_ns)) * 1000};
    }
    std::uint64_t stamp_of(Time time) {
        const std::uint64_t ns = time.ps / 1000;
        if (ns - piece_.at_ns >= piece_.times) [[unlikely]]
            piece_ = timeline_->piece_of_time(ns);
        return piece_.first_ns + (ns - piece_.at_ns);
    }

  private:
    const CaptureTimeline* timeline_;
    CaptureTimeline::Piece piece_;
};

}  // namespace sluice
