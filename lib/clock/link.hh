// The transmit side of a link: serializes frames at the port's speed, overhead included.
//
// A frame may start when the wire is free before `horizon` has passed. With horizon 0 the next frame starts
// when the one before has ended. A horizon stands for a transmit ring that is filled once a turn: a pause
// cannot stop frames in it, and the headroom has a term for them. A turn may fill its ring in pieces. A
// transmitter with byte time 0 models nothing: a device with a ring of its own pushes back instead.
#pragma once

#include <algorithm>

#include "lib/values/units.hh"

namespace sluice {

class LinkTransmitter {
  public:
    LinkTransmitter() = default;
    LinkTransmitter(Duration byte_time, Duration horizon)
        : byte_time_(byte_time), horizon_(horizon.ps == 0 ? no_ring : horizon), fill_(horizon_) {}

    bool can_start(Time now) const { return busy_until_ < now + fill_; }
    // True when frames of so many wire bytes can all start now.
    bool can_start_all(Time now, std::uint32_t wire_bytes) const {
        return max(now, busy_until_) + byte_time_ * wire_bytes < now + fill_;
    }
    // When can_start will next be true, if it is not now.
    Time next_start() const { return busy_until_ - horizon_ + Duration{1}; }
    Time busy_until() const { return busy_until_; }
    // True when frames wait in a ring ahead of the wire.
    bool has_ring() const { return horizon_ != no_ring; }
    // True when several frames can start at one moment: into a ring, or into a device with a ring of its own.
    bool takes_bursts() const { return has_ring() || byte_time_.ps == 0; }
    // Limits the fill of a ring for now, up to its horizon; a free wire always gets a frame.
    void fill_up_to(Duration fill) {
        if (has_ring()) fill_ = std::clamp(fill, no_ring, horizon_);
    }

    // Every turn: forgets when a free wire became free, as a moment long past cannot be compared (Time
    // wraps).
    void settle(Time now) { busy_until_ = max(busy_until_, now); }

    Duration byte_time() const { return byte_time_; }
    // Puts frames of so many wire bytes on the wire; returns when the first starts. Only after can_start_all.
    Time start_all(Time now, std::uint32_t wire_bytes) {
        const Time begin = max(now, busy_until_);
        busy_until_ = begin + byte_time_ * wire_bytes;
        return begin;
    }
    // Puts a frame on the wire; returns when it starts. Only after can_start.
    Time start(Time now, std::uint32_t frame_bytes) { return start_all(now, wire_bytes(frame_bytes)); }

  private:
    static constexpr Duration no_ring{1};  // a wire that is free now is free before a picosecond has passed

    Duration byte_time_{};
    Duration horizon_ = no_ring;
    Duration fill_ = no_ring;
    Time busy_until_{};
};

}  // namespace sluice
