// What a switch is made of: EAL, the packet pool, the routes' tables, and its ports.
#include "control/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/capture_span.hh"
#include "control/compile.hh"
#include "control/values.hh"
#include "dataplane/capture_port.hh"
#include "dataplane/device.hh"
#include "dataplane/obeying_port.hh"

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

EalOptions RunningSwitch::eal_options(const Config& config) {
    EalOptions options;
    const PacketDemand demand = packet_demand(config);
    options.memory_bytes = demand.total() * (PacketPool::bytes_each(packet_buffer_bytes(config)) + 64) +
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
            append_item(errors, "\n",
                        fmt::format("port {}: device {}: {}", name, in_quotes(port.device), why));
    }
    return errors;
}

std::string RunningSwitch::make_pool() {
    const PacketDemand demand = packet_demand(config_);
    packets_ = static_cast<unsigned>(demand.total());
    pool_ = std::make_unique<PacketPool>((options_.name + "_pool").c_str(), packets_, packet_cache,
                                         packet_buffer_bytes(config_));
    if (pool_->pool() == nullptr)
        return fmt::format(
            "no memory for {} packet buffers of {} bytes ({} MB): {} for the shared buffer, {} for "
            "rings, {} for caches, {} for captures; do: make the buffer smaller, or give more memory",
            packets_, PacketPool::bytes_each(packet_buffer_bytes(config_)),
            packets_ * PacketPool::bytes_each(packet_buffer_bytes(config_)) >> 20, demand.buffer,
            demand.rings, demand.caches, demand.captures);
    const Fib::Sizes sizes = fib_sizes(config_);
    routes_ = Routes::create(sizes);
    if (!routes_)
        return fmt::format(
            "no memory for two forwarding tables of {} MB: {} tables for IPv4 and {} for IPv6; do: make "
            "fib.ipv4_tables or fib.ipv6_tables smaller, or give more memory",
            Fib::bytes(sizes) >> 20, sizes.v4.tables, sizes.v6.tables);
    return {};
}

// This reads the inputs whole, so a damaged one is refused here.
std::string RunningSwitch::read_captures() {
    CaptureSpan span;
    for (const auto& [name, port] : config_.ports) {
        const DeviceText device = parse_device(port.device);
        for (const std::string& file : device.rx_pcaps) {
            const auto capture = CaptureReader::scan(file);
            if (!capture) return "port " + name + ": " + capture.error();
            if (capture->packets == 0)
                note("empty_capture", "port " + name + ": " + file + " holds no frames");
            else
                span.add(file, capture->stamps);
        }
    }
    if (config_.clock == ClockKind::real_time) return {};  // read only so that nothing is started in vain
    if (std::string error = span.too_long(); !error.empty()) return error;
    timeline_ = span.timeline();
    if (std::string text = shortened_text(timeline_); !text.empty()) note("capture_gaps", std::move(text));
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
                             &timeline_,
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
    if (const std::string file = parse_device(port.device).tx_pcap; OutputClaim::is_for(file)) {
        auto claim = OutputClaim::take(file);
        if (!claim) return failed(claim.error());
        claims_.push_back(std::move(*claim));
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
        macs_.push_back(configured_mac(config_, port, index).value_or(MacAddress{}));
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

}  // namespace sluice
