// The receive ring of a simulated port: frames that arrive between two turns wait in it, and those that do
// not fit are missed. The port counts them when the turn takes them, which comes to the same.
//
// The port calls `begin` before it takes frames, then `take` for each; times do not go back.
#pragma once

#include "lib/units.hh"

namespace sluice {

class ReceiveRing {
  public:
    explicit ReceiveRing(unsigned frames) : frames_(frames) {}

    // The worker's turn at `now`; the turn before has emptied the ring.
    void begin(Time now) {
        if (now != turn_) taken_ = 0;
        turn_ = now;
    }
    // One more frame has arrived since the turn before. False: the ring was full, the frame is lost.
    bool take() { return ++taken_ <= frames_; }
    // More than half of the ring was full at the turn of `now`.
    bool falls_behind(Time now) const { return now == turn_ && taken_ > frames_ / 2; }

  private:
    unsigned frames_;
    Time turn_{};
    unsigned taken_ = 0;  // at turn_
};

}  // namespace sluice
