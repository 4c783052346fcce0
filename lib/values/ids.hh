// Small handles by which the mechanisms name things, and the limits on how many there may be.
#pragma once

#include <cstdint>

namespace sluice {

constexpr unsigned max_ports = 256;          // of one switch
constexpr unsigned max_workers = 16;         // of one switch
constexpr unsigned max_receive_queues = 16;  // of one port
constexpr unsigned classes = 8;              // queues, priority groups, traffic classes, priorities of a port
constexpr unsigned burst_size = 32;          // packets of one vector
constexpr unsigned min_mtu = 68;             // bytes of IP that every link carries whole (RFC 791)
constexpr unsigned max_mtu = 9216;
constexpr unsigned max_frame_bytes = max_mtu + 14 + 8;  // with Ethernet header and two tags

using PortId = std::uint16_t;   // in [0, max_ports)
using WorkerId = std::uint8_t;  // in [0, max_workers)
using ClassId = std::uint8_t;   // in [0, classes): a queue, group, traffic class or priority

}  // namespace sluice
