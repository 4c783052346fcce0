// A port under the virtual clock whose peer is a capture file, with nanosecond timestamps.
//
// The receive gate: a frame arrives at max(its timestamp, the end of the frame before it at the port's
// speed). Frames that this moved are counted. Timestamps on both sides are the start of a frame, and both are
// on the captures' clock: `timeline` turns them into the switch's time and back. A peer that obeys holds the
// frames of a class that we have paused; later frames of other classes go past them.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/peers/capture_file.hh"
#include "dataplane/peers/capture_output.hh"
#include "dataplane/peers/peer_port.hh"
#include "lib/clock/capture_timeline.hh"
#include "lib/frame/classify.hh"

namespace sluice {

struct CapturePortSpec {
    std::string input;                // empty: nothing ever arrives
    std::string output;               // empty: frames are discarded
    const CaptureTimeline* timeline;  // of all inputs; outlives the port
    Rate speed = gigabits(100);
    rte_mempool* pool = nullptr;
    unsigned ring_frames = 4096;     // receive ring
    std::optional<PeerDelay> obeys;  // nothing: the peer ignores PFC
    ClassMap map;                    // by which the peer tells its classes; priority = priority group
};

// Sends a capture's frames, and the backlog that a pause has delayed; writes the frames it receives.
class CaptureSource : public NothingUnderWay {
  public:
    struct Next {
        Time at;
        int backlog_class;  // -1: the file's next frame
    };

    explicit CaptureSource(const CapturePortSpec& spec)
        : pool_(spec.pool), map_(spec.map), input_time_(*spec.timeline) {}
    // An error's text, or empty.
    std::string open(const CapturePortSpec& spec);

    std::optional<Next> next_start(const PauseSender& wire) const {
        if (backlogged_classes_ != 0) [[unlikely]]
            return next_of_all(wire);
        return has_next_ ? std::optional(Next{next_of_file(wire), -1}) : std::nullopt;
    }
    Started start(const Next& next, PauseSender& wire);
    bool expects_frames(const PauseSender& wire) const;
    bool deliver(Packet* packet, Time departure) {
        if (output_) output_->write(packet, departure);
        return false;
    }
    void add_to(PortAccount& account) const;
    std::string close();

  private:
    struct BacklogFrame {
        std::vector<std::uint8_t> bytes;
        std::uint32_t wire_length;
    };

    void read_next();
    // Only where there is one.
    Time next_of_file(const PauseSender& wire) const { return max(stamp_, wire.free_at()); }
    std::optional<Next> next_of_all(const PauseSender& wire) const;
    // The class of the file's next frame; no_class, without parsing, while no class is paused and there is no
    // backlog.
    ClassId next_class(const PauseSender& wire) const {
        return backlogged_classes_ != 0 || wire.is_anything_paused() ? class_of_next()
                                                                     : PauseSender::no_class;
    }
    ClassId class_of_next() const;
    void backlog_next(ClassId n);
    Started start_backlogged(ClassId n, Time at, PauseSender& wire);
    Started start_frame(const CaptureReader::Frame& frame, ClassId n, Time at, PauseSender& wire);

    rte_mempool* pool_;
    ClassMap map_;
    std::optional<CaptureReader> reader_;
    std::optional<CaptureOutput> output_;
    TimelineCursor input_time_;
    CaptureReader::Frame next_;
    bool has_next_ = false;
    std::uint8_t backlogged_classes_ = 0;  // bit n: backlog_[n] is not empty
    Time stamp_{};                         // of next_
    std::array<std::deque<BacklogFrame>, classes> backlog_;
    std::uint64_t backlogged_count_ = 0;
    std::uint64_t moved_ = 0;
};

extern template class PeerPort<CaptureSource>;

class CapturePort final : public PeerPort<CaptureSource> {
  public:
    static tl::expected<std::unique_ptr<CapturePort>, std::string> open(const CapturePortSpec& spec);

  private:
    explicit CapturePort(const CapturePortSpec& spec)
        : PeerPort({spec.speed, spec.obeys, spec.ring_frames}, spec) {}
};

}  // namespace sluice
