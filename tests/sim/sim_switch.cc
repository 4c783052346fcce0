#include "tests/sim/sim_switch.hh"

#include <fmt/format.h>

#include <cstdlib>

#include "control/decision_filter.hh"
#include "lib/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sim {
namespace {

MacAddress mac_of(unsigned id) { return {{0x02, 0x53, 0x4C, 0, 0, static_cast<std::uint8_t>(id)}}; }

IpAddress address_of(unsigned id, std::uint8_t host) {
    IpAddress address;
    address.bytes = {10, 0, static_cast<std::uint8_t>(id), host};
    return address;
}

unsigned next_number() {
    static unsigned number = 0;  // names of pools and tables are unique in the process
    return ++number;
}

}  // namespace

bool is_long() {
    const char* value = std::getenv("SLUICE_LONG");
    return value != nullptr && std::string_view(value) == "1";
}

Config sim_config(unsigned ports, Rate speed, std::uint32_t cable_m, std::uint32_t mtu) {
    Config config;
    for (unsigned id = 0; id < ports; ++id) {
        const std::string name = "p" + std::to_string(id);
        PortConfig port;
        port.speed = speed;
        port.cable_m = cable_m;
        port.mtu = mtu;
        port.mac = mac_of(id);
        port.address.push_back({address_of(id, 1), 24});
        config.ports[name] = port;
        add(config,
            NeighborConfig{
                address_of(id, 2), name, MacAddress{{2, 0, 0, 0, 9, static_cast<std::uint8_t>(id)}}, {}, {}});
    }
    return config;
}

PortConfig& port_of(Config& config, unsigned id) { return config.ports.at("p" + std::to_string(id)); }

SimSwitch::SimSwitch(const Config& config, std::string label, unsigned packets)
    : config_(config),
      label_(std::move(label)),
      buffer_cells_(config.buffer_size_bytes / config.cell_bytes),
      qos_(effective_qos(config)) {
    if (!qos_.problems.empty()) fail(qos_.problems[0].path() + ": " + qos_.problems[0].wrong);
    const std::string name = "sim" + std::to_string(next_number());
    constexpr unsigned cache = 256;
    // A frame on its way to the switch is in an mbuf too, five of them when it is long.
    if (packets == 0) packets = static_cast<unsigned>(packet_demand(config).total());
    pool_ = std::make_unique<PacketPool>((name + "_pool").c_str(), packets, cache);
    routes_ = Routes::create({{false, 64}, {false, 64}});
    if (pool_->pool() == nullptr || !routes_) fail("no memory");
    std::vector<PortSpec> specs;
    for (const auto& [port_name, port] : config.ports) {
        const auto id = static_cast<PortId>(names_.size());
        macs_.push_back(*port.mac);
        names_.push_back(port_name);
        port_info_[port_name] = {id, macs_.back()};
        SimPort::Spec spec{id, port.speed, *port.mac, pool_->pool(), {}, config.virtual_ring_frames};
        if (port.peer.value_or(PeerKind::obey) == PeerKind::obey) spec.obeys = peer_delay(port);
        auto io = std::make_unique<SimPort>(spec);
        ports_.push_back(io.get());
        const auto owner = static_cast<WorkerId>(port.worker.value_or(id) % config.workers);
        specs.push_back(
            {std::move(io), LinkTransmitter(port.speed.byte_time(), config.virtual_turn), owner, 0, {}});
    }
    auto policy = compile(config, route_changes({}, config));
    routes_->published();
    switch_ = std::make_unique<Switch>(
        config.workers, std::move(policy), std::move(specs),
        Switch::Resources{pool_->pool(), packets, true, decision_ring(config), 1024});
    change_.emplace(*switch_, true);
    runner_ = std::make_unique<VirtualRunner>(std::vector<Switch*>{switch_.get()}, config.virtual_turn);
}

SimSwitch::~SimSwitch() {
    if (switch_) switch_->empty();
}

void SimSwitch::fail(const std::string& what) {
    const double us = runner_ ? static_cast<double>(runner_->now().ps) / 1e6 : 0;
    FAIL(fmt::format("{}{}at {:.6f} us: {}", label_, label_.empty() ? "" : ", ", us, what).c_str());
}

std::unique_ptr<Policy> SimSwitch::compile(const Config& config, const RouteChanges& changes) {
    auto policy = std::make_unique<Policy>(compile_ports(config, qos_, macs_, state_));
    if (const std::string error = routes_->change(changes, port_info_); !error.empty()) fail(error);
    routes_->name_in(*policy);
    return policy;
}

bool SimSwitch::publish(const Config& config) {
    EffectiveQos qos = effective_qos(config);
    if (!qos.problems.empty()) return false;
    qos_ = std::move(qos);
    auto policy = compile(config, route_changes(config_, config));
    change_->start(std::move(policy));
    routes_->published();
    look_at_classes();
    return true;
}

void SimSwitch::look_at_classes() {
    for (const ClassNews& news : class_changes_.look(*switch_, now()))
        if (on_class) on_class(news);
}

void SimSwitch::hold(PortId port, ClassId queue, bool on) {
    const auto bit = static_cast<std::uint8_t>(1U << queue);
    std::uint8_t& mask = state_.held[names_[port]];
    mask = static_cast<std::uint8_t>(on ? mask | bit : mask & ~bit);
    if (!publish(config_)) fail("a hold was refused");
}

void SimSwitch::set_port(PortId port, bool up) {
    if (up)
        state_.down.erase(names_[port]);
    else
        state_.down.insert(names_[port]);
    if (!publish(config_)) fail("a port command was refused");
}

void SimSwitch::run_watchdog(PortId port, bool on) {
    if (on)
        state_.unwatched.erase(names_[port]);
    else
        state_.unwatched.insert(names_[port]);
    if (!publish(config_)) fail("a watchdog command was refused");
}

void SimSwitch::big_red_switch(bool on) {
    state_.big_red_switch = on;
    if (!publish(config_)) fail("a big red switch was refused");
}

bool SimSwitch::apply(const Config& config) {
    if (!publish(config)) return false;
    config_ = config;
    return true;
}

std::uint8_t SimSwitch::add(PortId port, Flow flow) {
    flow.start = max(flow.start, now());
    return ports_[port]->add(flow);
}

bool SimSwitch::step(Time end) {
    std::optional<Time> instant = runner_->next();
    if (!actions_.empty()) {
        const Time action = runner_->on_grid(Time{actions_.begin()->first});
        if (!instant || action <= *instant) instant = max(action, runner_->now());
    }
    if (!instant || *instant > end) return false;
    runner_->advance(*instant);
    while (!actions_.empty() && Time{actions_.begin()->first} <= *instant) {
        const auto action = std::move(actions_.begin()->second);
        actions_.erase(actions_.begin());
        action();
    }
    runner_->run();
    if (change_->finish()) {
        look_at_classes();
        runner_->run();
    }
    ++instants_;
    const std::string wrong = invariants_.broken(*switch_, buffer_cells_, change_pending());
    if (!wrong.empty()) fail(wrong);
    if (on_instant) on_instant();
    return true;
}

void SimSwitch::run_until(Time end) {
    while (step(end)) {
    }
    runner_->advance(max(end, runner_->now()));
}

void SimSwitch::drain(Time end) {
    while (step(end)) {
    }
    std::string wrong = broken_after_drain(*switch_);
    bool idle = true;
    for (SimPort* port : ports_) {
        if (wrong.empty()) wrong = port->disorder();
        idle = idle && port->is_idle();
    }
    if (wrong.empty() && idle && pool_->in_use() != 0)
        wrong = fmt::format("{} mbufs are not back in the pool", pool_->in_use());
    if (!wrong.empty()) fail(wrong);
}

std::uint64_t SimSwitch::dropped(DropReason reason) const {
    std::uint64_t sum = 0;
    for (PortId id = 0; id < ports_.size(); ++id) sum += switch_->dropped(id, reason);
    return sum;
}

std::uint64_t SimSwitch::dropped() const { return switch_->ledger().dropped; }

std::uint64_t SimSwitch::digest() {
    std::uint64_t digest = 0;
    const auto add = [&](std::uint64_t value) { digest = scramble(digest ^ value); };
    for (PortId id = 0; id < ports_.size(); ++id) {
        const PortContext& port = switch_->port(id);
        const PortCounters& counters = port.counters;
        add(ports_[id]->digest());
        for (const Traffic* traffic : {&counters.rx, &counters.tx})
            add(traffic->packets.get()), add(traffic->bytes.get());
        for (const Counter* counter : {&counters.consumed, &counters.generated, &counters.lost_on_wire,
                                       &counters.flaps, &counters.behind})
            add(counter->get());
        for (std::size_t reason = 1; reason < drop_reason_count; ++reason)
            add(switch_->dropped(id, static_cast<DropReason>(reason)));
        for (unsigned n = 0; n < classes; ++n) {
            const auto priority = static_cast<ClassId>(n);
            add(counters.queue[n].tx.bytes.get());
            add(counters.queue[n].dropped.get());
            const WatchdogCounters& watchdog = port.watchdog.counters[n];
            for (const Counter* counter : {&watchdog.state, &watchdog.detected, &watchdog.restored,
                                           &watchdog.total_passed, &watchdog.total_dropped})
                add(counter->get());
            add(counters.group_rx[n].bytes.get());
            add(counters.group[n].dropped.get());
            add(counters.group[n].headroom_overruns.get());
            add(counters.group[n].xoff.get());
            add(port.group[n].shared_watermark.persistent.get());
            add(port.group[n].headroom_watermark.persistent.get());
            add(port.queue[n].use.shared_watermark.persistent.get());
            add(port.generator.counters(priority).tx_xoff.get());
            add(port.generator.counters(priority).tx_refresh.get());
            add(port.honor.counters(priority).rx_xoff.get());
            add(port.honor.counters(priority).expired.get());
            add(static_cast<std::uint64_t>(port.generator.asserted_time(priority, now()).ps));
            add(static_cast<std::uint64_t>(port.honor.paused_time(priority, now()).ps));
        }
    }
    return digest;
}

}  // namespace sluice::sim
