// The parts of a switch: the packet pool, the routes' tables, and its ports.
#include "control/switch/running/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/compile.hh"
#include "control/config/schema/values.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

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

}  // namespace

std::string RunningSwitch::make_pool() {
    const PacketDemand demand = packet_demand(config_);
    packets_ = options_.packets != 0 ? options_.packets : static_cast<unsigned>(demand.total());
    pool_ = options_.pool;
    if (pool_ == nullptr) {
        own_pool_ = std::make_unique<PacketPool>((options_.name + "_pool").c_str(), packets_, packet_cache,
                                                 packet_buffer_bytes(config_));
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

}  // namespace sluice
