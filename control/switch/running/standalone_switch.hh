// A switch with its clock, as sluiced runs it: captures under the virtual clock, devices under the real one.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "control/switch/running/device_ports.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/virtual_loop.hh"
#include "dataplane/base/eal.hh"
#include "dataplane/run/real_runner.hh"

namespace sluice {

struct StandaloneOptions {
    RunningOptions running{};
    bool force = false;  // accepts reasons why its network cards are not lossless
    std::string pci_folder = PciDevice::usual_folder;
};

class StandaloneSwitch {
  public:
    // Before EAL's start: an error's text for network cards that cannot be used, or empty.
    static std::string unusable_cards(const Config& config,
                                      const std::string& pci_folder = PciDevice::usual_folder);
    // After EAL's start. An error is a line that names the port.
    static tl::expected<std::unique_ptr<StandaloneSwitch>, std::string> create(
        const Config& config, const StandaloneOptions& options);
    ~StandaloneSwitch();
    StandaloneSwitch(const StandaloneSwitch&) = delete;
    StandaloneSwitch& operator=(const StandaloneSwitch&) = delete;

    RunningSwitch& running() { return *running_; }
    // Null under the other clock.
    VirtualLoop* virtual_loop() { return virtual_.get(); }
    RealRunner* real_runner() { return real_.get(); }
    DevicePorts* devices() { return devices_; }

  private:
    StandaloneSwitch() = default;
    std::string open(const Config& config, const StandaloneOptions& options);

    std::unique_ptr<Surroundings> surroundings_;
    DevicePorts* devices_ = nullptr;  // of `surroundings_`; null under the virtual clock
    std::unique_ptr<RunningSwitch> running_;
    std::unique_ptr<VirtualLoop> virtual_;
    std::unique_ptr<RealRunner> real_;
};

}  // namespace sluice
