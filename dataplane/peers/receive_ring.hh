// The receive ring of a simulated port: frames that arrive between two turns wait in it, and those that do
// not fit are missed. The port counts them when the turn takes them, which comes to the same.
//
// The port calls `begin` before it takes frames, then `hand_out` for each; times do not go back.
#pragma once

#include <cstdint>
#include <span>

#include "dataplane/base/packet.hh"
#include "lib/values/units.hh"

namespace sluice {

class ReceiveRing {
  public:
    explicit ReceiveRing(unsigned frames) : frames_(frames) {}

    // The worker's turn at `now`; the turn before has emptied the ring.
    void begin(Time now) {
        if (now != turn_) taken_ = 0;
        turn_ = now;
    }
    // A frame has arrived since the turn before: appends it to `out`, or frees it because the ring was full.
    void hand_out(Packet* packet, std::span<Packet*> out, unsigned& count) {
        if (++taken_ <= frames_) [[likely]] {
            out[count++] = packet;
        } else {
            rte_pktmbuf_free(packet);
            ++missed_;
        }
    }
    // More than half of the ring was full at the turn of `now`.
    bool falls_behind(Time now) const { return now == turn_ && taken_ > frames_ / 2; }
    std::uint64_t missed() const { return missed_; }

  private:
    unsigned frames_;
    Time turn_{};
    unsigned taken_ = 0;  // at turn_
    std::uint64_t missed_ = 0;
};

}  // namespace sluice
