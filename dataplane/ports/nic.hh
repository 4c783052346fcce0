// Sets a probed network card up through DPDK, and finds the port's capabilities. Called by control.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/port_capabilities.hh"
#include "lib/frame/headers.hh"
#include "lib/values/units.hh"

namespace sluice {

struct NicSpec {
    std::uint16_t mtu = 9100;
    rte_mempool* pool = nullptr;
    Rate speed = gigabits(100);
    Duration turn_max{};              // longest time between two looks at the receive ring
    Duration ring{};                  // time that may wait in the transmit ring
    std::optional<MacAddress> mac{};  // the port's, where the configuration names one
    std::uint16_t receive_queues = 1;
};

// `error`: 0 when `what` says it all, else -errno.
struct NicError {
    std::string what;
    int error = 0;
};

// Configures and starts it: one transmit queue, receive queues by ReceiveSpread, no offload but frames of
// several packet buffers where they are needed, no flow control by the NIC, MAC control frames to us, rings
// by ring_size.hh.
tl::expected<PortCapabilities, NicError> start_nic(std::uint16_t id, const NicSpec& spec);
// Likewise a vdev, of whose spec MTU, queues and pool count.
tl::expected<PortCapabilities, NicError> start_software_device(std::uint16_t id, const NicSpec& spec);

// Spreads a device's received frames over several queues, so that a flow stays on one and keeps its order.
//
// By RSS where the device has a hash: Toeplitz over addresses, and ports where it knows them, with the
// symmetric key 0x6D5A repeated (Woo and Park, 2012), which brings both directions of a connection to one
// queue; an indirection table filled in turn. Or by the device itself: net_pcap has a file for each queue.
// For fragments, and for anything but TCP or UDP over IP, the hash covers addresses only or nothing, so
// fragments of a flow may overtake its other packets. Called by control.
class ReceiveSpread {
  public:
    // For a probed device that is not yet configured. `wrong`: it cannot spread over so many queues, and the
    // remedy; empty: it can.
    ReceiveSpread(const rte_eth_dev_info& info, std::uint16_t queues);
    const std::string& wrong() const { return wrong_; }

    // Writes the device's configuration, which points into this object.
    void ask_for(rte_eth_conf& conf);
    // Once it is started: 0 or -errno. Drivers without a writable table have filled one themselves.
    int fill_table(std::uint16_t id) const;
    // For people: "1 queue", "4 queues by RSS of ip, udp, tcp".
    std::string text() const;

  private:
    std::uint16_t queues_;
    std::uint64_t hash_ = 0;   // RTE_ETH_RSS_*; 0: none is asked for
    std::uint16_t table_ = 0;  // its entries
    std::array<std::uint8_t, 64> key_{};
    std::uint8_t key_bytes_ = 0;  // 0: the driver's own
    std::string wrong_;
};

}  // namespace sluice
