#include "control/switch/running/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/compile/compile.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/values.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/observation.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/run/switch.hh"
#include "lib/values/rng.hh"

namespace sluice {
namespace {

WorkerId owner_of(const Config& config, const PortConfig& port, std::size_t index) {
    return static_cast<WorkerId>(port.worker.value_or(static_cast<unsigned>(index)) % config.workers);
}

// The workers that poll the receive queues beyond the first.
std::vector<WorkerId> pollers_of(const Config& config, const PortConfig& port, WorkerId owner) {
    std::vector<WorkerId> pollers;
    for (unsigned n = 1; n < port.rx_queues; ++n)
        pollers.push_back(static_cast<WorkerId>(port.rx_workers.empty()
                                                    ? (owner + n) % config.workers
                                                    : port.rx_workers[(n - 1) % port.rx_workers.size()]));
    return pollers;
}

constexpr unsigned first_packets = 1024;  // of a pool that grows

// The first problem that forbids the configuration; once any was forced, others that may be do not count.
const QosProblem* unusable(const EffectiveQos& qos, const OperatorState& state) {
    for (const QosProblem& problem : qos.problems)
        if (state.forced.empty() || !may_be_forced(problem.id.name())) return &problem;
    return nullptr;
}

void set_member(std::set<std::string>& names, const std::string& name, bool in) {
    if (in)
        names.insert(name);
    else
        names.erase(name);
}

}  // namespace

std::string RunningSwitch::make_pool() {
    const PacketDemand demand = packet_demand(config_);
    packets_ = options_.packets != 0 ? options_.packets : static_cast<unsigned>(demand.total());
    pool_ = options_.pool;
    if (pool_ == nullptr) {
        const std::string name = options_.name + "_pool";
        const std::uint32_t bytes = packet_buffer_bytes(config_);
        own_pool_ = is_virtual() ? std::make_unique<PacketPool>(
                                       name.c_str(), PacketPool::Growing{packets_, first_packets, true},
                                       packet_cache, bytes)
                                 : std::make_unique<PacketPool>(name.c_str(), packets_, packet_cache, bytes);
        pool_ = own_pool_->pool();
    }
    if (pool_ == nullptr)
        return fmt::format(
            "no memory for {} packet buffers of {} bytes ({} MB): {} for the shared buffer, {} for "
            "rings, {} for caches, {} for captures; do: make the buffer smaller, or give more memory",
            packets_, PacketPool::bytes_each(packet_buffer_bytes(config_)),
            packets_ * PacketPool::bytes_each(packet_buffer_bytes(config_)) >> 20, demand.buffer,
            demand.rings, demand.caches, demand.captures);
    const Fib::Sizes sizes = fib_sizes(config_);
    routes_ = Routes::create(sizes, options_.remote != nullptr);
    if (!routes_)
        return fmt::format(
            "no memory for two forwarding tables of {} MB: {} tables for IPv4 and {} for IPv6; do: make "
            "fib.ipv4_tables or fib.ipv6_tables smaller, or give more memory",
            Fib::bytes(sizes) >> 20, sizes.v4.tables, sizes.v6.tables);
    return {};
}

std::string RunningSwitch::open_ports(std::vector<PortSpec>& specs) {
    for (const auto& [name, port] : config_.ports) {
        const std::size_t index = specs.size();
        macs_.push_back(configured_mac(config_, port, index).value_or(MacAddress{}));
        auto io = surroundings_.open(name, port, config_, pool_);
        if (!io) return io.error();
        if (!port.mac) macs_.back() = surroundings_.mac(static_cast<PortId>(index)).value_or(macs_.back());
        PortSpec spec;
        if (is_virtual())
            spec.link = LinkTransmitter(port.speed.byte_time(), config_.virtual_turn);
        else if (!(*io)->has_own_ring())
            spec.link = LinkTransmitter(port.speed.byte_time(), modeled_ring);
        spec.io = std::move(*io);
        spec.owner = owner_of(config_, port, index);
        spec.pollers = pollers_of(config_, port, spec.owner);
        spec.on_wire = is_on_wire(config_, name);
        spec.trace_slots = options_.trace_slots;
        spec.trace_width = nanoseconds(100);
        specs.push_back(std::move(spec));
        names_.push_back(name);
        port_info_[name] = {static_cast<PortId>(index), macs_.back()};
    }
    return {};
}

RunningSwitch::RunningSwitch(Config config, RunningOptions options, Surroundings& surroundings)
    : config_(std::move(config)),
      options_(std::move(options)),
      surroundings_(surroundings),
      events_(clock_) {}

tl::expected<std::unique_ptr<RunningSwitch>, std::string> RunningSwitch::create(const Config& config,
                                                                                RunningOptions options,
                                                                                Surroundings& surroundings) {
    std::unique_ptr<RunningSwitch> made(new RunningSwitch(config, std::move(options), surroundings));
    if (std::string error = made->open(); !error.empty()) return tl::unexpected(std::move(error));
    return made;
}

RunningSwitch::~RunningSwitch() = default;

std::uint64_t RunningSwitch::generation() const { return switch_->generation(); }

std::string RunningSwitch::open() {
    std::string error = make_pool();
    std::vector<PortSpec> specs;
    if (error.empty()) error = open_ports(specs);
    if (!error.empty()) return error;

    qos_ = effective_qos(config_);
    state_.forced = options_.forced;
    if (error = surroundings_.join(*this); !error.empty()) return error;
    if (const QosProblem* problem = unusable(qos_, state_)) return problem->path() + ": " + problem->wrong;
    static const Config nothing;
    if (error = routes_->change(route_changes(nothing, config_), port_info_); !error.empty()) return error;
    const CaptureTimeline* timeline = is_virtual() ? &surroundings_.timeline() : nullptr;
    mirrors_ = std::make_unique<Mirrors>(config_, names_, timeline);
    auto outputs = mirrors_->open_new(config_);
    if (!outputs) return outputs.error();
    wire_rules_.take_up(config_);
    auto policy = compile(config_, qos_, state_);
    routes_->published();
    mirrors_->configure(config_, std::move(*outputs));
    auto observation = Observation::create(config_, names_, packets_, timeline);
    if (!observation) return observation.error();
    observation_ = std::move(*observation);
    switch_ = std::make_unique<Switch>(config_.workers, std::move(policy), std::move(specs),
                                       switch_resources(config_, pool_, packets_));
    change_.emplace(*switch_, is_virtual());
    watch_.emplace(*this, *mirrors_, options_.observes ? observation_.get() : nullptr);
    faults_.emplace(*switch_, seed_of_switch(config_.seed, options_.identity), pool_);
    for (PortId id = 0; id < names_.size(); ++id)
        if (config_.ports.at(names_[id]).fault != FaultSettings{}) configure_fault(id);
    note_forced({});
    return {};
}

std::unique_ptr<Policy> RunningSwitch::compile(const Config& config, const EffectiveQos& qos,
                                               const OperatorState& state) const {
    auto policy = std::make_unique<Policy>(compile_ports(config, qos, macs_, state));
    policy->seed = seed_of_switch(config.seed, options_.identity);
    policy->balance.remote = options_.remote;
    policy->balance.active |= options_.remote != nullptr;  // its neighbors are told of its links
    for (PortId id = 0; id < policy->ports.size(); ++id) {
        PortPolicy& port = policy->ports[id];
        PuntLimit& unresolved = port.punt_limit[static_cast<std::size_t>(PuntClass::unresolved)];
        const PuntLimit wanted = config_.kernel.routes ? config.punt.unresolved : PuntLimit{};
        if (slow_path_.tap(id) != nullptr) port.punts = true;
        // A port without a TAP or responder punts `unresolved` where the kernel resolves neighbors.
        if (!port.punts) port.punt_limit = {};
        unresolved = wanted;
        port.punts |= wanted.rate != 0;
    }
    compile_wires(config, wire_rules_, *policy);
    routes_->name_in(*policy);
    policy->mirrors = mirrors_->policy(config);
    policy->mirrors_delays = policy->mirrors.wants(MirrorEvent::delay);
    return policy;
}

std::string RunningSwitch::publish(const Config& config, const OperatorState& state,
                                   const RouteChanges& changes) {
    EffectiveQos qos = effective_qos(config);
    if (const QosProblem* problem = unusable(qos, state))
        return problem->path() + ": " + problem->wrong + "; do: " + problem->fix;
    // A late worker may still read the tables that would change.
    const Publication& publication = change_->publication();
    if (const std::string late = publication.late();
        !late.empty() && (publication.is_full() || !changes.empty()))
        return fmt::format("an earlier change is not yet in force: {}; do: try again when it runs", late);
    if (std::string error = routes_->change(changes, port_info_); !error.empty()) return error;
    wire_rules_.take_up(config);
    change_->start(compile(config, qos, state));
    if (publication.is_taken_up()) routes_->published();
    qos_ = std::move(qos);
    note_classes();
    return {};
}

bool RunningSwitch::finish_change() {
    Publication& publication = change_->publication();
    if (publication.is_taken_up()) routes_->published();
    const std::string late = publication.late();
    const Publication::Notice notice = publication.notice();
    if (notice == Publication::Notice::late)
        events_.note("worker_late",
                     "a change is published, and " +
                         (late.empty() ? std::string("a worker took long to take it up") : late) +
                         "; its ports wait until it runs");
    if (notice == Publication::Notice::back) events_.note("worker_back", "every worker runs the last change");
    if (!change_->is_pending()) return false;
    const bool done = change_->finish();
    note_classes();
    return done;
}

template <class Change>
std::string RunningSwitch::operate(Change change, Event event) {
    OperatorState state = state_;
    change(state);
    if (state == state_ && !event.every_time) return {};
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    if (!event.kind.empty()) events_.note(std::move(event.kind), std::move(event.text));
    return {};
}

std::string RunningSwitch::set_port(const std::string& name, bool up) {
    if (!port_info_.contains(name)) return fmt::format("no port {}", in_quotes(name));
    std::string error = operate([&](OperatorState& state) { set_member(state.down, name, !up); }, {});
    if (error.empty()) watch_->note_link(port_info_.at(name).id);
    return error;
}

std::string RunningSwitch::hold_queue(const std::string& port, ClassId queue, bool hold) {
    if (!port_info_.contains(port)) return fmt::format("no port {}", in_quotes(port));
    const auto change = [&](OperatorState& state) {
        const auto bit = static_cast<std::uint8_t>(1U << queue);
        std::uint8_t& mask = state.held[port];
        mask = static_cast<std::uint8_t>(hold ? mask | bit : mask & ~bit);
        if (mask == 0) state.held.erase(port);
    };
    return operate(change,
                   {hold ? "queue_held" : "queue_released",
                    fmt::format("queue {}.{} {} by command", port, queue, hold ? "held" : "released")});
}

std::string RunningSwitch::run_watchdog(const std::string& port, bool start) {
    if (!port_info_.contains(port)) return fmt::format("no port {}", in_quotes(port));
    return operate([&](OperatorState& state) { set_member(state.unwatched, port, !start); },
                   {start ? "watchdog_started" : "watchdog_stopped",
                    fmt::format("port {}: PFC watchdog {} by command", port, start ? "started" : "stopped")});
}

std::string RunningSwitch::big_red_switch(bool on) {
    return operate(
        [on](OperatorState& state) { state.big_red_switch = on; },
        {on ? "big_red_switch_on" : "big_red_switch_off",
         on ? "every lossless queue is cut by command" : "lossless queues are given back by command"});
}

std::string RunningSwitch::clear_user_watermarks() {
    return operate([](OperatorState& state) { ++state.watermarks; }, {});
}

std::string RunningSwitch::set_decisions(const DecisionsConfig& wanted, const std::string& what) {
    return operate([&](OperatorState& state) { state.decisions = wanted; },
                   {"decisions", "decisions " + what, true});
}

std::string RunningSwitch::change_routes(const RouteChanges& changes) {
    std::string error = publish(config_, state_, changes);
    if (error.empty() && changes.origin == RouteOrigin::configuration) sluice::apply(changes, config_);
    return error;
}

std::string RunningSwitch::apply(Config config, std::vector<std::string> forced) {
    OperatorState state = state_;
    state.forced = std::move(forced);
    auto outputs = mirrors_->open_new(config);
    if (!outputs) return outputs.error();
    std::string error = publish(config, state, route_changes(config_, config));
    if (!error.empty()) return error;
    std::swap(state, state_);
    serve_mirrors();  // frames of removed mirrors
    mirrors_->configure(config, std::move(*outputs));
    note_forced(state.forced);
    const Config before = std::exchange(config_, std::move(config));
    for (PortId id = 0; id < names_.size(); ++id)
        if (config_.ports.at(names_[id]).fault != before.ports.at(names_[id]).fault) configure_fault(id);
    surroundings_.configured();
    return {};
}

std::string RunningSwitch::change_macs(const std::map<PortId, MacAddress>& macs) {
    RouteChanges changes;
    for (const auto& [id, mac] : macs) {
        if (mac == std::exchange(macs_[id], mac)) continue;
        port_info_.at(names_[id]).mac = mac;
        for (const NeighborConfig& neighbor : *config_.neighbors)
            if (neighbor.port == names_[id]) changes.neighbors.push_back({neighbor.key(), neighbor});
    }
    return publish(config_, state_, changes);
}

void RunningSwitch::force_also(std::vector<std::string> reasons) {
    for (std::string& reason : reasons) state_.forced.push_back(std::move(reason));
}

ServedSwitch RunningSwitch::served() { return {*switch_, config_, names_, macs_, now(), is_virtual()}; }

bool RunningSwitch::serve_slow_path() { return slow_path_.serve(served()); }

void RunningSwitch::poll_mirror_outputs() { mirrors_->check_outputs(served()); }

bool RunningSwitch::serve_mirrors() { return mirrors_->serve(served()); }

void RunningSwitch::set_fault(const std::string& port, const FaultSettings& fault, const std::string& what) {
    config_.ports.at(port).fault = fault;
    configure_fault(port_info_.at(port).id);
    events_.note(fault != FaultSettings{} ? "fault_set" : "fault_cleared",
                 "fault on port " + port + ": " + what);
}

void RunningSwitch::configure_fault(PortId id) {
    if (!is_virtual()) return;  // refused before
    const std::string& name = names_[id];
    faults_->configure(id, name, config_.ports.at(name), qos_.ports.at(name).lossless, now());
}

void RunningSwitch::note_classes() {
    for (const ClassNotice& notice : class_changes_.new_notices(*switch_, now()))
        events_.note(notice.begins ? "class_changing" : "class_changed", class_text(notice, names_, *change_),
                     notice);
}

void RunningSwitch::note_forced(const std::vector<std::string>& before) {
    for (const std::string& reason : state_.forced)
        if (std::find(before.begin(), before.end(), reason) == before.end())
            events_.note("forced", "not lossless, and forced: " + reason);
}

RunningSwitch::ControlWants RunningSwitch::wants_control() const {
    return {change_->is_pending() || mirrors_->is_in_use() || observation_->log() != nullptr ||
                slow_path_.has_frames(),
            watch_->news_seen(), watch_->next_losses()};
}

bool RunningSwitch::wants_short_rounds() const {
    const Policy& policy = switch_->policy();
    return surroundings_.kernel() != nullptr || change_->is_pending() || policy.decisions.enabled ||
           mirrors_->is_on() ||
           std::any_of(policy.ports.begin(), policy.ports.end(),
                       [](const PortPolicy& port) { return port.punts; });
}

unsigned RunningSwitch::packets_missing() const { return own_pool_ ? own_pool_->in_use() : 0; }

std::vector<std::string> RunningSwitch::close() {
    std::vector<std::string> errors;
    if (std::string error = observation_->finish(*switch_, now()); !error.empty())
        errors.push_back(std::move(error));
    for (std::string& error : mirrors_->close(served())) errors.push_back(std::move(error));
    for (PortId id = 0; id < switch_->port_count(); ++id) {
        std::string error = switch_->view(id).io().close();
        if (!error.empty()) errors.push_back("port " + names_[id] + ": " + error);
    }
    return errors;
}

std::vector<std::string> RunningSwitch::broken_promises() const {
    std::vector<std::string> broken;
    for (const QosProblem& problem : qos_.tolerated) broken.push_back(problem.path() + ": " + problem.wrong);
    for (const std::string& reason : state_.forced) broken.push_back(reason + ": forced");
    for (const auto& [name, port] : config_.ports)
        if (has_our_sender(config_, port) && port.peer == PeerKind::ignore &&
            qos_.ports.at(name).lossless != 0)
            broken.push_back("not promised by the peer of " + name);
    for (std::string& promise : surroundings_.broken_promises()) broken.push_back(std::move(promise));
    for (PortId id = 0; id < names_.size(); ++id)
        if (watch_->deaf_peers().was_deaf(id) != 0)
            broken.push_back("not obeyed by the peer of " + names_[id]);
    for (std::string& promise : faults_->broken_promises()) broken.push_back(std::move(promise));
    return broken;
}

std::optional<PortId> RunningSwitch::find_port(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<PortId>(found - names_.begin());
}

}  // namespace sluice
