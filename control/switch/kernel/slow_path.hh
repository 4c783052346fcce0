// Control's end of punted frames and of the replies: a port's TAP gets all of them and the kernel answers; at
// a port without a TAP the responder does, if configured. Frames that wait for a neighbor wait here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/switch/kernel/tap.hh"
#include "dataplane/path/control_path.hh"
#include "lib/punt/pending_frames.hh"

namespace sluice {

class Switch;

// The switch that the slow path serves, at a moment.
struct ServedSwitch {
    Switch& device;
    const Config& config;
    const std::vector<std::string>& port_names;
    const std::vector<MacAddress>& macs;  // by port
    Time now;
    bool workers_stand_still;  // as under the virtual clock
};

class SlowPath {
  public:
    // Makes a TAP of the port's name, or replaces one that has gone; an error's text, or empty.
    std::string open_tap(PortId id, const std::string& port, const MacAddress& mac, unsigned mtu);
    // Null: the port has none.
    Tap* tap(PortId id) { return id < taps_.size() ? taps_[id].get() : nullptr; }
    const Tap* tap(PortId id) const { return id < taps_.size() ? taps_[id].get() : nullptr; }

    // True when there may be frames beside punted ones: from a TAP, or waiting for a neighbor.
    bool has_frames() const { return !taps_.empty() || pending_.size() != 0; }
    // Takes the punted frames port by port in the order of arrival, the same under the virtual clock in each
    // run. True when it has given the workers frames to send.
    bool serve(const ServedSwitch& of);

    struct Account {
        std::uint64_t refused = 0;  // frames that the port's TAP did not take: it was down, gone, or full
        std::uint64_t lost = 0;     // replies, and frames that waited, for which the way to the port was full
    };
    Account account(PortId id) const { return id < accounts_.size() ? accounts_[id] : Account{}; }
    // Frames of a port that wait for a neighbor.
    std::size_t waiting(PortId id) const { return pending_.of_port(id); }

  private:
    using Punted = FrameMailbox<PuntHead>::Slot;

    bool answer(const ServedSwitch& of, PortId id);
    bool exchange(const ServedSwitch& of, PortId id);
    bool keep(const ServedSwitch& of, PortId id, const Punted& in);
    bool settle(const ServedSwitch& of);
    // Hands the frame to the port, or counts it as lost.
    bool give(Switch& device, PortId id, std::span<const std::uint8_t> frame, const InjectHead& head);

    std::vector<std::unique_ptr<Tap>> taps_;  // by port; may be shorter than there are ports
    std::vector<Account> accounts_;           // likewise
    PendingFrames pending_;
    std::uint64_t served_ = 0;      // of the workers' punts; under the virtual clock
    std::vector<IpAddress> local_;  // of all ports, sorted; while `serve` runs
};

}  // namespace sluice
