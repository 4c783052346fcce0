// A flow while it runs: the time of its next frame, and that frame. Frame n is a function of (flow, seed,
// n) alone, but for a TCP flow's sequence numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/traffic/frame.hh"
#include "tools/traffic/recipe.hh"

namespace sluice::traffic {

class FlowSource {
  public:
    // `flow` must outlive this.
    FlowSource(const Flow& flow, Rate link_speed, std::uint64_t seed);

    bool done() const { return done_; }
    Duration next() const { return next_; }  // not before this, since the start of the recipe
    bool is_mac_control() const { return traffic::is_mac_control(flow_.kind); }
    // Makes the next frame if it may still leave at `now`; else the flow is done, and false.
    bool build(Duration now, Frame& frame);

  private:
    void schedule(Duration now, std::size_t frame_bytes);
    RoceFields roce_fields(std::uint64_t n) const;
    PayloadSpec payload_spec(std::uint64_t n) const;
    void build_frame(Frame& frame);

    const Flow& flow_;
    Rate link_speed_;
    std::uint64_t seed_;
    std::vector<std::uint32_t> packets_in_message_;  // of each operation of the cycle that starts a message
    std::vector<std::uint32_t> tcp_sequence_;        // of each connection
    std::uint64_t sent_ = 0;
    Duration next_;
    Duration burst_start_;
    bool done_ = false;
};

}  // namespace sluice::traffic
