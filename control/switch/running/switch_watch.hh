// Makes events of what a switch counts, for control: those that no lossless switch should see, once a port
// and reason (a lossless packet dropped, a receive ring overrun, a worker that fell behind), storms of the
// PFC watchdog, microbursts, deaf peers, links. Control's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/switch/running/deaf_peers.hh"
#include "control/switch/running/link_watch.hh"
#include "control/switch/running/loss_watch.hh"
#include "control/switch/running/watchdog.hh"
#include "lib/values/ids.hh"

namespace sluice {

class Mirrors;
class Observation;
class RunningSwitch;

class SwitchWatch {
  public:
    // `observation`: from which it takes the workers' events; null: somebody else does.
    SwitchWatch(RunningSwitch& running, Mirrors& mirrors, Observation* observation);

    // Under the virtual clock, after an instant: whether `note_news` would find anything but decisions and
    // frames of mirrors.
    bool is_due() const;
    // After each step of the clock: takes the workers' events.
    void note_news();
    // The cause of the port's link state may have changed.
    void note_link(PortId id);

    LossWatch& losses() { return losses_; }
    const LinkWatch& links() const { return links_; }
    const DeafPeers& deaf_peers() const { return deaf_peers_; }

  private:
    void note_watchdog(const WatchdogNotice& notice);
    void note_microbursts();
    void note_deaf_peers();
    void note_long_turns();
    void note_drops(PortId id);

    RunningSwitch& running_;
    Mirrors& mirrors_;
    Observation* observation_;
    LossWatch losses_;
    WatchdogWatch watchdog_;
    DeafPeers deaf_peers_;
    LinkWatch links_;
    // As they were when it looked last.
    std::uint64_t news_ = 0, drops_ = 0, falls_behind_ = 0;
    std::array<std::uint64_t, max_workers> longest_turn_ps_{};
    std::size_t microbursts_ = 0;
};

}  // namespace sluice
