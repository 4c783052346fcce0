// A fabric that runs: switches, hosts and cables under one virtual clock.
//
// A cable that is cut loses what is on it at once; its ends see it `detection` later, and `convergence` after
// that all routes are computed anew from what is seen then. A switch that is down loses power: all its cables
// are cut, and its own ports see it at once and drop their packets. A host's cable is seen at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/run/pause_watch.hh"
#include "control/fabric/run/quality_exchange.hh"
#include "control/serve/server/api.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/simulated_hosts.hh"
#include "control/switch/running/surroundings.hh"
#include "control/switch/running/virtual_loop.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/peers/fault_port.hh"
#include "dataplane/peers/link_port.hh"
#include "dataplane/run/switch.hh"

namespace sluice::fabric {

// The surroundings of one switch: ports that are ends of cables, ports with a host behind them.
class FabricPorts final : public Surroundings {
  public:
    // `specs`: of hosts, by port.
    FabricPorts(std::map<std::string, HostPortSpec> specs, SimulatedHosts::Hosts hosts)
        : hosts_(std::move(specs), std::move(hosts)) {}

    PortId id_of(const std::string& port) const { return ids_.at(port); }
    // The end of a cable at a port; null: a host is behind it.
    LinkPort* link(const std::string& port) const;
    // A host behind one of the ports, run up to now.
    HostPort* simulated(const std::string& name) const { return hosts_.find(name, running_->now()); }
    // This end sees its cable's state.
    void detect(const std::string& port, bool up);

    // ---- Surroundings
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::string join(RunningSwitch& running) override {
        running_ = &running;
        return {};
    }
    void configured() override { hosts_.configured(running_->config(), running_->now()); }
    std::vector<const HostPort*> hosts() const override { return hosts_.all(running_->now()); }
    LinkCause link_cause(PortId id) const override {
        return ends_[id] == nullptr || ends_[id]->link_up() ? LinkCause::none : LinkCause::no_carrier;
    }

  private:
    SimulatedHosts hosts_;
    std::vector<LinkPort*> ends_;        // by port; the switch owns them; null: a host's
    std::map<std::string, PortId> ids_;  // by name
    RunningSwitch* running_ = nullptr;   // from `join` on
};

struct FabricSwitch {
    const SwitchPlan* plan;
    std::unique_ptr<FabricPorts> ports;
    std::unique_ptr<RunningSwitch> running;
    std::unique_ptr<Api> api;
};

// An event of the fabric, with its time.
struct FabricEvent {
    Duration at;
    std::string kind;  // "link_cut", "link_detected_down", "routes_changed", ...
    std::string text;
};

class Fabric {
  public:
    struct Options {
        bool interactive = false;  // clients of the switches' sockets may change them
        unsigned threads = 1;      // a switch each at least; those of threads_for
        Stage stage = tell_nobody;
    };
    // EAL runs; `plan` is good and outlives the fabric. An error's text.
    static tl::expected<std::unique_ptr<Fabric>, std::string> create(const FabricPlan& plan,
                                                                     const Options& options);
    ~Fabric();

    const FabricPlan& plan() const { return plan_; }
    VirtualLoop& loop() { return *loop_; }
    Time now() const { return loop_->now(); }
    std::vector<FabricSwitch>& switches() { return switches_; }
    const std::vector<FabricSwitch>& switches() const { return switches_; }
    const HostPort& host(NodeId node) const;
    std::vector<const HostPort*> hosts() const;  // in the order of nodes
    // Before the run: hosts keep the results of their messages, for take_results.
    void keep_results();
    // Results of the host's messages that have ended since the last call, in order of time.
    std::vector<roce::MessageResult> take_results(NodeId node);

    // The ends of a link; null: the host's end, or its leaf's.
    std::array<LinkPort*, 2> ends(LinkId link) const;
    bool is_cut(LinkId link) const {
        return cables_[link].cut || cables_[link].dead != 0 || cables_[link].port_down;
    }

    // A command of the fabric's (commands.hh), now: an error's text, or empty.
    std::string set_link(LinkId link, bool up);
    std::string set_switch(NodeId node, bool up);
    // A port that a command has taken down, or up again, takes its cable with it. After commands.
    void follow_ports();

    const PauseWatch& pauses() const { return *pauses_; }
    const std::vector<FabricEvent>& events() const { return events_; }
    void note(std::string kind, std::string text) { note(now(), std::move(kind), std::move(text)); }

    // When packets may have begun to take other paths, last: a link or a switch went down or up, routes
    // changed, an event gave a switch a command. `before`: is called before each such change.
    Time moved() const { return moved_; }
    void before_moves(std::function<void()> before) { before_move_ = std::move(before); }
    void move();

    // After each instant of a switch, on its thread: one may look at that switch.
    void on_instant(std::function<void(std::uint32_t)> look) { look_at_ = std::move(look); }

    // Counts each frame that a host sent, a switch made or a fault added once. Between two windows.
    struct Ledger {
        std::uint64_t sent = 0;       // by hosts, PFC among it
        std::uint64_t made = 0;       // by switches: PFC, replies
        std::uint64_t added = 0;      // by faults: duplicates, pauses
        std::uint64_t delivered = 0;  // to hosts
        std::uint64_t consumed = 0;   // by switches: MAC control
        std::uint64_t dropped = 0;    // by switches, each with its reason
        std::uint64_t punted = 0;
        std::uint64_t missed = 0;   // receive rings that ran over
        std::uint64_t overrun = 0;  // receive buffers of slow hosts that ran over
        std::uint64_t lost_on_wire = 0;
        std::uint64_t lost_into_cut = 0;
        std::uint64_t lost_by_fault = 0;
        std::uint64_t queued = 0;  // in switches
        std::uint64_t on_wire = 0;
        bool balanced() const {
            return sent + made + added == delivered + consumed + dropped + punted + missed + overrun +
                                              lost_on_wire + lost_into_cut + lost_by_fault + queued + on_wire;
        }
        std::uint64_t lost() const {
            return dropped + missed + overrun + lost_on_wire + lost_into_cut + lost_by_fault;
        }
    };
    Ledger ledger() const;
    // Those that are lost, by place (a switch, a link or a host) and reason.
    using Losses = std::map<std::string, std::map<std::string, std::uint64_t>, NaturalOrder>;
    Losses losses() const;
    // Frames to an end of a link that were lost because its cable was cut.
    WireLosses wire_losses(LinkId link, unsigned end) const;
    // Packets of a lossless class among those that were lost on a link or at a host of it; of those that a
    // fault takes between a host and its switch the class is not known.
    std::uint64_t lossless_lost(LinkId link) const;

    // After the last instant: error texts.
    std::vector<std::string> close();

  private:
    struct Cable {
        bool cut = false;        // by command
        unsigned dead = 0;       // of its ends' switches, those without power
        bool port_down = false;  // of a switch, by a command of sluiced's
        bool seen_down = false;
    };

    explicit Fabric(const FabricPlan& plan) : plan_(plan), cables_(plan.topology.links.size()) {}
    std::string open(const Options& options);
    void note(Time at, std::string kind, std::string text);
    void after_window();
    void find_awaited();
    void tell_others(HostPort& host);
    const FaultPort* fault_of(const LinkEnd& end) const;
    HostPort& simulated(NodeId host);
    FabricSwitch& at(NodeId node) { return switches_[plan_.switch_of[node]]; }
    void changed(LinkId link);
    void see(LinkId link);
    void converge();

    const FabricPlan& plan_;
    std::unique_ptr<PacketPool> pool_;  // grows with what is in use
    unsigned free_packets_ = 0;
    bool out_of_memory_ = false;
    std::optional<QualityExchange> qualities_;  // before the switches, which read it
    std::vector<FabricSwitch> switches_;        // as in the plan
    std::vector<Cable> cables_;                 // by link
    // By switch: its hosts with transfers that those of others wait for; empty: there are none at all.
    std::vector<std::vector<HostPort*>> awaited_;
    std::vector<bool> down_;                        // nodes
    std::vector<std::vector<RouteConfig>> routes_;  // computed last, by switch
    std::vector<FabricEvent> events_;
    Time moved_{};
    std::function<void()> before_move_ = [] {};
    std::function<void(std::uint32_t)> look_at_;  // empty: nobody looks
    std::unique_ptr<VirtualLoop> loop_;
    std::unique_ptr<PauseWatch> pauses_;
};

// Threads of a run and the windows of the clock; neither changes the result of a run.
//
inline constexpr Duration max_window = microseconds(1);
// The windows are as long as the shortest cable between two switches, within max_window; on the grid of a
// turn they are instants. Each thread gets about the same part of every tier, neighbors together.
// `threads` is at most what threads_for says.
LoopWindows windows_of(const FabricPlan& plan, unsigned threads);

struct ThreadChoice {
    unsigned threads;  // at most as many as are wanted
    std::string why;   // a sentence, if they are fewer
};
// A fabric whose hosts can send little in a window stays on one thread: several would only wait.
ThreadChoice threads_for(const FabricPlan& plan, unsigned wanted);

}  // namespace sluice::fabric
