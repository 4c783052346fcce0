#include "dataplane/ports/ethdev_port.hh"

#include <rte_bus.h>
#include <rte_mempool.h>
#include <rte_pause.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "dataplane/base/eal.hh"
#include "dataplane/ports/device.hh"
#include "dataplane/ports/nic.hh"

namespace sluice {
namespace {

// net_pcap does not check its writes. Returns an error's text when a capture is shorter than the frames sent,
// or empty.
std::string missing_of(const std::string& capture, const rte_eth_stats& sent) {
    constexpr std::uint64_t file_header_bytes = 24, record_header_bytes = 16;
    const std::uint64_t wanted = file_header_bytes + sent.opackets * record_header_bytes + sent.obytes;
    std::error_code error;
    if (!std::filesystem::is_regular_file(capture, error)) return {};
    const std::uint64_t there = std::filesystem::file_size(capture, error);
    if (error || there >= wanted) return {};
    return capture + ": " + std::to_string(wanted - there) + " of " + std::to_string(wanted) +
           " bytes could not be written";
}

std::string name_of(const std::string& device) { return device.substr(0, device.find(',')); }

std::string failed(const Eal::LogMark& mark, const std::string& what, int error) {
    std::string text = what + ": " + (error != 0 ? std::strerror(std::abs(error)) : "failed");
    const std::string log = Eal::log_since(mark);
    if (!log.empty()) text += " (" + log + ")";
    return text;
}

std::string failed(const Eal::LogMark& mark, const NicError& why) {
    return why.error == 0 ? ": " + why.what : failed(mark, ": " + why.what, why.error);
}

}  // namespace

tl::expected<std::unique_ptr<EthdevPort>, std::string> EthdevPort::start(Spec spec) {
    std::unique_ptr<EthdevPort> port(new EthdevPort(std::move(spec)));
    DeviceText text = parse_device(port->spec_.device);
    port->pci_address_ = std::move(text.pci_address);
    port->interface_name_ = std::move(text.interface);
    const std::string error = port->pci_address_.empty() ? port->open_software_device() : port->open_nic();
    if (!error.empty()) return tl::unexpected("device \"" + port->spec_.device + "\"" + error);
    port->poll_link();
    return port;
}

std::string EthdevPort::open_software_device() {
    const std::uint32_t data_bytes = data_bytes_of(spec_.nic.pool);
    const DeviceText text = parse_device(spec_.device);
    if (const auto refused = refused_frames(text, spec_.device, data_bytes))
        return " " + refused->wrong + "; do: " + refused->remedy;
    if (std::string taken = claim_interface(); !taken.empty()) return ": " + taken;
    const auto mark = Eal::log_mark();
    if (const int probed = rte_dev_probe(spec_.device.c_str()); probed != 0)
        return failed(mark, " does not start", probed) + unknown_arguments(spec_.device);
    if (rte_eth_dev_get_port_by_name(name_of(spec_.device).c_str(), &id_) != 0)
        return failed(mark, " is not an Ethernet device", 0);
    open_ = true;
    losses_.follow(id_);
    interface_ = KernelInterface::named(text.interface);
    auto started = start_software_device(id_, spec_.nic);
    if (!started) return failed(mark, started.error());
    can_ = std::move(*started);
    if (interface_ && KernelInterface::is_card(text.interface))
        can_.pfc.why = "made and obeyed by software; whether the card behind " + text.interface +
                       " hands MAC control frames over is not known";
    // Vdevs without promiscuous mode take every frame anyway.
    static_cast<void>(rte_eth_promiscuous_enable(id_));
    removed_ = false;
    ready_ = true;
    return {};
}

std::string EthdevPort::open_nic() {
    if (std::string obstacle = PciDevice(pci_address_, spec_.pci_folder).obstacle(); !obstacle.empty())
        return ": " + obstacle;
    const auto mark = Eal::log_mark();
    const std::string arguments = spec_.device.substr(std::min(spec_.device.find(','), spec_.device.size()));
    const int probed = rte_dev_probe((pci_address_ + arguments).c_str());
    if (probed != 0 && probed != -EEXIST)  // DPDK probes its devices when it starts
        return failed(mark, ": DPDK has no driver for it, or it does not start", probed);
    if (rte_eth_dev_get_port_by_name(pci_address_.c_str(), &id_) != 0)
        return failed(mark, ": DPDK has no driver of Ethernet devices for it", 0);
    open_ = true;
    removed_ = false;
    follow();  // events from here on count, but the link stays down until all is ready
    auto started = start_nic(id_, spec_.nic);
    if (!started) return failed(mark, started.error());
    if (needs_software_pfc_ && started->pfc.tx != PfcTx::software)
        return ": another card is there: " + started->pfc.why;
    can_ = std::move(*started);
    needs_software_pfc_ = can_.pfc.tx == PfcTx::software;
    losses_.follow(id_);
    for (Queue& queue : queues_) queue.watches_segments = can_.whole_mtu != 0;
    half_ring_ = can_.tells_ring_fill ? static_cast<std::uint16_t>(can_.receive_ring / 2) : std::uint16_t{0};
    reader_ = PhysicalReader(id_);
    can_.module = reader_.has_module();
    start_log_ = Eal::errors_since(mark);
    ignored_arguments_ = sluice::ignored_arguments(spec_.device, can_.driver);
    ready_ = true;
    poll_link();
    return {};
}

EthdevPort::~EthdevPort() { close(); }

std::string EthdevPort::close() {
    const std::string capture = open_ ? parse_device(spec_.device).tx_pcap : std::string();
    rte_eth_stats sent{};
    if (!capture.empty() && rte_eth_stats_get(id_, &sent) != 0) sent = {};
    close_device();
    return capture.empty() ? capture : missing_of(capture, sent);
}

void EthdevPort::close_device() {
    if (!open_) return;
    if (!is_removed()) losses_.read();
    open_ = false;
    ready_ = false;
    unfollow();
    static_cast<void>(rte_eth_dev_stop(id_));  // an error means that it was not started
    static_cast<void>(rte_eth_dev_close(id_));
    give_up_interface();
}

void EthdevPort::follow() {
    static_cast<void>(rte_eth_dev_callback_register(id_, RTE_ETH_EVENT_INTR_RMV, on_removal, this));
    // The kernel announces that it takes a device of vfio away.
    static_cast<void>(rte_dev_event_callback_register(pci_address_.c_str(), on_device_event, this));
}

void EthdevPort::unfollow() {
    if (pci_address_.empty()) return;
    while (rte_eth_dev_callback_unregister(id_, RTE_ETH_EVENT_INTR_RMV, on_removal, this) == -EAGAIN)
        rte_pause();
    while (rte_dev_event_callback_unregister(pci_address_.c_str(), on_device_event, this) == -EAGAIN)
        rte_pause();
}

int EthdevPort::on_removal(std::uint16_t, rte_eth_event_type, void* port, void*) {
    static_cast<EthdevPort*>(port)->went();
    return 0;
}

void EthdevPort::on_device_event(const char*, rte_dev_event_type event, void* port) {
    if (event == RTE_DEV_EVENT_REMOVE) static_cast<EthdevPort*>(port)->went();
}

void EthdevPort::release() {
    if (!open_) return;
    rte_eth_dev_info info{};
    const bool known = rte_eth_dev_info_get(id_, &info) == 0;
    close_device();
    // An error here shows when the device is taken again.
    if (known && info.device != nullptr) static_cast<void>(rte_dev_remove(info.device));
    interface_.reset();
    link_mbps_ = 0;
    physical_ = {};
    queues_ = std::vector<Queue>(queues_.size());  // no worker polls them now
}

bool EthdevPort::has_returned() const {
    if (open_) return false;
    if (!pci_address_.empty()) return PciDevice(pci_address_, spec_.pci_folder).obstacle().empty();
    return DevicePort::has_returned();
}

std::string EthdevPort::reopen() {
    std::string error = pci_address_.empty() ? open_software_device() : open_nic();
    if (error.empty()) return {};
    removed_ = true;
    link_up_ = false;
    release();
    give_up_interface();
    return "device \"" + spec_.device + "\"" + error;
}

unsigned EthdevPort::receive(std::span<Packet*> out, Time now) { return receive_from(0, out, now); }

unsigned EthdevPort::receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) {
    const unsigned count = rte_eth_rx_burst(id_, queue, out.data(), static_cast<std::uint16_t>(out.size()));
    for (unsigned i = 0; i < count; ++i) meta(out[i]).arrival = now;
    Queue& from = queues_[queue];
    from.last_burst_was_full = count == out.size();
    if (from.watches_segments && count != 0) look_for_segments(from, out.first(count));
    return count;
}

void EthdevPort::look_for_segments(Queue& from, std::span<Packet* const> burst) {
    for (const Packet* packet : burst)
        if (packet->nb_segs > 1) from.segmented.set(1);
    from.watches_segments = from.segmented.get() == 0;
}

// Reads the middle descriptor, and only while bursts are full; rte_eth_rx_queue_count would read all of them.
std::optional<bool> EthdevPort::queue_falls_behind(std::uint16_t queue) const {
    if (half_ring_ == 0) return std::nullopt;
    return queues_[queue].last_burst_was_full &&
           rte_eth_rx_descriptor_status(id_, queue, half_ring_) == RTE_ETH_RX_DESC_DONE;
}

unsigned EthdevPort::transmit(std::span<Packet* const> frames) {
    return rte_eth_tx_burst(id_, 0, const_cast<Packet**>(frames.data()),
                            static_cast<std::uint16_t>(frames.size()));
}

PortAccount EthdevPort::account() const {
    if (open_ && !is_removed()) losses_.read();
    PortAccount account;
    account.missed = losses_.count().missed;
    account.rx_errors = losses_.count().errors;
    return account;
}

bool EthdevPort::has_segmented() const {
    return std::ranges::any_of(queues_, [](const Queue& queue) { return queue.segmented.get() != 0; });
}

void EthdevPort::poll_link() {
    if (!open_) return;
    if (interface_) {
        follow_interface(ready_ ? LinkCause::none : LinkCause::no_link);
        return;
    }
    rte_eth_link link{};
    if (rte_eth_link_get_nowait(id_, &link) != 0) return;  // a device without link state is always up
    const bool up = link.link_status == RTE_ETH_LINK_UP;
    const bool known = up && !pci_address_.empty() && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
    link_mbps_.store(known ? link.link_speed : 0, std::memory_order_relaxed);
    link_up_ = up && ready_ && !removed_;
    if (removed_) link_up_ = false;
}

const PhysicalCounters& EthdevPort::read_physical(bool with_module) {
    if (open_ && !is_removed() && !pci_address_.empty()) {
        reader_.read_counters(physical_);
        if (with_module) reader_.read_module(physical_);
    }
    return physical_;
}

MacAddress EthdevPort::mac() const {
    rte_ether_addr address{};
    MacAddress mac;
    if (rte_eth_macaddr_get(id_, &address) == 0) std::memcpy(mac.bytes.data(), address.addr_bytes, 6);
    return mac;
}

}  // namespace sluice
