// A switch made from a configuration, and the only way to change it while it runs. A process may have
// several. Surroundings open its ports; a runner runs its turns and its clock.
//
// Owns, in this order: packet pool, routes, ports and workers. Every change compiles a new policy with the
// tables of routes, publishes it and returns when all workers run it; one that does not compile is void.
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
    // After EAL's start. An error is a line that names the port. `surroundings` outlives the switch.
    static tl::expected<std::unique_ptr<RunningSwitch>, std::string> create(const Config& config,
                                                                            RunningOptions options,
                                                                            Surroundings& surroundings);
    ~RunningSwitch();
    RunningSwitch(const RunningSwitch&) = delete;
    RunningSwitch& operator=(const RunningSwitch&) = delete;

    // ---- Changes
    // Each returns an error's text, or empty. Under the real clock they wait until every worker runs the
    // change or is late; some changes are refused while a worker is late.
    std::string set_port(const std::string& name, bool up);
    std::string hold_queue(const std::string& port, ClassId queue, bool hold);
    // Records decisions as `wanted`, which has passed check_decisions; `what`: the command's words.
    std::string set_decisions(const DecisionsConfig& wanted, const std::string& what);
    // `forced`: accepted reasons why it is not lossless.
    std::string apply(Config config, std::vector<std::string> forced);
    // Routes and neighbors alone, the configuration's or the kernel's.
    std::string change_routes(const RouteChanges& changes);
    std::string run_watchdog(const std::string& port, bool start);
    std::string big_red_switch(bool on);
    // Users' watermarks start again.
    std::string clear_user_watermarks();
    std::string change_macs(const std::map<PortId, MacAddress>& macs);
    // Sets the faults of a port, under the virtual clock. `what`: the command's words, for the event.
    void set_fault(const std::string& port, const FaultSettings& fault, const std::string& what);
    // Accepts further reasons why its devices are not lossless.
    void force_also(std::vector<std::string> reasons);
    // After the last turn: closes ports; an error's text for each incomplete output.
    std::vector<std::string> close();

    // ---- Control's part, once a round, and under the virtual clock after each instant that wants it. True:
    // the instant must run again.
    struct ControlWants {
        bool always;         // until control changes something: after each instant
        std::uint64_t news;  // else when Switch::news is no longer this,
        Time losses;         // or from this moment on
        bool at(std::uint64_t news_now, Time now) const {
            return always || news_now != news || now >= losses;
        }
    };
    ControlWants wants_control() const;
    // The second step of a change of limits, once use fits.
    bool finish_change();
    // Takes punted frames, and gives replies to the workers.
    bool serve_slow_path();
    // Takes frames for mirrors, and gives those for collectors to the workers.
    bool serve_mirrors();
    void poll_mirror_outputs();
    // Real clock: true when packets, or events that fill rings, wait for the next round.
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
    // Why the switch may not be lossless, in sentences: settings, forced problems, deaf peers, faults.
    std::vector<std::string> broken_promises() const;
    bool is_up(const std::string& name) const { return !state_.down.contains(name); }
    // The generation of the last published policy.
    std::uint64_t generation() const;
    bool is_virtual() const { return config_.clock == ClockKind::virtual_time; }
    Time now() const { return clock_.now(); }
    // mbufs that are not back in its own pool after `close` and Switch::empty.
    unsigned packets_missing() const;

  private:
    RunningSwitch(Config config, RunningOptions options, Surroundings& surroundings);
    std::string open();
    std::string make_pool();
    std::string open_ports(std::vector<PortSpec>& specs);
    void configure_fault(PortId id);
    // Applies `change(OperatorState&)`, publishes the result and notes the event, unless nothing changes.
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
