// A port under the virtual clock whose peer is a capture file: frames in with nanosecond timestamps, frames
// out with switch time.
//
// The receive gate: a frame arrives at max(its timestamp, the end of the frame before it at the port's
// speed). Frames that this moved are counted. Timestamps on both sides are the start of a frame, and both are
// on the captures' clock: `timeline` turns them into the switch's time and back. A peer that obeys holds the
// frames of a class that we have paused; later frames of other classes go past them. Between turns arrivals
// wait in a receive ring of bounded length; what does not fit is missed.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "dataplane/capture_file.hh"
#include "dataplane/port.hh"
#include "lib/capture_timeline.hh"
#include "lib/classify.hh"
#include "lib/pause_sender.hh"

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

class CapturePort final : public Port {
  public:
    static tl::expected<std::unique_ptr<CapturePort>, std::string> open(const CapturePortSpec& spec);

    unsigned receive(std::span<Packet*> out, Time now) override;
    std::optional<bool> falls_behind(Time now) const override {
        return now == instant_ && ring_ > spec_.ring_frames / 2;
    }
    unsigned transmit(std::span<Packet* const> frames) override;
    bool expects_frames() const override;
    PortAccount account() const override;
    void set_overshoot(std::uint64_t bytes) override {
        sender_.set_overshoot(bytes);
        forget_arrival();
    }
    std::uint64_t lose_until(Time now) override;
    std::string close() override;

  private:
    std::optional<Time> find_next_arrival() const override;

    struct HeldFrame {
        std::vector<std::uint8_t> bytes;
        std::uint32_t wire_length;
    };

    explicit CapturePort(const CapturePortSpec& spec)
        : spec_(spec),
          input_time_(*spec.timeline),
          output_time_(*spec.timeline),
          sender_(spec.obeys.value_or(PeerDelay{}), spec.speed) {}
    void read_next();
    ClassId priority_of(const CaptureReader::Frame& frame) const;
    // The next thing the sender does: start a frame, of the file or held, or take up a pause.
    struct Next {
        Time at;
        int held_class;  // -1: the file's next frame
    };
    std::optional<Next> next_start() const;
    // The class of the file's next frame; none that a pause could hold while nothing is paused or held: then
    // nobody need look.
    ClassId next_class() const;
    // Carries out one step at or before `now`; a frame that has started, or null. False when there is none.
    bool step(Time now, Packet*& started, bool& lost);
    Packet* start(const CaptureReader::Frame& frame, ClassId priority, Time at);
    void write(Packet* packet, Time departure);
    Packet* start_next(ClassId priority, Time at);  // of the file
    // No pause and no frame that one held: the file's frames start one after the other.
    bool is_unhindered() const { return holds_ == 0 && sender_.is_unhindered(); }
    Time next_of_file() const { return max(stamp_, sender_.free_at()); }  // only where there is one

    CapturePortSpec spec_;
    std::optional<CaptureReader> reader_;
    std::optional<CaptureWriter> writer_;
    TimelineCursor input_time_;
    TimelineCursor output_time_;
    CaptureReader::Frame next_;
    bool has_next_ = false;
    Time stamp_{};  // of next_
    PauseSender sender_;
    std::array<std::deque<HeldFrame>, classes> held_;
    std::uint8_t holds_ = 0;  // bit n: held_[n] is not empty
    std::uint64_t held_count_ = 0;
    std::uint64_t missed_ = 0;
    std::uint64_t moved_ = 0;
    Time instant_{};     // of the last receive
    unsigned ring_ = 0;  // frames that had arrived by then since the turn before
};

}  // namespace sluice
