// Ports under the virtual clock: captures in and out, all on one timeline, or a simulated host.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/switch/running/running_switch.hh"
#include "control/switch/running/simulated_hosts.hh"
#include "control/switch/running/surroundings.hh"
#include "lib/clock/capture_timeline.hh"

namespace sluice {

// The result of reading every input whole, so that a damaged one is refused before the start.
struct ScannedCaptures {
    StampRanges stamps;
    std::string first_file, last_file;  // that hold the first frame and the last
    // Events of the start, kind and text: "empty_capture", "port h0: in.pcap holds no frames", and
    // "partial_capture", with what was left out of one.
    std::vector<std::pair<std::string, std::string>> notes;
};
tl::expected<ScannedCaptures, std::string> scan_captures(const Config& config);

class VirtualPorts final : public Surroundings {
  public:
    // An error: captures too far apart for the clock, which runs at most 100 days.
    static tl::expected<std::unique_ptr<VirtualPorts>, std::string> create(const Config& config);

    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::string join(RunningSwitch& running) override;
    void configured() override { hosts_.configured(running_->config(), running_->now()); }
    const CaptureTimeline& timeline() const override { return timeline_; }
    std::vector<const HostPort*> hosts() const override { return hosts_.all(running_->now()); }

  private:
    VirtualPorts(const Config& config, ScannedCaptures scanned);

    std::vector<std::pair<std::string, std::string>> notes_;
    CaptureTimeline timeline_;
    SimulatedHosts hosts_;
    RunningSwitch* running_ = nullptr;  // from `join` on
};

}  // namespace sluice
