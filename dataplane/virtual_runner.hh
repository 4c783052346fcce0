// Runs switches under the virtual clock, on the calling thread.
//
// At one instant, for all workers of a switch: (a) in port order, (b) in port order, (c) in ascending
// (ingress port, sequence) order, (d) in port order, until quiet; then the clock jumps to the earliest next
// moment. So the outcome does not depend on the number of workers. With a turn above 0 instants lie on a grid
// of that width. Ports at which an instant changes nothing are looked at once in it.
#pragma once

#include <optional>
#include <vector>

#include "dataplane/switch.hh"
#include "lib/port_mask.hh"

namespace sluice {

class VirtualRunner {
  public:
    VirtualRunner(const std::vector<Switch*>& switches, Duration turn);

    Time now() const { return now_; }
    // The next instant at which a switch has something to do; nothing when none ever will by itself.
    std::optional<Time> next() const;
    // The first instant on the grid that is not before `time`.
    Time on_grid(Time time) const;
    // The last instant at which a frame of data moved, and whether any could move without something else
    // happening first: a run in which nothing but refreshed pauses is left has ended.
    Time last_progress() const { return last_progress_; }
    bool can_progress() const;
    // Moves the clock to `instant`, which is not before now.
    void advance(Time instant) { now_ = instant; }
    // Runs every switch until quiet.
    void run();

  private:
    struct OwnedPort {
        WorkerContext* owner;
        PortContext* port;
    };
    struct Device {
        Switch* device;
        std::vector<OwnedPort> ports;  // in their order
        PortMask awake;                // in this instant, so far
    };

    void run(Device& device);
    static unsigned inject(Device& device, Time now);
    static void merge(Device& device, Time now);

    std::vector<Device> devices_;
    Duration turn_;
    Time now_{};
    Time last_progress_{};
};

}  // namespace sluice
