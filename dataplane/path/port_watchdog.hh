// The PFC watchdog of a port as its owner keeps it: the state machine, the actions in force, the counters.
#pragma once

#include <array>

#include "lib/pfc/pfc_watchdog.hh"
#include "lib/threads/counters.hh"
#include "lib/values/class_mask.hh"

namespace sluice {

// Written by the port's owner, read by control. A storm is counted until the next one begins; a cut by the
// operator counts its packets like a storm, but is none.
struct WatchdogCounters {
    Counter state;     // WatchdogState
    Counter action;    // WatchdogAction of the storm or cut that is or was last
    Counter detected;  // storms
    Counter restored;  // storms that have ended: quiet, link down, stopped
    Counter storm_passed;
    Counter storm_dropped;  // from the egress queue, and overruns of the ingress group meanwhile
    Counter total_passed;
    Counter total_dropped;
    Counter against_pause;  // passed by `forward` against the peer's pause

    void begin() {
        storm_passed.set(0);
        storm_dropped.set(0);
    }
    void drop(std::uint64_t packets) {
        storm_dropped.add(packets);
        total_dropped.add(packets);
    }
};

struct PortWatchdog {
    std::uint8_t discards = 0;  // bit n: queue n is emptied, and gets nothing (action drop)
    std::uint8_t mutes = 0;     // bit n: no PFC is sent for priority n
    bool settings_changed = true;
    PfcWatchdog machine;
    std::array<std::uint8_t, classes> taken{};         // by queue: the priorities that its action took over
    std::array<std::uint64_t, classes> sent_before{};  // by queue: packets, as of the last look in its action
    std::array<WatchdogCounters, classes> counters{};

    // True when a packet for `queue` must be discarded; counts it.
    bool discard(ClassId queue) {
        if ((discards >> queue & 1U) == 0) [[likely]]
            return false;
        counters[queue].drop(1);
        return true;
    }
    // True when the watchdog has muted the group that has just overrun its headroom; counts the packet.
    bool takes_overrun(ClassId group) {
        if ((mutes >> group & 1U) == 0) return false;
        for_each_class(discards, [&](ClassId queue) {
            if ((taken[queue] >> group & 1U) != 0) counters[queue].drop(1);
        });
        return true;
    }
};

}  // namespace sluice
