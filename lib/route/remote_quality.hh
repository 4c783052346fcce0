// How busy the ways behind a switch's neighbors are, as these tell it: by port and next-hop group, the worst
// band of LinkQuality of any link from the neighbor on to where the group leads.
//
// Neighbors tell at every multiple of `interval`, and what one says is known here when it has crossed the
// cable. So what is known at a moment depends on that moment alone, and not on who asks in what order.
// Written between two windows of the virtual clock, read in them.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

class RemoteQuality {
  public:
    using Bands = std::array<std::uint8_t, classes>;  // by traffic class, of the teller

    // `interval` > 0. `delays`: by port, of the cable; above 0 where somebody tells anything.
    RemoteQuality(Duration interval, const std::vector<Duration>& delays) : interval_(interval) {
        for (const Duration delay : delays)
            ports_.push_back({delay, static_cast<std::size_t>(delay.ps / interval.ps) + 2, 0});
    }

    Duration interval() const { return interval_; }
    // Forgets everything; from now on there are so many groups.
    void reset(std::size_t groups) {
        groups_ = groups;
        std::size_t all = 0;
        for (Port& port : ports_) {
            port.first = all;
            all += port.messages * groups;
        }
        told_.assign(all, Bands{});
    }
    // The neighbor behind a port has said it at `now`, a multiple of the interval: it must at each of them.
    void tell(PortId port, std::uint32_t group, Time now, const Bands& bands) {
        assert(now.ps % unit() == 0 && ports_[port].delay.ps > 0);
        if (group < groups_) told_[place(ports_[port], now.ps / unit(), group)] = bands;
    }
    // As known at `now`; 0, idle, where nothing is.
    Bands bands(PortId port, std::uint32_t group, Time now) const {
        const Port& from = ports_[port];
        const auto delay = static_cast<std::uint64_t>(from.delay.ps);
        if (group >= groups_ || now.ps < delay) return {};
        return told_[place(from, (now.ps - delay) / unit(), group)];
    }

  private:
    struct Port {
        Duration delay;
        std::size_t messages;  // on the cable together, and the one that is known
        std::size_t first;     // of its places
    };

    std::uint64_t unit() const { return static_cast<std::uint64_t>(interval_.ps); }
    std::size_t place(const Port& port, std::uint64_t number, std::uint32_t group) const {
        return port.first + number % port.messages * groups_ + group;
    }

    Duration interval_;
    std::size_t groups_ = 0;
    std::vector<Port> ports_;
    std::vector<Bands> told_;  // by port, message and group
};

// Along a way the worst link counts, and of several ways the worst one: a packet may take it.
constexpr void take_worst(RemoteQuality::Bands& bands, const RemoteQuality::Bands& others) {
    for (std::size_t n = 0; n < bands.size(); ++n) bands[n] = std::max(bands[n], others[n]);
}

}  // namespace sluice
