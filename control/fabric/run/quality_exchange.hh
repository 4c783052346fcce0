// The switches of a fabric tell their neighbors the quality of the ways behind them (global load balancing),
// for lib/route/port_load.hh: at every multiple of an interval, for each destination that has a route, by
// traffic class. The message takes the time of the cable, and no room on it.
//
// For each destination a switch tells the worst band of its next hops' links and of the links that were told
// to it behind them; links to hosts do not count, as every way ends with them. A link that is down and a
// destination without a route are as bad as a link that is paused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/switch/running/running_switch.hh"
#include "lib/route/port_load.hh"

namespace sluice::fabric {

class QualityExchange {
  public:
    // Makes the board that each switch reads: its RunningOptions::remote.
    QualityExchange(const FabricPlan& plan, Duration interval);
    Duration interval() const { return interval_; }
    const RemoteQuality* board(std::size_t device) const { return tellers_[device].board.get(); }

    // Before the first turn: the switches by index, which outlive it.
    void join(const std::vector<RunningSwitch*>& switches);
    // At a multiple of the interval, between two windows.
    void tell(Time now);

  private:
    // To a destination by next hops.
    struct Way {
        IpPrefix prefix;
        std::uint32_t group;
        std::vector<PortId> ports;  // of its members, sorted
        bool operator==(const Way&) const = default;
    };
    struct Teller {
        RunningSwitch* running = nullptr;
        std::unique_ptr<RemoteQuality> board;
        std::vector<std::optional<std::size_t>> behind;  // by port: index of the switch; nothing: a host
        std::optional<std::uint64_t> generation{};       // of the policy that `ways` are of
        std::vector<Way> ways;                           // by prefix
        std::vector<RemoteQuality::Bands> own;           // by port, now
        std::vector<RemoteQuality::Bands> worst;         // by way, now
    };
    // A listener and what it hears of: a way of the switch behind a member of its own way.
    struct Hearing {
        std::size_t listener;
        PortId port;
        std::uint32_t group;
        std::size_t teller;
        std::size_t way;  // of the teller; or one of those below
    };
    static constexpr std::size_t own_hosts = SIZE_MAX, no_way = SIZE_MAX - 1;

    static std::vector<Way> ways_of(const RunningSwitch& running);
    bool follow_routes();
    void find_hearings();
    static void measure(Teller& teller, Time now);

    Duration interval_;
    std::vector<Hearing> hearings_;
    std::vector<Teller> tellers_;  // by index of the switch
};

}  // namespace sluice::fabric
