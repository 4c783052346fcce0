#include "tests/sim/host_switch.hh"

#include <fmt/format.h>

#include "lib/values/rng.hh"
#include "tests/sim/outcomes.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sim {
namespace {

constexpr std::uint32_t first_qp = 0x100;

IpAddress host_address(unsigned id) {
    IpAddress address;
    address.bytes = {10, 0, static_cast<std::uint8_t>(id), 2};
    return address;
}

void add(roce::QpStatistics& to, const roce::QpStatistics& from) {
    to.completed += from.completed;
    to.failed += from.failed;
    to.completed_bytes += from.completed_bytes;
    to.delivered += from.delivered;
    to.delivered_bytes += from.delivered_bytes;
    to.wrong_payload += from.wrong_payload;
    to.data_packets += from.data_packets;
    to.data_wire_bytes += from.data_wire_bytes;
    to.ce_received += from.ce_received;
    to.cnps_sent += from.cnps_sent;
    to.cnps_received += from.cnps_received;
}

}  // namespace

HostPorts::HostPorts(const Config& config, HostSetup setup)
    : setup_(std::move(setup)), queue_pairs_(config.ports.size()) {
    for (std::uint32_t flow = 0; flow < setup_.flows.size(); ++flow) {
        const HostFlow& each = setup_.flows[flow];
        for (const unsigned from : each.from) {
            for (unsigned n = 0; n < each.qps; ++n) {
                auto& sender = queue_pairs_[from];
                auto& receiver = queue_pairs_[each.to];
                const auto sender_qp = first_qp + static_cast<std::uint32_t>(sender.size());
                const auto receiver_qp = first_qp + static_cast<std::uint32_t>(receiver.size());
                const std::uint64_t identity =
                    std::uint64_t{flow} << 48 | std::uint64_t{from} << 32 | std::uint64_t{each.to} << 16 | n;
                sender.push_back({flow, true, host_address(each.to), receiver_qp, identity});
                receiver.push_back({flow, false, host_address(from), sender_qp, identity});
            }
        }
    }
}

tl::expected<std::unique_ptr<Port>, std::string> HostPorts::open(const std::string&, const PortConfig& port,
                                                                 const Config& config, rte_mempool* pool) {
    const auto id = static_cast<unsigned>(ports.size());
    HostPortSpec spec;
    spec.speed = port.speed;
    spec.cable = cable_delay(port);
    spec.obeys = peer_delay(port);
    spec.ring_frames = config.virtual_ring_frames;
    spec.pool = pool;
    spec.nic.mac = {{2, 0, 0, 0, 9, static_cast<std::uint8_t>(id)}};
    spec.nic.gateway_mac = *port.mac;
    spec.nic.address = host_address(id);
    spec.nic.first_qp = first_qp;
    spec.nic.seed = config.seed;
    spec.nic.reaction = roce::ReactionParameters::of(roce::CongestionControl::none, port.speed);
    for (const HostFlow& flow : setup_.flows) {
        spec.flows.push_back(flow.settings);
        spec.flows.back().path = {{port.speed.byte_time(), {}}};
    }
    spec.queue_pairs = queue_pairs_[id];
    setup_.each(id, spec);
    auto io = std::make_unique<HostPort>(spec);
    ports.push_back(io.get());
    return io;
}

HostSwitch::HostSwitch(const Config& config, HostSetup setup, std::string label, unsigned packets,
                       bool checks)
    : HostSwitch(config, new HostPorts(config, std::move(setup)), std::move(label), packets, checks) {}

HostSwitch::HostSwitch(const Config& config, HostPorts* ports, std::string label, unsigned packets,
                       bool checks)
    : CheckedSwitch(config, std::unique_ptr<Surroundings>(ports), std::move(label), packets, checks),
      ports_(ports) {}

HostSwitch::~HostSwitch() {
    if (notes_outcomes()) note_outcome(label(), device(), digest());
}

void HostSwitch::drain(Time end) {
    while (step(end)) {
    }
    std::string wrong;
    for (unsigned id = 0; id < hosts(); ++id)
        if (wrong.empty() && host(id).expects_frames()) wrong = fmt::format("host {} is not done", id);
    const roce::QpStatistics all = sum();
    if (all.wrong_payload != 0) wrong = fmt::format("{} packets with wrong payload", all.wrong_payload);
    this->end(wrong, true);
}

roce::QpStatistics HostSwitch::sum(unsigned id) {
    roce::QpStatistics sum;
    for (const roce::QueuePair& qp : host(id).nic().queue_pairs()) add(sum, qp.statistics);
    return sum;
}

roce::QpStatistics HostSwitch::sum() {
    roce::QpStatistics all;
    for (unsigned id = 0; id < hosts(); ++id) add(all, sum(id));
    return all;
}

std::uint64_t HostSwitch::digest() {
    std::uint64_t digest = 0;
    const auto take = [&](std::uint64_t value) { digest = scramble(digest ^ value); };
    take(now().ps);
    for (unsigned id = 0; id < hosts(); ++id) {
        const PortContext& port = device().port(static_cast<PortId>(id));
        for (const Traffic* traffic : {&port.counters.rx, &port.counters.tx})
            take(traffic->packets.get()), take(traffic->bytes.get());
        const roce::Nic& nic = host(id).nic();
        take(nic.statistics().frames_sent), take(nic.statistics().frames_received);
        take(nic.statistics().refused), take(host(id).pauses_sent());
        for (unsigned n = 0; n < classes; ++n) {
            take(port.counters.group[n].xoff.get());
            take(static_cast<std::uint64_t>(host(id).paused_time(static_cast<ClassId>(n), now()).ps));
        }
        for (const roce::QueuePair& qp : nic.queue_pairs()) {
            const roce::QpStatistics& own = qp.statistics;
            for (const std::uint64_t value :
                 {own.completed, own.failed, own.completed_bytes, own.delivered, own.delivered_bytes,
                  own.data_packets, own.data_wire_bytes, own.ce_received, own.cnps_sent, own.cnps_received})
                take(value);
            take(qp.reaction().rate().bits_per_second), take(qp.reaction().target_rate().bits_per_second);
            take(qp.paced_until().ps);
        }
        for (std::size_t flow = 0; flow < nic.flows().size(); ++flow)
            for (const unsigned share : {500U, 990U, 1000U})
                take(
                    static_cast<std::uint64_t>(nic.flow_statistics(flow).completion_time.quantile(share).ps));
    }
    return digest;
}

}  // namespace sluice::sim
