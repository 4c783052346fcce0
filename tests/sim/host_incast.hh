// N hosts that send to one without end: the setup and the measures of DCQCN's published experiments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/sim/host_switch.hh"

namespace sluice::sim {

constexpr std::uint32_t one_us = 198;  // meters of cable

inline std::vector<unsigned> first(unsigned n) {
    std::vector<unsigned> hosts(n);
    for (unsigned i = 0; i < n; ++i) hosts[i] = i;
    return hosts;
}

inline roce::FlowSettings messages_of(std::uint32_t bytes, std::uint64_t count, std::uint32_t depth = 4) {
    roce::FlowSettings flow;
    flow.sizes = roce::MessageSizes::fixed(bytes);
    flow.messages = count;
    flow.arrivals.depth = depth;
    return flow;
}

constexpr std::uint32_t frame_1000 = 940;  // payload of 998 bytes, the nearest to 1000 that a pad leaves

struct Settled {
    double queue_bytes = 0;      // mean over time
    double deviation_bytes = 0;  // of it, standard
    double utilization = 0;
    double jain = 0;
};

// N endless senders at 40G into one port, marked between 5 and 200 KB up to 1 %; PFC is far away.
inline Config marked_config(unsigned senders, std::uint64_t seed) {
    Config config = sim_config(senders + 1, gigabits(40), one_us);
    config.seed = seed;
    config.buffer_size_bytes = 64'000'000;
    WredConfig& wred = config.wred["paper"];
    wred.green.min_bytes = 5'000;
    wred.green.max_bytes = 200'000;
    wred.green.probability = Chance{Chance::always / 100};
    port_of(config, senders).queue[lossless].wred = "paper";
    return config;
}

inline HostSetup incast(unsigned senders, roce::CongestionControl kind) {
    roce::FlowSettings flow = messages_of(1'000'000, UINT64_MAX);
    flow.arrivals.spread = microseconds(100);
    flow.requester.mtu = flow.responder.mtu = frame_1000;
    flow.requester.timeout = milliseconds(20);
    HostSetup setup{{{first(senders), senders, 1, flow}}};
    setup.each = [kind](unsigned, HostPortSpec& spec) {
        spec.nic.reaction = roce::ReactionParameters::of(kind, spec.speed);
        spec.nic.checks_payload = false;
    };
    return setup;
}

constexpr unsigned incast_packets = 80'000;

inline Settled settle(HostSwitch& sim, unsigned senders, Duration transient, Duration measured) {
    const PortContext& port = sim.device().port(static_cast<PortId>(senders));
    double area = 0, squares_area = 0, bytes = 0;
    Time weighed = Time{} + transient;
    const auto weigh = [&] {
        if (sim.now() <= weighed) return;
        const auto time = static_cast<double>((sim.now() - weighed).ps);
        area += bytes * time;
        squares_area += bytes * bytes * time;
        weighed = sim.now();
    };
    sim.on_instant = [&] {
        weigh();
        bytes = port.queue[lossless].use.used_cells() * 256.0;
    };
    sim.run_until(Time{} + transient);
    std::vector<double> before;
    for (unsigned id = 0; id < senders; ++id)
        before.push_back(static_cast<double>(sim.qp(senders, id).statistics.delivered_bytes));
    const std::uint64_t tx_packets = port.counters.tx.packets.get();
    const std::uint64_t tx_bytes = port.counters.tx.bytes.get();
    sim.run_until(Time{} + transient + measured);
    weigh();
    double sum = 0, squares = 0;
    for (unsigned id = 0; id < senders; ++id) {
        const double got = static_cast<double>(sim.qp(senders, id).statistics.delivered_bytes) - before[id];
        sum += got;
        squares += got * got;
    }
    const std::uint64_t wire = port.counters.tx.bytes.get() - tx_bytes +
                               (port.counters.tx.packets.get() - tx_packets) * wire_overhead_bytes;
    const auto span = static_cast<double>(measured.ps);
    const double mean = area / span;
    return {mean, std::sqrt(std::max(squares_area / span - mean * mean, 0.0)),
            static_cast<double>(wire) * static_cast<double>(gigabits(40).byte_time().ps) / span,
            sum * sum / (squares * senders)};
}

}  // namespace sluice::sim
