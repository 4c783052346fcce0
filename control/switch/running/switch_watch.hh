// Makes events from a switch's counters: lossless drops, overruns of receive rings and workers that fell
// behind, once a port and reason; storms of the PFC watchdog, microbursts, deaf peers, links.
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
    // `observation`: collects the workers' events; null: the caller does.
    SwitchWatch(RunningSwitch& running, Mirrors& mirrors, Observation* observation);

    // `note_news` would find no more than decisions and mirrored frames while Switch::news is this, before
    // this moment.
    std::uint64_t news_seen() const { return news_; }
    Time next_losses() const { return losses_.next(); }
    // After each step of the clock: collects the workers' events.
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
