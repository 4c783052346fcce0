// A switch made from a configuration, and the only way to change it while it runs. A value: several can live
// in one process. Where its ports come from its surroundings say; a runner gives it turns, and its clock.
//
// The .cc files: changes; _ports: its parts; _notes: its watches.
//
// Owns, in this order: packet pool, routes, ports and workers. Every change compiles a whole new policy,
// which names the tables of routes, publishes it and returns when all workers run it; what cannot be compiled
// changes nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/compile.hh"
#include "control/config/compile/wires.hh"
#include "control/config/lint/lint.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/config.hh"
#include "control/switch/kernel/link_watch.hh"
#include "control/switch/kernel/slow_path.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/class_changes.hh"
#include "control/switch/running/deaf_peers.hh"
#include "control/switch/running/event_log.hh"
#include "control/switch/running/growing_loss.hh"
#include "control/switch/running/limit_change.hh"
#include "control/switch/running/observation.hh"
#include "control/switch/running/surroundings.hh"
#include "control/switch/running/watchdog.hh"
#include "dataplane/run/switch_clock.hh"

namespace sluice {

class FaultPort;
class PacketPool;
class Switch;
struct PortSpec;

struct RunningOptions {
    std::string name = "sluice";        // unique in the process
    std::uint32_t identity = 0;         // among the switches of a run: their draws differ (WRED, faults)
    unsigned trace_slots = 0;           // per queue; 0: no depth trace
    std::vector<std::string> forced{};  // force.hh: accepted reasons why it is not lossless
    unsigned packets = 0;               // packet buffers; 0: as many as the configuration needs
    bool observes = true;               // false: the caller takes the workers' events
    rte_mempool* pool = nullptr;        // of the packet buffers, shared with other switches; null: its own
    const RemoteQuality* remote = nullptr;  // what its neighbors tell; outlives the switch. null: nothing
};

class RunningSwitch {
  public:
    // EAL runs. An error is one line that names the port. `surroundings` outlives the switch.
    static tl::expected<std::unique_ptr<RunningSwitch>, std::string> create(const Config& config,
                                                                            RunningOptions options,
                                                                            Surroundings& surroundings);
    ~RunningSwitch();
    RunningSwitch(const RunningSwitch&) = delete;
    RunningSwitch& operator=(const RunningSwitch&) = delete;
    // Before the first turn; it outlives the switch, or is not asked any more. Until then it is 0.
    void set_clock(const SwitchClock& clock) { clock_ = &clock; }

    // Each returns an error's text, or empty. Under the real clock they wait until every worker runs the
    // change or is late; a change that the memory or the tables of a late worker forbid is refused.
    std::string set_port(const std::string& name, bool up);
    std::string hold_queue(const std::string& port, ClassId queue, bool hold);
    // Decision records from now on as `wanted` says, which check_decisions has found good; `what`: the
    // command's words.
    std::string set_decisions(const DecisionsConfig& wanted, const std::string& what);
    std::string apply(Config config) { return apply(std::move(config), forced()); }
    // `forced`: accepted reasons why it is not lossless.
    std::string apply(Config config, std::vector<std::string> forced);
    const std::vector<std::string>& forced() const { return state_.forced; }
    // Routes and neighbors alone, the configuration's or the kernel's; the cost is that of the changed
    // entries.
    std::string change_routes(const RouteChanges& changes);
    std::string run_watchdog(const std::string& port, bool start);
    std::string big_red_switch(bool on);
    // Users' watermarks start anew, by the hand of their owners.
    std::string clear_user_watermarks();
    // Of the policy that every worker runs.
    std::uint64_t generation() const;
    // Faults of a port from now on; under the virtual clock only. `what` was said, for the list of events.
    void set_fault(const std::string& port, const FaultSettings& fault, const std::string& what);
    // Null: the port never had one.
    const FaultPort* fault_port(PortId id) const { return fault_ports_[id]; }
    const WireRuleIds& wire_rules() const { return wire_rules_; }
    // A change waits until use fits its limits.
    bool is_changing() const { return change_->is_pending(); }
    // Cells in use beyond limits that were cut; the rest of that change follows when they have left.
    std::int64_t pending_cells() const { return change_->pending_cells(); }
    // Control, after each step of the clock: the second half of a change of limits, once use fits. True when
    // it came: under the virtual clock the instant is then to be run again, for groups that may resume now.
    bool finish_change();
    // Lossless classes that wait for their limits.
    const ClassChanges& class_changes() const { return class_changes_; }
    const DeafPeers& deaf_peers() const { return deaf_peers_; }
    // Where the cells are that a pending change waits for.
    std::optional<LimitChange::QueueName> awaited_queue() const { return change_->fullest_queue(); }
    // The text on a worker that has not taken up the published policy (publication.hh); empty: all run it.
    std::string late_worker() const { return change_->publication().late(); }

    const Config& config() const { return config_; }
    Switch& device() { return *switch_; }
    const Switch& device() const { return *switch_; }
    const Routes& routes() const { return *routes_; }
    const std::vector<std::string>& port_names() const { return names_; }
    std::optional<PortId> find_port(std::string_view name) const;
    bool is_up(const std::string& name) const { return !state_.down.contains(name); }
    const LinkWatch& links() const { return links_; }
    const EffectiveQos& qos() const { return qos_; }
    // Why the configuration does not promise to be lossless; empty when it does.
    std::vector<std::string> broken_promises() const;
    // The inputs' captures on the switch's clock; under the real clock nothing.
    const CaptureTimeline& timeline() const { return surroundings_.timeline(); }

    bool is_virtual() const { return config_.clock == ClockKind::virtual_time; }
    Time now() const { return clock_ != nullptr ? clock_->now() : Time{}; }
    // Workers run on other threads now: only shared state may be read.
    bool is_live() const { return clock_ != nullptr && clock_->is_running(); }

    // Under the virtual clock, after an instant: whether control has anything to do there. If not, none of
    // what follows would find anything.
    bool wants_control() const;
    // Control, after each step of the clock: takes the workers' events, and notes those that no lossless
    // switch should see, once a port and reason: a lossless packet dropped, a receive ring overrun, a worker
    // that fell behind.
    void watch();
    // Frames that receive rings and interfaces lost: `watch` looks now and then, and the end of a virtual
    // clock's run looks once more. `at_end`, of the whole run: tells the sums.
    void look_at_rings(bool at_end = false);
    // What the ports' cards make of a configuration.
    std::vector<Finding> nic_findings(const Config& config) const { return surroundings_.findings(config); }
    // Null: the port is none of a device; there is no such simulated host; the kernel has no part.
    const DevicePort* device_port(PortId id) const { return surroundings_.device_port(id); }
    const HostPort* host(const std::string& name) const { return surroundings_.host(name); }
    const KernelControl* kernel() const { return surroundings_.kernel(); }
    // Control, once a round, and under the virtual clock after each instant: takes frames that ports have
    // punted. True when frames wait to be sent for it: under the virtual clock the instant is then to be run
    // again.
    bool serve_slow_path();
    // Likewise, for frames that mirrors want, and those that they send to collectors.
    bool serve_mirrors();
    SlowPath& slow_path() { return slow_path_; }
    const SlowPath& slow_path() const { return slow_path_; }
    // Control, under the real clock: packets wait for the next round, events that fill rings, or a client.
    bool wants_short_rounds() const;
    const std::vector<MacAddress>& macs() const { return macs_; }
    // MACs of devices, by port, from now on: an error's text, or empty.
    std::string change_macs(const std::map<PortId, MacAddress>& macs);
    // Adds reasons why its devices are not lossless, which are accepted.
    void force_also(std::vector<std::string> reasons);
    // The cause of the port's link state may have changed.
    void look_at_link(PortId id);
    void note(std::string kind, std::string text, std::optional<WatchdogNotice> watchdog = {});
    // Likewise, but the same words once in a run.
    void note_once(const std::string& kind, std::string text);
    void note_once(const std::string& kind, PortId id, std::string text);  // whatever the text, of a port
    // Set when a virtual run is stopped before its end; its verdict is of the time until then.
    // Real clock: nanoseconds of Unix time at its origin. It stays, unless somebody sets the time of day.
    std::int64_t wall_origin_ns();
    bool is_interrupted() const { return interrupted_; }
    void set_interrupted() { interrupted_ = true; }
    const EventLog& event_log() const { return events_; }
    const Observation& observation() const { return *observation_; }
    const Mirrors& mirrors() const { return *mirrors_; }
    void look_at_mirrors() { mirrors_->check_outputs(served()); }

    // An output that is not a port's could not be written; nothing is said of an empty text.
    void complain(std::string text);
    // After the last turn: closes ports; error texts, one for each output that is not whole.
    std::vector<std::string> close();
    // mbufs that are not back in the pool after `close` and Switch::empty.
    // Of a shared pool nothing is known.
    unsigned packets_missing() const;

  private:
    RunningSwitch(Config config, RunningOptions options, Surroundings& surroundings);
    std::string open();
    ServedSwitch served();
    std::string make_pool();
    std::string open_ports(std::vector<PortSpec>& specs);
    void take_up_fault(PortId id, const FaultSettings& fault);
    // Publishes what `change(OperatorState&)` makes of the operator's state, and then notes the event;
    // nothing happens where it changes nothing.
    struct Event {
        std::string kind{}, text{};
        bool every_time = false;  // where nothing changes, too
    };
    template <class Change>
    std::string operate(Change change, Event event);
    std::string publish(const Config& config, const OperatorState& state, const RouteChanges& changes = {});
    std::unique_ptr<Policy> compile(const Config& config, const EffectiveQos& qos,
                                    const OperatorState& state) const;
    void note_drops(PortId id);
    struct FrameLoss;
    void note_loss(PortId id, const FrameLoss& loss, bool at_end);
    void note_watchdog(const WatchdogNotice& notice);
    void note_microbursts();
    void note_deaf_peers();
    void note_classes();
    void note_forced(const std::vector<std::string>& before);

    Config config_;
    RunningOptions options_;
    Surroundings& surroundings_;
    const SwitchClock* clock_ = nullptr;
    unsigned packets_ = 0;
    std::unique_ptr<PacketPool> own_pool_;  // null: shared
    rte_mempool* pool_ = nullptr;
    std::unique_ptr<Routes> routes_;
    std::vector<std::string> names_;
    Routes::Ports port_info_;
    std::vector<MacAddress> macs_;
    std::vector<FaultPort*> fault_ports_;  // by port; null: not wrapped
    std::map<std::string, std::set<std::string_view>, NaturalOrder>
        broken_by_fault_;  // at any time of the run
    WireRuleIds wire_rules_;
    OperatorState state_;
    EffectiveQos qos_;
    EventLog events_;
    std::uint64_t watched_news_ = 0;
    std::uint64_t watched_drops_ = 0;
    Time next_rings_{};  // when `watch` looks at receive rings again
    std::uint64_t watched_falls_behind_ = 0;
    std::array<std::uint64_t, max_workers> watched_longest_{};  // turn of each worker, ps
    WatchdogWatch watchdog_;
    DeafPeers deaf_peers_;
    LinkWatch links_;
    std::size_t watched_microbursts_ = 0;
    std::unique_ptr<Observation> observation_;
    std::unique_ptr<Mirrors> mirrors_;  // before switch_, whose workers write its rings
    std::vector<std::string> complaints_;
    SlowPath slow_path_;
    std::optional<std::int64_t> wall_origin_ns_;
    bool interrupted_ = false;
    std::set<std::string> noted_;                                        // notes made once
    std::map<std::pair<PortId, std::string_view>, GrowingLoss> losses_;  // by port and words
    std::unique_ptr<Switch> switch_;
    std::optional<LimitChange> change_;
    ClassChanges class_changes_;
};

}  // namespace sluice
