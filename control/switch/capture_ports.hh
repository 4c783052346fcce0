// Ports under the virtual clock: captures in and out, all on one timeline.
#pragma once

#include <string>
#include <vector>

#include "control/switch/capture_span.hh"
#include "control/switch/surroundings.hh"

namespace sluice {

// What reading every input whole has found: a damaged one is refused before anything starts.
struct ScannedCaptures {
    CaptureSpan span;
    std::vector<std::string> empty;  // "port h0: in.pcap holds no frames"
};
tl::expected<ScannedCaptures, std::string> scan_captures(const Config& config);

class CapturePorts final : public Surroundings {
  public:
    // An error's text when the captures are too far apart for one clock.
    static tl::expected<std::unique_ptr<CapturePorts>, std::string> create(const Config& config);

    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::string join(RunningSwitch& running) override;
    const CaptureTimeline& timeline() const override { return timeline_; }

  private:
    CapturePorts(std::vector<std::string> empty_captures, CaptureTimeline timeline)
        : empty_captures_(std::move(empty_captures)), timeline_(std::move(timeline)) {}

    std::vector<std::string> empty_captures_;
    CaptureTimeline timeline_;
};

}  // namespace sluice
