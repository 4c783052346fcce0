#include "tests/sim/sim_switch.hh"

#include <fmt/format.h>

#include "lib/values/rng.hh"
#include "tests/sim/outcomes.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sim {
namespace {

MacAddress mac_of(unsigned id) { return {{0x02, 0x53, 0x4C, 0, 0, static_cast<std::uint8_t>(id)}}; }

IpAddress address_of(unsigned id, std::uint8_t host) {
    IpAddress address;
    address.bytes = {10, 0, static_cast<std::uint8_t>(id), host};
    return address;
}

}  // namespace

Config sim_config(unsigned ports, Rate speed, std::uint32_t cable_m, std::uint32_t mtu) {
    Config config;
    config.fib.ipv4_tables = config.fib.ipv6_tables = 64;
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

tl::expected<std::unique_ptr<Port>, std::string> SimPorts::open(const std::string&, const PortConfig& port,
                                                                const Config& config, rte_mempool* pool) {
    const auto id = static_cast<PortId>(ports.size());
    auto io = std::make_unique<SimPort>(
        SimPort::Spec{id, port.speed, *port.mac, pool, peer_delay(port), config.virtual_ring_frames});
    ports.push_back(io.get());
    return io;
}

SimSwitch::SimSwitch(const Config& config, std::string label, unsigned packets, unsigned trace_slots)
    : SimSwitch(config, new SimPorts, std::move(label), packets, trace_slots) {}

SimSwitch::SimSwitch(const Config& config, SimPorts* ports, std::string label, unsigned packets,
                     unsigned trace_slots)
    : CheckedSwitch(config, std::unique_ptr<Surroundings>(ports), std::move(label), packets, true,
                    trace_slots),
      ports_(ports) {}

SimSwitch::~SimSwitch() {
    if (notes_outcomes()) note_outcome(label(), device(), digest());
}

void SimSwitch::changed() {
    const EventLog& log = running().events();
    for (; told_ < log.total(); ++told_)
        if (const SwitchEvent* event = log.find(told_);
            event != nullptr && event->of_class() != nullptr && on_class)
            on_class(*event->of_class());
}

void SimSwitch::hold(PortId port, ClassId queue, bool on) {
    must(running().hold_queue(running().port_names()[port], queue, on), "a hold");
}

void SimSwitch::run_watchdog(PortId port, bool on) {
    must(running().run_watchdog(running().port_names()[port], on), "a watchdog command");
}

void SimSwitch::big_red_switch(bool on) { must(running().big_red_switch(on), "a big red switch"); }

bool SimSwitch::apply(const Config& config) {
    const bool applied = running().apply(config, running().forced()).empty();
    changed();
    return applied;
}

std::uint8_t SimSwitch::add(PortId port, Flow flow) {
    flow.start = max(flow.start, now());
    return this->port(port).add(flow);
}

void SimSwitch::drain(Time end) {
    while (step(end)) {
    }
    std::string wrong;
    bool idle = true;
    for (SimPort* port : ports_->ports) {
        if (wrong.empty()) wrong = port->disorder();
        idle = idle && port->is_idle();
    }
    this->end(wrong, idle);
}

std::uint64_t SimSwitch::dropped(DropReason reason) const {
    std::uint64_t sum = 0;
    for (PortId id = 0; id < ports_->ports.size(); ++id) sum += running().device().dropped(id, reason);
    return sum;
}

std::uint64_t SimSwitch::digest() {
    std::uint64_t digest = 0;
    const auto add = [&](std::uint64_t value) { digest = scramble(digest ^ value); };
    for (PortId id = 0; id < ports_->ports.size(); ++id) {
        const PortContext& port = device().port(id);
        const PortCounters& counters = port.counters;
        add(ports_->ports[id]->digest());
        for (const Traffic* traffic : {&counters.rx, &counters.tx})
            add(traffic->packets.get()), add(traffic->bytes.get());
        for (const Counter* counter : {&counters.consumed, &counters.generated, &counters.lost_on_wire,
                                       &counters.flaps, &counters.behind})
            add(counter->get());
        for (std::size_t reason = 1; reason < drop_reason_count; ++reason)
            add(device().dropped(id, static_cast<DropReason>(reason)));
        for (unsigned n = 0; n < classes; ++n) {
            const auto priority = static_cast<ClassId>(n);
            add(counters.queue[n].tx.bytes.get());
            add(counters.queue[n].dropped.get());
            add(counters.trim[n].sent.get());
            add(counters.trim[n].dropped.get());
            for (const Counter& counter : counters.queue[n].taken) add(counter.get());
            for (const Counter& counter : counters.queue[n].marked) add(counter.get());
            for (const Counter& counter : counters.queue[n].wred_dropped) add(counter.get());
            counters.queue[n].latency.for_each_bucket([&](Duration longest, std::uint64_t times) {
                add(static_cast<std::uint64_t>(longest.ps)), add(times);
            });
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
            add(port.queue[n].use.deepest_cells());
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
