// A switch made from a configuration, and the only way to change it while it runs. A value: several can live
// in one process. Where its ports come from its surroundings say; a runner gives it turns, and its clock.
//
// Owns, in this order: packet pool, routes, ports and workers. Every change compiles a whole new policy,
// which names the tables of routes, publishes it and returns when all workers run it; what cannot be compiled
// changes nothing. Everything else is done by its parts, each in a file of its own, which it hands out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/compile.hh"
#include "control/config/compile/wires.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/config.hh"
#include "control/switch/kernel/slow_path.hh"
#include "control/switch/running/event_log.hh"
#include "control/switch/running/injected_faults.hh"
#include "control/switch/running/limit_change.hh"
#include "control/switch/running/run_clock.hh"
#include "control/switch/running/switch_watch.hh"

namespace sluice {

class PacketPool;
class Surroundings;
class Switch;
struct PortSpec;

struct RunningOptions {
    std::string name = "sluice";        // unique in the process
    std::uint32_t identity = 0;         // among the switches of a run: their draws differ (WRED, faults)
    unsigned trace_slots = 0;           // per queue; 0: no depth trace
    std::vector<std::string> forced{};  // finding.hh: accepted reasons why it is not lossless
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

    // ---- Changes
    // Each returns an error's text, or empty. Under the real clock they wait until every worker runs the
    // change or is late; a change that the memory or the tables of a late worker forbid is refused.
    std::string set_port(const std::string& name, bool up);
    std::string hold_queue(const std::string& port, ClassId queue, bool hold);
    // Decision records from now on as `wanted` says, which check_decisions has found good; `what`: the
    // command's words.
    std::string set_decisions(const DecisionsConfig& wanted, const std::string& what);
    // `forced`: accepted reasons why it is not lossless.
    std::string apply(Config config, std::vector<std::string> forced);
    // Routes and neighbors alone, the configuration's or the kernel's; the cost is that of the changed
    // entries.
    std::string change_routes(const RouteChanges& changes);
    std::string run_watchdog(const std::string& port, bool start);
    std::string big_red_switch(bool on);
    // Users' watermarks start anew, by the hand of their owners.
    std::string clear_user_watermarks();
    // MACs of devices, by port, from now on.
    std::string change_macs(const std::map<PortId, MacAddress>& macs);
    // Faults of a port from now on; under the virtual clock only. `what` was said, for the list of events.
    void set_fault(const std::string& port, const FaultSettings& fault, const std::string& what);
    // Adds reasons why its devices are not lossless, which are accepted.
    void force_also(std::vector<std::string> reasons);
    // After the last turn: closes ports; error texts, one for each output that is not whole.
    std::vector<std::string> close();

    // ---- Control's part, once a round, and under the virtual clock after each instant that wants it. True:
    // under the virtual clock the instant is then to be run again.
    // Whether control has anything to do after an instant. If not, none of the others would find anything.
    bool wants_control() const;
    // The second half of a change of limits, once use fits: groups may resume now.
    bool finish_change();
    // Takes frames that ports have punted; frames may wait to be sent for it.
    bool serve_slow_path();
    // Likewise, frames that mirrors want, and those that they send to collectors.
    bool serve_mirrors();
    // Readers of FIFOs come and go, and so do the ways to collectors.
    void poll_mirror_outputs();
    // Real clock: packets wait for the next round, events that fill rings, or a client.
    bool wants_short_rounds() const;

    // ---- Parts
    RunClock& clock() { return clock_; }
    const RunClock& clock() const { return clock_; }
    EventLog& events() { return events_; }
    const EventLog& events() const { return events_; }
    SwitchWatch& watch() { return *watch_; }
    const SwitchWatch& watch() const { return *watch_; }
    SlowPath& slow_path() { return slow_path_; }
    ServedSwitch served();  // as it is now
    Switch& device() { return *switch_; }
    const Switch& device() const { return *switch_; }
    const Surroundings& surroundings() const { return surroundings_; }
    const LimitChange& limit_change() const { return *change_; }
    // Lossless classes that wait for their limits.
    const ClassChanges& class_changes() const { return class_changes_; }
    const InjectedFaults& faults() const { return *faults_; }
    const Routes& routes() const { return *routes_; }
    const Observation& observation() const { return *observation_; }
    const Mirrors& mirrors() const { return *mirrors_; }
    const WireRuleIds& wire_rules() const { return wire_rules_; }

    // ---- State
    const Config& config() const { return config_; }
    const EffectiveQos& qos() const { return qos_; }
    const std::vector<std::string>& forced() const { return state_.forced; }
    const std::vector<std::string>& port_names() const { return names_; }
    const std::vector<MacAddress>& macs() const { return macs_; }  // by port
    std::optional<PortId> find_port(std::string_view name) const;
    // Why its configuration does not promise to be lossless, a sentence each: what it says, what was forced,
    // peers that do not obey, injected faults.
    std::vector<std::string> broken_promises() const;
    bool is_up(const std::string& name) const { return !state_.down.contains(name); }
    // Of the policy that every worker runs.
    std::uint64_t generation() const;
    bool is_virtual() const { return config_.clock == ClockKind::virtual_time; }
    Time now() const { return clock_.now(); }
    // mbufs that are not back in the pool after `close` and Switch::empty.
    // Of a shared pool nothing is known.
    unsigned packets_missing() const;

  private:
    RunningSwitch(Config config, RunningOptions options, Surroundings& surroundings);
    std::string open();
    std::string make_pool();
    std::string open_ports(std::vector<PortSpec>& specs);
    void configure_fault(PortId id);
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
    void note_classes();
    void note_forced(const std::vector<std::string>& before);

    Config config_;
    RunningOptions options_;
    Surroundings& surroundings_;
    RunClock clock_;
    EventLog events_;
    unsigned packets_ = 0;
    std::unique_ptr<PacketPool> own_pool_;  // null: shared
    rte_mempool* pool_ = nullptr;
    std::unique_ptr<Routes> routes_;
    std::vector<std::string> names_;
    Routes::Ports port_info_;
    std::vector<MacAddress> macs_;
    WireRuleIds wire_rules_;
    OperatorState state_;
    EffectiveQos qos_;
    std::unique_ptr<Observation> observation_;
    std::unique_ptr<Mirrors> mirrors_;  // before switch_, whose workers write its rings
    SlowPath slow_path_;
    std::unique_ptr<Switch> switch_;
    std::optional<LimitChange> change_;
    ClassChanges class_changes_;
    std::optional<InjectedFaults> faults_;
    std::optional<SwitchWatch> watch_;
};

}  // namespace sluice
