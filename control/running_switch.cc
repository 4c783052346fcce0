#include "control/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "control/compile.hh"
#include "control/decision_filter.hh"
#include "control/force.hh"
#include "control/lint_nic.hh"
#include "control/values.hh"
#include "dataplane/capture_port.hh"
#include "dataplane/device.hh"
#include "dataplane/obeying_port.hh"

namespace sluice {
namespace {

constexpr std::uint64_t longest_span_ns = std::uint64_t{100} * 24 * 3600 * 1'000'000'000;

// Of a worker: destinations whose neighbours are to be found out, between two rounds of control.
constexpr std::size_t unresolved_ring = 1024;

// Of a port, on their way to control, and from it.
constexpr std::uint16_t control_slots = 64;

MacAddress default_mac(std::size_t index) {
    return {
        {0x02, 0x53, 0x4C, 0x00, static_cast<std::uint8_t>(index >> 8), static_cast<std::uint8_t>(index)}};
}

WorkerId owner_of(const Config& config, const PortConfig& port, std::size_t index) {
    return static_cast<WorkerId>(port.worker.value_or(static_cast<unsigned>(index)) % config.workers);
}

// Of the receive queues beyond the first.
std::vector<WorkerId> pollers_of(const Config& config, const PortConfig& port, WorkerId owner) {
    std::vector<WorkerId> pollers;
    for (unsigned n = 1; n < port.rx_queues; ++n)
        pollers.push_back(static_cast<WorkerId>(port.rx_workers.empty()
                                                    ? (owner + n) % config.workers
                                                    : port.rx_workers[(n - 1) % port.rx_workers.size()]));
    return pollers;
}

// The first problem that keeps it from being used: of those that may be forced none, if any was.
const QosProblem* unusable(const EffectiveQos& qos, const OperatorState& state) {
    for (const QosProblem& problem : qos.problems)
        if (state.forced.empty() || !may_be_forced(problem.id)) return &problem;
    return nullptr;
}

}  // namespace

EalOptions RunningSwitch::eal_options(const Config& config) {
    EalOptions options;
    const PacketDemand demand = packet_demand(config);
    options.memory_bytes = demand.total() * (PacketPool::bytes_each(config.packet_buffer_bytes) + 64) +
                           2 * Fib::bytes(fib_sizes(config));
    for (const auto& [name, port] : config.ports)
        if (const DeviceText device = parse_device(port.device); device.has("pci")) {
            options.physical_needs_hugepages = true;
            options.pci.push_back(port.device);
        }
    options.allow_hugepages = config.clock == ClockKind::real_time;
    options.extra = config.eal;
    return options;
}

std::string RunningSwitch::unusable_cards(const Config& config, const std::string& pci_folder) {
    std::string errors;
    for (const auto& [name, port] : config.ports) {
        const DeviceText device = parse_device(port.device);
        if (config.clock != ClockKind::real_time || !device.has("pci")) continue;
        if (const std::string why = PciDevice(device.pci_address, pci_folder).obstacle(); !why.empty())
            append_item(errors, "\n", fmt::format("port {}: device {}: {}", name, quoted(port.device), why));
    }
    return errors;
}

RunningSwitch::RunningSwitch(Config config, RunningOptions options)
    : config_(std::move(config)), options_(std::move(options)) {}

RunningSwitch::~RunningSwitch() {
    if (real_) real_->stop();
}

tl::expected<std::unique_ptr<RunningSwitch>, std::string> RunningSwitch::create(
    const Config& config, const RunningOptions& options) {
    std::unique_ptr<RunningSwitch> made(new RunningSwitch(config, options));
    std::string error = made->make_pool();
    if (error.empty()) error = made->find_origin();
    std::vector<PortSpec> specs;
    if (error.empty()) error = made->open_ports(specs);
    if (error.empty()) error = made->open_taps();
    if (error.empty()) error = made->open_kernel();
    if (!error.empty()) return tl::unexpected(error);

    made->qos_ = effective_qos(made->config_);
    made->state_.forced = options.forced;
    if (error = made->judge_nics(); !error.empty()) return tl::unexpected(error);
    if (const QosProblem* problem = unusable(made->qos_, made->state_))
        return tl::unexpected(problem->path + ": " + problem->wrong);
    error = made->routes_->change(route_changes({}, made->config_), made->port_info_);
    if (!error.empty()) return tl::unexpected(error);
    auto policy = made->compile(made->config_, made->qos_, made->state_);
    made->routes_->published();
    auto observation = Observation::create(made->config_, made->names_, made->packets_);
    if (!observation) return tl::unexpected(observation.error());
    made->observation_ = std::move(*observation);
    made->switch_ = std::make_unique<Switch>(
        config.workers, std::move(policy), std::move(specs),
        Switch::Resources{made->pool_->pool(), made->packets_, config.clock == ClockKind::virtual_time,
                          decision_ring(config), microburst_ring, config.kernel.routes ? unresolved_ring : 0,
                          control_slots});
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

std::string RunningSwitch::make_pool() {
    const PacketDemand demand = packet_demand(config_);
    packets_ = static_cast<unsigned>(demand.total());
    pool_ = std::make_unique<PacketPool>((options_.name + "_pool").c_str(), packets_, packet_cache,
                                         config_.packet_buffer_bytes);
    if (pool_->pool() == nullptr)
        return fmt::format(
            "no memory for {} packet buffers of {} bytes ({} MB): {} for the shared buffer, {} for "
            "rings, {} for caches, {} for captures; do: make the buffer smaller, or give more memory",
            packets_, PacketPool::bytes_each(config_.packet_buffer_bytes),
            packets_ * PacketPool::bytes_each(config_.packet_buffer_bytes) >> 20, demand.buffer, demand.rings,
            demand.caches, demand.captures);
    const Fib::Sizes sizes = fib_sizes(config_);
    routes_ = Routes::create(sizes);
    if (!routes_)
        return fmt::format(
            "no memory for two forwarding tables of {} MB: {} tables for IPv4 and {} for IPv6; do: make "
            "fib.ipv4_tables or fib.ipv6_tables smaller, or give more memory",
            Fib::bytes(sizes) >> 20, sizes.v4.tables, sizes.v6.tables);
    return {};
}

// The origin is the earliest timestamp over all inputs. This reads them whole, so a damaged one is refused
// here.
std::string RunningSwitch::find_origin() {
    bool any = false;
    std::uint64_t last = 0;
    for (const auto& [name, port] : config_.ports) {
        const DeviceText device = parse_device(port.device);
        for (const std::string& file : device.rx_pcaps) {
            const auto capture = CaptureReader::scan(file);
            if (!capture) return "port " + name + ": " + capture.error();
            if (capture->packets == 0) {
                note("empty_capture", "port " + name + ": " + file + " holds no frames");
                continue;
            }
            origin_ns_ = any ? std::min(origin_ns_, capture->first_ns) : capture->first_ns;
            last = any ? std::max(last, capture->last_ns) : capture->last_ns;
            any = true;
        }
    }
    if (config_.clock == ClockKind::real_time) return {};  // read only so that nothing is started in vain
    if (any && last - origin_ns_ > longest_span_ns)
        return fmt::format("the captures span {} days; at most 100 are allowed",
                           (last - origin_ns_) / 86'400'000'000'000);
    return {};
}

tl::expected<std::unique_ptr<Port>, std::string> RunningSwitch::open_port(const std::string& name,
                                                                          const PortConfig& port) {
    const auto failed = [&](const std::string& error) {
        return tl::unexpected("port " + name + ": " + error);
    };
    if (config_.clock == ClockKind::virtual_time) {
        const DeviceText device = parse_device(port.device);
        CapturePortSpec spec{device.rx_pcaps.empty() ? std::string{} : device.rx_pcaps.back(),
                             device.tx_pcap,
                             origin_ns_,
                             port.speed,
                             pool_->pool(),
                             config_.virtual_ring_frames,
                             std::nullopt,
                             class_map(map_of(config_, port), port)};
        if (port.peer.value_or(PeerKind::obey) == PeerKind::obey) spec.obeys = peer_delay(port);
        auto opened = CapturePort::open(spec);
        if (!opened) return failed(opened.error());
        return std::move(*opened);
    }
    auto started = EthdevPort::start({port.device,
                                      {static_cast<std::uint16_t>(port.mtu), pool_->pool(), port.speed,
                                       config_.turn_max, modelled_ring, port.mac, port.rx_queues},
                                      options_.pci_folder});
    if (!started) return failed(started.error());
    ethdevs_.push_back(started->get());
    if (!port.mac) macs_.back() = (*started)->mac();
    if (port.peer == PeerKind::obey && has_our_sender(config_, port))
        return std::make_unique<ObeyingPort>(std::move(*started), port.speed);
    return std::move(*started);
}

std::string RunningSwitch::open_ports(std::vector<PortSpec>& specs) {
    for (const auto& [name, port] : config_.ports) {
        const std::size_t index = specs.size();
        macs_.push_back(port.mac.value_or(default_mac(index)));
        auto io = open_port(name, port);
        if (!io) return io.error();
        PortSpec spec;
        if (config_.clock == ClockKind::virtual_time)
            spec.link = LinkTransmitter(port.speed.byte_time(), config_.virtual_turn);
        else if (!(*io)->has_own_ring())
            spec.link = LinkTransmitter(port.speed.byte_time(), modelled_ring);
        spec.io = std::move(*io);
        spec.owner = owner_of(config_, port, index);
        spec.pollers = pollers_of(config_, port, spec.owner);
        spec.trace_slots = options_.trace_slots;
        spec.trace_width = nanoseconds(100);
        specs.push_back(std::move(spec));
        names_.push_back(name);
        port_info_[name] = {static_cast<PortId>(index), macs_.back()};
    }
    return {};
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
        return problem->path + ": " + problem->wrong + "; do: " + problem->fix;
    if (std::string error = routes_->change(changes, port_info_); !error.empty()) return error;
    change_->start(compile(config, qos, state));
    routes_->published();
    qos_ = std::move(qos);
    return {};
}

std::string RunningSwitch::set_port(const std::string& name, bool up) {
    if (!port_info_.contains(name)) return fmt::format("no port {}", quoted(name));
    OperatorState state = state_;
    if (up)
        state.down.erase(name);
    else
        state.down.insert(name);
    if (state == state_) return {};
    std::string error = publish(config_, state);
    if (!error.empty()) return error;
    state_ = std::move(state);
    note(up ? "port_up" : "port_down", "port " + name + (up ? " up" : " down") + " by command");
    return {};
}

std::string RunningSwitch::hold_queue(const std::string& port, ClassId queue, bool hold) {
    if (!port_info_.contains(port)) return fmt::format("no port {}", quoted(port));
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
    if (!port_info_.contains(port)) return fmt::format("no port {}", quoted(port));
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

std::vector<std::string> RunningSwitch::broken_promises() const {
    std::vector<std::string> broken;
    for (const QosProblem& problem : qos_.tolerated) broken.push_back(problem.path + ": " + problem.wrong);
    for (const std::string& reason : state_.forced) broken.push_back(reason + ": forced");
    for (const auto& [name, port] : config_.ports)
        if (has_our_sender(config_, port) && port.peer == PeerKind::ignore &&
            qos_.ports.at(name).lossless != 0)
            broken.push_back("not promised by the peer of " + name);
    if (port_watch_)
        for (const std::string& promise : port_watch_->broken_promises()) broken.push_back(promise);
    for (const auto& [name, faults] : broken_by_fault_) {
        std::string list;
        for (const std::string_view fault : faults) append_item(list, ", ", fault);
        broken.push_back("not promised: fault injected on " + name + ": " + list);
    }
    return broken;
}

void RunningSwitch::note_once(const std::string& kind, std::string text) {
    if (noted_.insert(kind + text).second) note(kind, std::move(text));
}

void RunningSwitch::watch() {
    for (const WatchdogNews& news : watchdog_.look(*switch_)) note_watchdog(news);
    observation_->drain(*switch_);
    note_microbursts();
    std::uint64_t drops = 0;
    for (unsigned w = 0; w < switch_->worker_count(); ++w) {
        const WorkerContext& worker = switch_->worker(static_cast<WorkerId>(w));
        drops += worker.lossless_drops.get();
        if (real_ && worker.turns.longest_ps.get() > static_cast<std::uint64_t>(config_.turn_max.ps))
            note_once("long_turn",
                      fmt::format("worker {}: a turn took longer than turn_max, {}, by which headroom is "
                                  "reckoned; worker.show has the longest; do: give it a core of its own, or "
                                  "set turn_max to more",
                                  w, print_time(config_.turn_max)));
    }
    for (PortId id = 0; id < switch_->port_count(); ++id) {
        const PortContext& port = switch_->port(id);
        if (port.counters.behind.get() != 0)
            note_once("fell_behind", "port " + names_[id] + ": the worker fell behind and paused the peer");
        if (watched_drops_ != drops) note_drops(id);
    }
    watched_drops_ = drops;
}

void RunningSwitch::note_watchdog(const WatchdogNews& news) {
    const std::string queue = fmt::format("port {} queue {}", names_[news.port], news.queue);
    if (news.detected)
        note("watchdog_detected",
             fmt::format("{}: the peer holds it paused, action {}: {} packets dropped at once", queue,
                         news.action, news.dropped),
             news);
    else
        note("watchdog_restored",
             fmt::format("{}: restored, action {}: {} packets passed and {} dropped in this storm", queue,
                         news.action, news.passed, news.dropped),
             news);
}

// Every one is in the report; an event says that there are any.
void RunningSwitch::note_microbursts() {
    const auto& bursts = observation_->microbursts();
    for (; watched_microbursts_ < bursts.size(); ++watched_microbursts_) {
        const Observation::Burst& seen = bursts[watched_microbursts_];
        const std::string queue = fmt::format("{}.{}", names_[seen.burst.port], seen.burst.queue);
        if (noted_.insert("microburst" + queue).second)
            note("microburst",
                 fmt::format("queue {}: first microburst: {} bytes, above {}, for {} ns", queue,
                             seen.peak_bytes, seen.threshold_bytes, seen.burst.length.ps / 1000));
    }
}

void RunningSwitch::note_forced(const std::vector<std::string>& before) {
    for (const std::string& reason : state_.forced)
        if (std::find(before.begin(), before.end(), reason) == before.end())
            note("forced", "not lossless, and forced: " + reason);
}

void RunningSwitch::note_drops(PortId id) {
    for (std::size_t i = 1; i < drop_reason_count; ++i) {
        const auto reason = static_cast<DropReason>(i);
        if (switch_->dropped_lossless(id, reason) == 0) continue;
        const bool overrun = reason == DropReason::headroom_overrun;
        note_once(overrun ? "headroom_overrun" : "lossless_drop",
                  fmt::format("port {}: a lossless packet was dropped: {}: {}", names_[id], to_string(reason),
                              drop_reason_texts[i].sentence));
    }
}

bool RunningSwitch::wants_short_rounds() const {
    const Policy& policy = switch_->policy();
    return kernel_ != nullptr || change_->is_pending() || policy.decisions.enabled ||
           std::any_of(policy.ports.begin(), policy.ports.end(),
                       [](const PortPolicy& port) { return port.punts; });
}

void RunningSwitch::poll_links(Time now) {
    bool others = false;
    const auto tell = [&](std::vector<PortNews> all) {
        for (PortNews& news : all) {
            others |= news.another;
            note(news.kind, std::move(news.text));
        }
    };
    tell(port_watch_->look(config_, *switch_, now));
    tell(tap_watch_.look(slow_path_, config_, names_, macs_, now));
    if (!others) return;
    address_taps();
    take_up_interfaces();
}

// Another interface of a port's name has another index, and where the configuration does not say one,
// another MAC.
void RunningSwitch::take_up_interfaces() {
    RouteChanges changes;
    for (PortId id = 0; id < ethdevs_.size(); ++id) {
        const std::string& name = names_[id];
        if (!ethdevs_[id]->interface() || config_.ports.at(name).mac) continue;
        const MacAddress mac = ethdevs_[id]->mac();
        if (mac == std::exchange(macs_[id], mac)) continue;
        port_info_.at(name).mac = mac;
        for (const NeighborConfig& neighbor : *config_.neighbors)
            if (neighbor.port == name) changes.neighbors.push_back({neighbor.address, neighbor});
    }
    if (std::string error = publish(config_, state_, changes); !error.empty())
        note("interface_refused", std::move(error));
    if (!kernel_) return;
    kernel_->set_ports(kernel_ports());
    steer_addresses(kernel_->mirror().tables().addresses());
}

std::vector<Finding> RunningSwitch::nic_findings(const Config& config) const {
    if (std::all_of(ethdevs_.begin(), ethdevs_.end(),
                    [](const EthdevPort* port) { return port->capabilities().is_virtual; }))
        return {};
    return lint_nics(config, effective_qos(config), [this](const std::string& name) {
        const auto found = std::find(names_.begin(), names_.end(), name);
        const EthdevPort* port = ethdev(static_cast<PortId>(found - names_.begin()));
        return port != nullptr ? NicState{&port->capabilities(), port->link_mbps()} : NicState{};
    });
}

// What the cards do not allow: an error's text, or empty. What they make doubtful is noted.
std::string RunningSwitch::judge_nics() {
    auto findings = nic_findings(config_);
    if (options_.force) force(findings);
    std::string errors;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::error)
            append_item(errors, "; ", finding.path + ": " + finding.message + "; do: " + finding.fix);
        else if (!finding.forced)
            note("nic_warning", finding.path + ": " + finding.message + "; do: " + finding.fix);
    }
    if (!errors.empty() && force_helps(findings)) errors += "; or run it so, not lossless: --force";
    for (std::string& reason : forced_reasons(findings)) state_.forced.push_back(std::move(reason));
    return errors;
}

// An address of the configuration is the kernel's, too, at an interface that is there for the port alone.
void RunningSwitch::address_taps() {
    for (PortId id = 0; id < names_.size(); ++id)
        if (Tap* tap = slow_path_.tap(id))
            if (std::string error = tap->set_addresses(config_.ports.at(names_[id]).address); !error.empty())
                note_once("tap_address", "port " + names_[id] + ": its TAP does not take " + error);
}

std::string RunningSwitch::open_taps() {
    if (!config_.kernel.has_taps()) return {};
    for (PortId id = 0; id < ethdevs_.size(); ++id) {
        if (ethdevs_[id]->interface()) continue;
        const PortConfig& port = config_.ports.at(names_[id]);
        if (std::string error = slow_path_.open_tap(id, names_[id], macs_[id], port.mtu); !error.empty())
            return error;
    }
    address_taps();
    return {};
}

KernelTables::Ports RunningSwitch::kernel_ports() const {
    KernelTables::Ports interfaces;
    for (PortId id = 0; id < ethdevs_.size(); ++id) {
        if (const auto& interface = ethdevs_[id]->interface()) interfaces[interface->index()] = names_[id];
        if (const Tap* tap = slow_path_.tap(id)) interfaces[tap->index()] = names_[id];
    }
    return interfaces;
}

std::string RunningSwitch::open_kernel() {
    const bool steered = std::any_of(ethdevs_.begin(), ethdevs_.end(),
                                     [](const EthdevPort* port) { return port->steering() != nullptr; });
    if (!config_.kernel.routes && !steered) return {};
    auto opened = KernelControl::open(config_.kernel, kernel_ports());
    if (!opened) return opened.error();
    kernel_ = std::move(*opened);
    // From the first frame on.
    steer_addresses(kernel_->mirror().tables().addresses());
    return {};
}

void RunningSwitch::steer_addresses(const std::set<IpAddress>& of_machine) {
    std::set<Steering::Address> addresses;
    const auto add = [&](const IpAddress& own) {
        addresses.insert(own.is_v6 ? own.bytes : Steering::mapped(own.bytes.data()));
    };
    for (const IpAddress& own : of_machine) add(own);
    for (const auto& [name, port] : config_.ports)
        for (const IpPrefix& own : port.address) add(own.address);
    for (PortId id = 0; id < ethdevs_.size(); ++id)
        if (Steering* steering = ethdevs_[id]->steering())
            if (std::string error = steering->set_local(addresses); !error.empty())
                note_once("steering", "port " + names_[id] + ": " + error);
}

unsigned RunningSwitch::packets_missing() const {
    unsigned kept = 0;
    for (PortId id = 0; id < switch_->port_count(); ++id) kept += switch_->port(id).io->kept_at_close();
    const unsigned missing = pool_->in_use();
    return missing > kept ? missing - kept : 0;
}

void RunningSwitch::note(std::string kind, std::string text, std::optional<WatchdogNews> watchdog) {
    const Duration at = switch_ ? now() - Time{} : Duration{};
    events_.add({at, std::move(kind), std::move(text), std::move(watchdog)});
}

std::vector<std::string> RunningSwitch::close() {
    std::vector<std::string> errors;
    if (std::string error = observation_->finish(*switch_, now()); !error.empty())
        errors.push_back(std::move(error));
    for (PortId id = 0; id < switch_->port_count(); ++id) {
        std::string error = switch_->port(id).io->close();
        if (!error.empty()) errors.push_back("port " + names_[id] + ": " + error);
    }
    return errors;
}

}  // namespace sluice
