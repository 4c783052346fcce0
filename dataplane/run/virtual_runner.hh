// Runs switches under the virtual clock, on the calling thread.
//
// At one instant, for all workers of a switch: (a) in port order, (b) in port order, (c) in ascending
// (ingress port, sequence) order, (d) in port order, until quiet; then the clock jumps to the earliest next
// moment. So the outcome does not depend on the number of workers. With a turn above 0 instants lie on a grid
// of that width.
//
// A port for which nothing is left to do but to receive what arrives sleeps until then, or until a frame
// leaves by it or control changes something; so does a switch, by the earliest moment of its ports. An
// instant costs the switches that have something to do in it, and of these the ports that are awake.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/ports/awake_ports.hh"
#include "dataplane/run/switch_clock.hh"
#include "lib/calendar.hh"
#include "lib/port_alarms.hh"
#include "lib/port_mask.hh"

namespace sluice {

class Switch;
struct PortContext;
struct WorkerContext;

class VirtualRunner final : public SwitchClock {
  public:
    // The switches outlive it.
    VirtualRunner(const std::vector<Switch*>& switches, Duration turn);
    ~VirtualRunner() override;
    VirtualRunner(const VirtualRunner&) = delete;
    VirtualRunner& operator=(const VirtualRunner&) = delete;

    Time now() const override { return now_; }
    // The next instant at which a switch has something to do; nothing when none ever will by itself.
    std::optional<Time> next();
    // The first instant on the grid that is not before `time`.
    Time on_grid(Time time) const;
    // The last instant at which a frame of data moved, and whether any could move without something else
    // happening first: a run in which nothing but refreshed pauses is left has ended.
    Time last_progress() const { return last_progress_; }
    bool can_progress() const;
    // Frames that switches have made since data last moved, or since `reset_idle_frames`: refreshed pauses.
    std::uint64_t idle_frames() const { return idle_frames_; }
    void reset_idle_frames() { idle_frames_ = 0; }
    // Moves the clock to `instant`, which is not before now.
    void advance(Time instant) { now_ = instant; }
    // Control has put frames into the switch, the `number`-th.
    void wake(std::uint32_t number) { devices_[number].awake.wake(); }
    // Runs until quiet every switch that has something to do now, or had since the clock moved.
    void run();
    // Those, in their order.
    std::span<const std::uint32_t> ran() const { return ran_; }

  private:
    struct OwnedPort {
        WorkerContext* owner;
        PortContext* port;
    };
    struct Device {
        Device(Switch* of, Time now);

        Switch* device;
        AwakePorts& awake;
        std::vector<OwnedPort> ports;  // in their order
        PortMask everyone;
        PortAlarms alarms;              // of those that sleep
        Time all_awake;                 // when all were, the last time
        std::uint64_t awake_under = 0;  // the policy then, by its generation
    };

    void wake_if_changed(Device& device) const;
    std::optional<Time> next(Device& device) const;
    void run(Device& device);
    static unsigned inject(Device& device, Time now);
    static void merge(Device& device, Time now);

    std::deque<Device> devices_;
    Calendar calendar_;                 // of those that sleep
    std::vector<std::uint32_t> woken_;  // their next moment is to be found
    std::vector<std::uint32_t> ran_;
    Duration turn_;
    Time now_{};
    Time last_progress_{};
    std::uint64_t idle_frames_ = 0;
};

}  // namespace sluice
