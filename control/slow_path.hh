// Control's end of what ports punt, and of what is sent for them: a port's TAP gets it all and the kernel
// answers; at a port without one the responder does, if it is to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/config.hh"
#include "control/tap.hh"
#include "dataplane/control_path.hh"

namespace sluice {

class RunningSwitch;

class SlowPath {
  public:
    // From now on the port has a TAP of its name; an error's text, or empty.
    std::string open_tap(PortId id, const std::string& port, const MacAddress& mac, unsigned mtu);
    // Null: the port has none.
    const Tap* tap(PortId id) const { return id < taps_.size() ? taps_[id].get() : nullptr; }

    // Takes what is there by now, port by port and in the order of arrival, so that under the virtual clock
    // the same frames come back in the same order. True when it has given the workers frames to send.
    bool serve(RunningSwitch& running);

    // Frames that a port's TAP did not take: it was down, or its queue full.
    std::uint64_t refused(PortId id) const { return id < refused_.size() ? refused_[id] : 0; }

  private:
    bool answer(RunningSwitch& running, PortId id);
    bool exchange(RunningSwitch& running, PortId id);

    std::vector<std::unique_ptr<Tap>> taps_;  // by port; may be shorter than there are ports
    std::vector<std::uint64_t> refused_;
    std::vector<IpAddress> local_;  // of all ports, sorted; while `serve` runs
};

}  // namespace sluice
