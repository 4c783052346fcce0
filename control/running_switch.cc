#include "control/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "control/compile.hh"
#include "control/decision_filter.hh"
#include "control/force.hh"
#include "control/values.hh"

namespace sluice {
namespace {

// The first problem that keeps it from being used: of those that may be forced none, if any was.
const QosProblem* unusable(const EffectiveQos& qos, const OperatorState& state) {
    for (const QosProblem& problem : qos.problems)
        if (state.forced.empty() || !may_be_forced(problem.id.name())) return &problem;
    return nullptr;
}

}  // namespace

RunningSwitch::RunningSwitch(Config config, RunningOptions options)
    : config_(std::move(config)), options_(std::move(options)), links_(config_.ports.size()) {}

RunningSwitch::~RunningSwitch() {
    if (real_) real_->stop();
}

tl::expected<std::unique_ptr<RunningSwitch>, std::string> RunningSwitch::create(
    const Config& config, const RunningOptions& options) {
    std::unique_ptr<RunningSwitch> made(new RunningSwitch(config, options));
    std::string error = made->make_pool();
    if (error.empty()) error = made->read_captures();
    std::vector<PortSpec> specs;
    if (error.empty()) error = made->open_ports(specs);
    if (error.empty()) error = made->open_taps();
    if (error.empty()) error = made->open_kernel();
    if (!error.empty()) return tl::unexpected(error);

    made->qos_ = effective_qos(made->config_);
    made->state_.forced = options.forced;
    if (error = made->judge_nics(); !error.empty()) return tl::unexpected(error);
    if (const QosProblem* problem = unusable(made->qos_, made->state_))
        return tl::unexpected(problem->path() + ": " + problem->wrong);
    error = made->routes_->change(route_changes({}, made->config_), made->port_info_);
    if (!error.empty()) return tl::unexpected(error);
    auto policy = made->compile(made->config_, made->qos_, made->state_);
    made->routes_->published();
    auto observation =
        Observation::create(made->config_, made->names_, made->packets_,
                            config.clock == ClockKind::virtual_time ? &made->timeline_ : nullptr);
    if (!observation) return tl::unexpected(observation.error());
    made->observation_ = std::move(*observation);
    made->switch_ = std::make_unique<Switch>(config.workers, std::move(policy), std::move(specs),
                                             switch_resources(config, made->pool_->pool(), made->packets_));
    made->change_.emplace(*made->switch_, config.clock == ClockKind::virtual_time);
    made->fault_ports_.resize(config.ports.size());
    if (config.clock == ClockKind::virtual_time) {
        made->virtual_ =
            std::make_unique<VirtualRunner>(std::vector<Switch*>{made->switch_.get()}, config.virtual_turn);
        for (const auto& [name, port] : config.ports)
            if (port.fault != FaultSettings{}) made->take_up_fault(made->port_info_.at(name).id, port.fault);
    } else {
        std::vector<unsigned> cores = config.cores;
        for (unsigned w = 0;
             cores.empty() && w < config.workers && std::thread::hardware_concurrency() > config.workers;)
            cores.resize(config.workers), std::generate(cores.begin(), cores.end(), [&w] { return ++w; });
        made->real_ = std::make_unique<RealRunner>(*made->switch_, cores, config.idle_sleep);
        made->port_watch_.emplace(made->ethdevs_, made->names_);
    }
    made->note_forced({});
    return made;
}

std::unique_ptr<Policy> RunningSwitch::compile(const Config& config, const EffectiveQos& qos,
                                               const OperatorState& state) const {
    auto policy = std::make_unique<Policy>(compile_ports(config, qos, macs_, state));
    for (PortId id = 0; id < policy->ports.size(); ++id) {
        PortPolicy& port = policy->ports[id];
        PuntLimit& unresolved = port.punt_limit[static_cast<std::size_t>(PuntClass::unresolved)];
        const PuntLimit wanted = config_.kernel.routes ? config.punt.unresolved : PuntLimit{};
        if (slow_path_.tap(id) != nullptr) port.punts = true;
        // Who has nobody to answer may still wait for a neighbour, where there is a kernel to find it out.
        if (!port.punts) port.punt_limit = {};
        unresolved = wanted;
        port.punts |= wanted.rate != 0;
    }
    routes_->name_in(*policy);
    return policy;
}

std::string RunningSwitch::publish(const Config& config, const OperatorState& state,
                                   const RouteChanges& changes) {
    EffectiveQos qos = effective_qos(config);
    if (const QosProblem* problem = unusable(qos, state))
        return problem->path() + ": " + problem->wrong + "; do: " + problem->fix;
    // A late worker may still read the tables that would have to follow.
    const Publication& publication = change_->publication();
    if (const std::string late = publication.late();
        !late.empty() && (publication.is_full() || !changes.empty()))
        return fmt::format("of what was published before {}; do: try again when it runs", late);
    if (std::string error = routes_->change(changes, port_info_); !error.empty()) return error;
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
    const Publication::News news = publication.news();
    if (news == Publication::News::late)
        note("worker_late", "a change is published, and " +
                                (late.empty() ? std::string("a worker took long to take it up") : late) +
                                "; what the worker does not do waits for it");
    if (news == Publication::News::back) note("worker_back", "every worker runs what was published last");
    if (!change_->is_pending()) return false;
    const bool done = change_->finish();
    note_classes();
    return done;
}

std::string RunningSwitch::set_port(const std::string& name, bool up) {
    if (!port_info_.contains(name)) return fmt::format("no port {}", in_quotes(name));
    OperatorState state = state_;
    if (up)
        state.down.erase(name);
    else
        state.down.insert(name);
    if (state == state_) return {};
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    look_at_link(port_info_.at(name).id);
    return {};
}

std::string RunningSwitch::hold_queue(const std::string& port, ClassId queue, bool hold) {
    if (!port_info_.contains(port)) return fmt::format("no port {}", in_quotes(port));
    OperatorState state = state_;
    const auto bit = static_cast<std::uint8_t>(1U << queue);
    std::uint8_t& mask = state.held[port];
    mask = static_cast<std::uint8_t>(hold ? mask | bit : mask & ~bit);
    if (mask == 0) state.held.erase(port);
    if (state == state_) return {};
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    note(hold ? "queue_held" : "queue_released",
         fmt::format("queue {}.{} {} by command", port, queue, hold ? "held" : "released"));
    return {};
}

std::string RunningSwitch::run_watchdog(const std::string& port, bool start) {
    if (!port_info_.contains(port)) return fmt::format("no port {}", in_quotes(port));
    OperatorState state = state_;
    if (start)
        state.unwatched.erase(port);
    else
        state.unwatched.insert(port);
    if (state == state_) return {};
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    note(start ? "watchdog_started" : "watchdog_stopped",
         fmt::format("port {}: PFC watchdog {} by command", port, start ? "started" : "stopped"));
    return {};
}

std::string RunningSwitch::big_red_switch(bool on) {
    OperatorState state = state_;
    state.big_red_switch = on;
    if (state == state_) return {};
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    note(on ? "big_red_switch_on" : "big_red_switch_off",
         on ? "every lossless queue is cut by command" : "lossless queues are given back by command");
    return {};
}

std::string RunningSwitch::clear_user_watermarks() {
    OperatorState state = state_;
    ++state.watermarks;
    std::string error = publish(config_, state);
    if (error.empty()) state_ = std::move(state);
    return error;
}

std::string RunningSwitch::set_decisions(const DecisionsConfig& wanted, const std::string& what) {
    OperatorState state = state_;
    state.decisions = wanted;
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    note("decisions", "decisions " + what);
    return {};
}

std::string RunningSwitch::change_routes(const RouteChanges& changes) {
    std::string error = publish(config_, state_, changes);
    if (error.empty() && changes.origin == RouteOrigin::configuration) sluice::apply(changes, config_);
    return error;
}

std::string RunningSwitch::apply(Config config, std::vector<std::string> forced) {
    OperatorState state = state_;
    state.forced = std::move(forced);
    std::string error = publish(config, state, route_changes(config_, config));
    if (!error.empty()) return error;
    std::swap(state, state_);
    note_forced(state.forced);
    const Config before = std::exchange(config_, std::move(config));
    for (PortId id = 0; id < names_.size(); ++id)
        if (const FaultSettings& fault = config_.ports.at(names_[id]).fault;
            fault != before.ports.at(names_[id]).fault)
            take_up_fault(id, fault);
    address_taps();
    if (kernel_) steer_addresses(kernel_->mirror().tables().addresses());  // and those of the ports
    return {};
}

void RunningSwitch::set_fault(const std::string& port, const FaultSettings& fault, const std::string& what) {
    config_.ports.at(port).fault = fault;
    take_up_fault(port_info_.at(port).id, fault);
    note(fault != FaultSettings{} ? "fault_set" : "fault_cleared", "fault on port " + port + ": " + what);
}

void RunningSwitch::take_up_fault(PortId id, const FaultSettings& fault) {
    if (!virtual_) return;  // refused before
    const std::string& name = names_[id];
    const PortConfig& port = config_.ports.at(name);
    if (fault_ports_[id] == nullptr)
        switch_->wrap_port(id, [&](std::unique_ptr<Port> inner) {
            auto wrapped = std::make_unique<FaultPort>(
                std::move(inner),
                FaultPort::Spec{{config_.seed, id}, port.speed, cable_delay(port), pool_->pool()});
            fault_ports_[id] = wrapped.get();
            return wrapped;
        });
    fault_ports_[id]->configure(fault, qos_.ports.at(name).lossless, now());
    if (qos_.ports.at(name).lossless == 0) return;
    for (const std::string_view broken : faults_against_lossless(fault))
        broken_by_fault_[name].insert(broken);
}

bool RunningSwitch::wants_short_rounds() const {
    const Policy& policy = switch_->policy();
    return kernel_ != nullptr || change_->is_pending() || policy.decisions.enabled ||
           std::any_of(policy.ports.begin(), policy.ports.end(),
                       [](const PortPolicy& port) { return port.punts; });
}

unsigned RunningSwitch::packets_missing() const {
    unsigned kept = 0;
    for (PortId id = 0; id < switch_->port_count(); ++id) kept += switch_->port(id).io->kept_at_close();
    const unsigned missing = pool_->in_use();
    return missing > kept ? missing - kept : 0;
}

void RunningSwitch::complain(std::string text) {
    if (!text.empty()) complaints_.push_back(std::move(text));
}

std::vector<std::string> RunningSwitch::close() {
    std::vector<std::string> errors = std::exchange(complaints_, {});
    if (std::string error = observation_->finish(*switch_, now()); !error.empty())
        errors.push_back(std::move(error));
    for (PortId id = 0; id < switch_->port_count(); ++id) {
        std::string error = switch_->port(id).io->close();
        if (!error.empty()) errors.push_back("port " + names_[id] + ": " + error);
    }
    return errors;
}

}  // namespace sluice
