// Spreads a device's received frames over several queues, so that a flow stays on one and keeps its order.
//
// By RSS where the device has a hash: Toeplitz over addresses, and ports where it knows them, with the
// symmetric key 0x6D5A repeated (Woo and Park, 2012), which brings both directions of a connection to one
// queue; an indirection table filled in turn. Or by the device itself: net_pcap has a file for each queue.
// Of a fragment, and of anything but TCP or UDP over IP, the hash
// knows addresses alone or nothing: packets of a flow that are fragments may overtake those that are none.
// Called by control.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <cstdint>
#include <string>

namespace sluice {

class ReceiveSpread {
  public:
    // `queues` of a device, which has been probed and not yet configured. `wrong` is not empty where it
    // cannot spread over as many, and names the remedy.
    ReceiveSpread(const rte_eth_dev_info& info, std::uint16_t queues);
    const std::string& wrong() const { return wrong_; }

    // Writes the device's configuration; it must not be moved before that.
    void ask_for(rte_eth_conf& conf);
    // Once it is started: 0 or -errno. Drivers without a table to be written have filled one in turn
    // themselves.
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
