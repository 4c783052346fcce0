// A port that is a DPDK ethdev: a vdev or a NIC. One receive and one transmit queue.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/port.hh"
#include "lib/headers.hh"

namespace sluice {

constexpr std::uint16_t ring_descriptors =
    512;  // of a device's receive ring and of its transmit ring, each a packet

class EthdevPort final : public Port {
  public:
    struct Spec {
        std::string device;  // "net_pcap0,rx_pcap=..." or a PCI address
        std::uint16_t mtu = 9100;
        rte_mempool* pool = nullptr;
    };
    // Probes, configures and starts the device. An error is one line; what DPDK logged of it is part of it.
    static tl::expected<std::unique_ptr<EthdevPort>, std::string> start(const Spec& spec);
    ~EthdevPort() override;

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
    bool link_up() const override { return link_up_.load(std::memory_order_relaxed); }
    bool has_own_ring() const override { return !is_virtual_; }
    std::uint64_t missed() const override;
    // Control, now and then: asks the driver for the link.
    void poll_link();
    MacAddress mac() const;
    // Stops the device, which gives back the frames it holds.
    std::string close() override;

  private:
    EthdevPort(std::uint16_t id, bool is_virtual) : id_(id), is_virtual_(is_virtual) {}
    std::uint16_t id_;
    bool open_ = true;
    std::uint64_t missed_ = 0;  // when it was closed
    bool is_virtual_;           // a software device: swallows whatever it gets, so the link model paces it
    std::atomic<bool> link_up_{true};  // written by control, read by the owner once a turn
};

}  // namespace sluice
