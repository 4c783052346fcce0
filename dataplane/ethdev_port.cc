#include "dataplane/ethdev_port.hh"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "dataplane/device.hh"
#include "dataplane/eal.hh"

namespace sluice {
namespace {

// net_af_packet receives into one mbuf: a frame of its ring must fit one, with the kernel's header, and
// frames must fill a block.
constexpr std::uint32_t af_packet_header_bytes = 148;
std::uint32_t af_packet_frame_bytes(std::uint32_t data_bytes) { return std::bit_floor(data_bytes); }

// net_null fills one mbuf with as many bytes as it is told, whether they fit or not.
std::uint64_t null_frame_bytes(const std::string& device) {
    constexpr std::string_view key = ",size=";
    std::uint64_t most = 0;
    if (!device.starts_with("net_null")) return most;
    for (std::size_t at = device.find(key); at != std::string::npos; at = device.find(key, at + 1))
        most = std::max<std::uint64_t>(most, std::strtoull(device.c_str() + at + key.size(), nullptr, 0));
    return most;
}

// The kernel writes into a packet buffer behind what DPDK keeps there and its own 256 bytes; a buffer lies
// within a page (v22.11, net_af_xdp's xdp_umem_configure).
struct XdpRoom {
    std::uint32_t overhead;  // of a buffer's bytes
    std::uint32_t buffer;    // bytes from one to the next
    explicit XdpRoom(const rte_mempool* pool)
        : overhead(pool->header_size + static_cast<std::uint32_t>(sizeof(rte_mbuf)) +
                   rte_pktmbuf_priv_size(const_cast<rte_mempool*>(pool)) + RTE_PKTMBUF_HEADROOM),
          buffer(rte_mempool_calc_obj_size(pool->elt_size, pool->flags, nullptr)) {}
    static constexpr std::uint32_t page = 4096;
    static constexpr std::uint32_t kernel_headroom = 256;
    static constexpr std::uint32_t ethernet = RTE_ETHER_HDR_LEN + 2 * 4;
    std::uint32_t mtu_of(std::uint32_t bytes) const { return bytes - overhead - kernel_headroom - ethernet; }
};

// Empty where the device takes frames of this MTU.
std::string too_long(const EthdevPort::Spec& spec, const DeviceText& device) {
    const std::uint32_t data_bytes = data_bytes_of(spec.pool);
    std::uint32_t most = spec.mtu;
    std::string remedy;
    if (device.has("net_af_packet")) {
        most = af_packet_frame_bytes(data_bytes) - af_packet_header_bytes;
        remedy = ", or buffer.packet_buffer to 16384";
    } else if (device.has("xdp")) {
        const XdpRoom room(spec.pool);
        const std::uint32_t largest = (XdpRoom::page - room.overhead) / 64 * 64;
        if (room.buffer > XdpRoom::page)
            return "device \"" + spec.device + "\" needs a packet buffer within a page; do: set " +
                   "buffer.packet_buffer to at most " + std::to_string(largest);
        most = room.mtu_of(room.buffer);
        remedy = ", or buffer.packet_buffer to " + std::to_string(largest) + " for an MTU of " +
                 std::to_string(room.mtu_of(XdpRoom::page));
    }
    if (spec.mtu <= most) return {};
    return "device \"" + spec.device + "\" takes no frame of MTU " + std::to_string(spec.mtu) +
           "; do: set mtu to at most " + std::to_string(most) + remedy;
}

std::string with_defaults(const std::string& device, std::uint32_t data_bytes) {
    if (device.starts_with("net_af_packet") && device.find("framesz=") == std::string::npos)
        return device + ",framesz=" + std::to_string(af_packet_frame_bytes(data_bytes)) +
               ",blocksz=65536,framecnt=" + std::to_string(ring_descriptors);
    return device;
}

std::string name_of(const std::string& device) { return device.substr(0, device.find(',')); }

tl::unexpected<std::string> failed(const Eal::LogMark& mark, const std::string& what, int error) {
    std::string text = what + ": " + (error != 0 ? std::strerror(std::abs(error)) : "failed");
    const std::string log = Eal::log_since(mark);
    if (!log.empty()) text += " (" + log + ")";
    return tl::unexpected(text);
}

int configure(std::uint16_t id, const EthdevPort::Spec& spec) {
    rte_eth_conf conf{};
    rte_eth_dev_info info{};
    int result = rte_eth_dev_info_get(id, &info);
    if (result != 0) return result;
    conf.rxmode.mtu = std::clamp<std::uint32_t>(spec.mtu, info.min_mtu, info.max_mtu);
    // It says 1518 whatever its ring's frames are, and looks at those alone.
    if (spec.device.starts_with("net_af_packet"))
        conf.rxmode.mtu = std::min<std::uint32_t>(conf.rxmode.mtu,
                                                  info.max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN);
    conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
    conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    if ((result = rte_eth_dev_configure(id, 1, 1, &conf)) != 0) return result;
    std::uint16_t rx = ring_descriptors;
    std::uint16_t tx = ring_descriptors;
    if ((result = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx)) != 0) return result;
    const int socket = rte_eth_dev_socket_id(id);
    const unsigned node = socket < 0 ? 0 : static_cast<unsigned>(socket);
    if ((result = rte_eth_rx_queue_setup(id, 0, rx, node, nullptr, spec.pool)) != 0) return result;
    if ((result = rte_eth_tx_queue_setup(id, 0, tx, node, nullptr)) != 0) return result;
    return rte_eth_dev_start(id);
}

}  // namespace

tl::expected<std::unique_ptr<EthdevPort>, std::string> EthdevPort::start(const Spec& spec) {
    const std::uint32_t data_bytes = data_bytes_of(spec.pool);
    const DeviceText text = parse_device(spec.device);
    if (std::string error = too_long(spec, text); !error.empty()) return tl::unexpected(error);
    if (null_frame_bytes(spec.device) > data_bytes)
        return tl::unexpected("device \"" + spec.device +
                              "\" makes frames larger than a packet buffer; do: set size to at most " +
                              std::to_string(data_bytes) + ", or buffer.packet_buffer to more");
    std::string device = with_defaults(spec.device, data_bytes);
    std::unique_ptr<Steering> steering;
    if (text.has("xdp")) {
        auto prepared = Steering::prepare(text.interface);
        if (!prepared) return tl::unexpected("device \"" + spec.device + "\": " + prepared.error());
        steering = std::make_unique<Steering>(std::move(*prepared));
        device = "net_af_xdp_" + text.interface + ",iface=" + text.interface +
                 ",start_queue=0,queue_count=1,xdp_prog=" + steering->object_path();
    }
    const auto mark = Eal::log_mark();
    const int probed = rte_dev_probe(device.c_str());
    if (probed != 0) return failed(mark, "device \"" + spec.device + "\" does not start", probed);
    std::uint16_t id = 0;
    if (rte_eth_dev_get_port_by_name(name_of(device).c_str(), &id) != 0)
        return failed(mark, "device \"" + spec.device + "\" is not an Ethernet device", 0);
    std::unique_ptr<EthdevPort> port(new EthdevPort(id, device.starts_with("net_")));
    port->interface_ = KernelInterface::named(text.interface);
    const int configured = configure(id, spec);
    if (configured != 0) return failed(mark, "device \"" + spec.device + "\" does not start", configured);
    if (steering) {
        if (std::string error = steering->find_maps(); !error.empty())
            return tl::unexpected("device \"" + spec.device + "\": " + error);
        port->steering_ = std::move(steering);
    }
    // Not every vdev knows promiscuous mode, and those that do not take every frame anyway.
    static_cast<void>(rte_eth_promiscuous_enable(id));
    port->poll_link();
    return port;
}

EthdevPort::~EthdevPort() { close(); }

std::string EthdevPort::close() {
    if (!open_) return {};
    missed_ = missed();
    open_ = false;
    static_cast<void>(rte_eth_dev_stop(id_));  // an error means that it was not started
    static_cast<void>(rte_eth_dev_close(id_));
    return {};
}

unsigned EthdevPort::receive(std::span<Packet*> out, Time now) {
    const unsigned count = rte_eth_rx_burst(id_, 0, out.data(), static_cast<std::uint16_t>(out.size()));
    for (unsigned i = 0; i < count; ++i) meta(out[i]).arrival = now;
    return count;
}

unsigned EthdevPort::transmit(std::span<Packet* const> frames) {
    return rte_eth_tx_burst(id_, 0, const_cast<Packet**>(frames.data()),
                            static_cast<std::uint16_t>(frames.size()));
}

std::uint64_t EthdevPort::missed() const {
    if (!open_) return missed_;
    rte_eth_stats stats{};
    if (rte_eth_stats_get(id_, &stats) != 0) return 0;
    return stats.imissed + stats.rx_nombuf + (steering_ ? steering_->beyond_ring() : 0);
}

void EthdevPort::poll_link() {
    if (interface_) {
        link_up_.store(interface_->is_running(), std::memory_order_relaxed);
        return;
    }
    rte_eth_link link{};
    if (rte_eth_link_get_nowait(id_, &link) != 0) return;  // a device without link state is always up
    link_up_.store(link.link_status == RTE_ETH_LINK_UP, std::memory_order_relaxed);
}

MacAddress EthdevPort::mac() const {
    rte_ether_addr address{};
    MacAddress mac;
    if (rte_eth_macaddr_get(id_, &address) == 0) std::memcpy(mac.bytes.data(), address.addr_bytes, 6);
    return mac;
}

}  // namespace sluice
