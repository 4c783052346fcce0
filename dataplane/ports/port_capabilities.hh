// The capabilities of a port, read from its driver once, at the start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// The side that sends and obeys PFC on a port. `hardware`: the NIC does, by the fill of its own buffers, not
// the switch's, so the port cannot have a lossless class; nor can it with `none`.
enum class PfcTx : std::uint8_t { software, hardware, none };
std::string_view to_string(PfcTx pfc);

struct PfcAbility {
    PfcTx tx = PfcTx::software;
    std::string why;  // a sentence
};

// The answers of a port's driver.
struct PfcAnswers {
    bool is_virtual = true;      // a software device: no MAC consumes frames
    int forward_result = 0;      // of flow control off, MAC control frames to us: 0 or -errno
    bool forward_is_on = false;  // read back from the driver
    bool pfc_by_queue = false;   // it has rte_eth_dev_priority_flow_ctrl_queue_configure
    int group_result = 0;        // of letting 01:80:C2:00:00:01 in: 0 or -errno
};

// By a table of v22.11's drivers, and by the answers.
PfcAbility pfc_ability(std::string_view driver, const PfcAnswers& answers);

struct PortCapabilities {
    std::string driver;  // "net_ixgbe"
    bool is_virtual = true;
    PfcAbility pfc;
    std::uint16_t max_mtu = 0;  // of this port, by the device and by packet buffers
    bool scattered_receive = false;
    bool multi_segment_transmit = false;
    std::uint16_t whole_mtu = 0;  // frames above it take several packet buffers; 0: the port's MTU has none
    std::uint16_t receive_queues = 1;  // that the device has
    std::uint16_t transmit_queues = 1;
    std::string receive_spread = "1 queue";  // the queues over which received frames are spread, and how
    std::uint16_t receive_ring = 0;          // of each queue: descriptors, each a packet buffer
    std::uint16_t transmit_ring = 0;
    bool paced = true;               // by the link model: the transmit ring would hold too much
    bool tells_ring_fill = false;    // for a worker that falls behind
    bool removal_interrupt = false;  // DPDK's driver tells when the device is gone
    std::string filter = "promiscuous";
    bool module = false;  // pluggable, and its EEPROM can be read
};

}  // namespace sluice
