// Runs switches under the virtual clock, on one thread: all of them, or that thread's share.
//
// At one instant, for all workers of a switch: (a) in port order, (b) in port order, (c) in ascending
// (ingress port, sequence) order, (d) in port order, until quiet; then its clock jumps to its earliest next
// moment. So the outcome does not depend on the number of workers. With a turn above 0 instants lie on a grid
// of that width.
//
// A window is shorter than any frame's way from one switch to another, so in it the runner takes each switch
// through all of its instants before the next one, and its own clock goes back and forth; between windows the
// clocks of all runners are equal.
//
// A port sleeps until its next frame arrives or leaves, a packet enters its queues, or control changes
// something; groups in use are judged all the same, because pools move. A switch sleeps until the earliest
// moment of its ports. An instant costs the switches that act in it, and their awake ports.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/ports/port.hh"
#include "dataplane/run/switch_clock.hh"
#include "lib/clock/calendar.hh"
#include "lib/values/port_mask.hh"

struct rte_mbuf;

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
    // Between windows: moves the clock to `instant`, which is not before now.
    void advance(Time instant) { now_ = instant; }
    // When a switch next acts, by its own time: not on the grid, and perhaps before now. Nothing: never by
    // itself.
    std::optional<Time> next();
    // The first instant on the grid that is not before `time`.
    Time on_grid(Time time) const;
    // Switches that control has changed since `next` act now.
    void rouse();
    // A window: the instant `begin`, and all later ones before `until`. After each of a switch's instants
    // `settle(number)` does control's part, and may run the instant `again`.
    template <class Settle>
    void run(Time begin, Time until, Settle settle) {
        enter(begin, until);
        for (const Due& due : ran_) {
            attend(due);
            do {
                run(devices_[due.number]);
                settle(due.number);
            } while (goes_on(due.number, until));
        }
        now_ = last_;
    }
    void again(std::uint32_t number) { run(devices_[number]); }

    struct Due {
        std::uint32_t number;
        Time at;
    };
    // Switches that ran in the last window, in their order, each with its first instant.
    std::span<const Due> ran() const { return ran_; }

    // What happened to data since the last call.
    struct Progress {
        std::optional<Time> moved;      // the last instant at which a frame of data moved; nothing: none did
        std::uint64_t idle_frames = 0;  // made by switches since they last moved data: refreshed pauses
    };
    Progress take_progress();
    // True when a frame of data can move without another event first: a run with nothing but refreshed pauses
    // left has ended.
    bool can_progress() const;

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
        PortMask judged;    // of those that sleep: their groups are in use, so they follow the pools
        PortAlarms alarms;  // of those that sleep
        // A group is judged anew only when cells have moved, so that an instant of one packet does not cost
        // all ports.
        std::uint64_t moves = 1;               // of cells, between groups and pools, and of limits
        std::vector<std::uint64_t> judged_at;  // by port: the moves then
        std::uint64_t collected = 0;           // of the board's batches
        Time all_awake;                        // when all were, the last time
        std::uint64_t awake_under = 0;         // the policy then, by its generation
        Progress progress;                     // in this window
        std::vector<rte_mbuf*> handed_off;     // of several workers
    };
    // Frames that left a port, and whether data were among them.
    struct Sent {
        unsigned frames;
        bool data;
    };

    void wake_if_changed(Device& device) const;
    std::optional<Time> next(Device& device) const;
    void look_at(std::uint32_t number);
    void enter(Time begin, Time until);
    void attend(const Due& due);
    bool goes_on(std::uint32_t number, Time until);
    void run(Device& device);
    static void take_all_releases(Device& device, const PortMask& ports, Time now);
    static void judge_port(Device& device, PortId id, Time now);
    static bool may_go_on(Device& device, Time now);
    static bool judge_all(Device& device, const PortMask& ports, Time now);
    static unsigned inject(Device& device, Time now);
    static std::span<rte_mbuf* const> handed_off(Device& device);
    static void merge(Device& device, Time now);
    Sent send(Device& device, PortId id, Time now) const;
    unsigned send_full_burst(Device& device, PortId from, Time now) const;

    std::deque<Device> devices_;
    Calendar calendar_;                 // of those that sleep
    std::vector<std::uint32_t> woken_;  // their next moment is to be found
    std::vector<Due> ran_;
    Duration turn_;
    Time now_{};
    Time last_{};  // instant of the window
    Progress progress_;
};

}  // namespace sluice
