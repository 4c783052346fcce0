// The transmit side of a link: serializes frames at the port's speed, overhead included.
//
// A frame may start when the wire is free before `horizon` has passed. With horizon 0 the next frame starts
// exactly when the one before has ended. A horizon stands for a transmit ring that is filled once a turn:
// frames in it can no longer be held back, and the headroom has a term for them. While a turn is worked off
// piece by piece its ring may be filled in pieces, too. A transmitter with byte time
// 0 models nothing: a device with a ring of its own pushes back instead.
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
    // Whether frames of so many wire bytes can all start now: each, while the ones before it are sent.
    bool can_start_all(Time now, std::uint32_t wire_bytes) const {
        return max(now, busy_until_) + byte_time_ * wire_bytes < now + fill_;
    }
    // When can_start will next be true, if it is not now.
    Time next_start() const { return busy_until_ - horizon_ + Duration{1}; }
    Time busy_until() const { return busy_until_; }
    // Whether frames wait in a ring ahead of the wire.
    bool has_ring() const { return horizon_ != no_ring; }
    // Whether several frames can start at one moment: into a ring, or into a device that models none here.
    bool takes_bursts() const { return has_ring() || byte_time_.ps == 0; }
    // How far a ring may be filled for now, up to its horizon; never so little that a free wire stays free.
    void fill_up_to(Duration fill) {
        if (has_ring()) fill_ = std::clamp(fill, no_ring, horizon_);
    }

    // Forgets when the wire became free, once it is: a moment long past is never compared (Time wraps). Every
    // turn.
    void settle(Time now) { busy_until_ = max(busy_until_, now); }

    Duration byte_time() const { return byte_time_; }
    // Puts frames of so many wire bytes on the wire, one behind the other, and returns when the first starts.
    // The caller has asked can_start_all.
    Time start_all(Time now, std::uint32_t wire_bytes) {
        const Time begin = max(now, busy_until_);
        busy_until_ = begin + byte_time_ * wire_bytes;
        return begin;
    }
    // Puts a frame on the wire and returns when it starts. The caller has asked can_start.
    Time start(Time now, std::uint32_t frame_bytes) {
        const Time begin = max(now, busy_until_);
        busy_until_ = begin + byte_time_ * wire_bytes(frame_bytes);
        return begin;
    }

  private:
    static constexpr Duration no_ring{1};  // a wire that is free now is free before a picosecond has passed

    Duration byte_time_{};
    Duration horizon_ = no_ring;
    Duration fill_ = no_ring;
    Time busy_until_{};
};

}  // namespace sluice
