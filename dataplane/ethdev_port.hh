// A port that is a DPDK ethdev: a vdev or a NIC. One receive and one transmit queue.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/bpf/steer.hh"
#include "dataplane/kernel_interface.hh"
#include "dataplane/port.hh"
#include "lib/headers.hh"

namespace sluice {

// Of a device's receive ring and of its transmit ring, each a packet.
constexpr std::uint16_t ring_descriptors = 512;
// Packets that net_af_xdp keeps beside its rings: to be filled by the kernel, and sent but not yet given
// back.
constexpr std::uint32_t xdp_packets = 2 * 2048;

class EthdevPort final : public Port {
  public:
    struct Spec {
        std::string device;  // "net_pcap0,rx_pcap=...", "xdp:eth1" or a PCI address
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
    // v22.11's net_af_xdp forgets what it gave the kernel to fill, and what the kernel has sent meanwhile.
    std::uint32_t kept_at_close() const override { return steering_ ? 2 * xdp_packets : 0; }
    // Control, now and then: asks the driver, or the kernel for an interface of its, for the link.
    void poll_link();
    // Nothing: it is no interface of the kernel's.
    const std::optional<KernelInterface>& interface() const { return interface_; }
    // Of an XDP port; null otherwise.
    Steering* steering() { return steering_.get(); }
    const Steering* steering() const { return steering_.get(); }
    MacAddress mac() const;
    // Stops the device, which gives back the frames it holds.
    std::string close() override;

  private:
    EthdevPort(std::uint16_t id, bool is_virtual) : id_(id), is_virtual_(is_virtual) {}
    std::uint16_t id_;
    std::unique_ptr<Steering> steering_;
    std::optional<KernelInterface> interface_;  // drivers of kernel interfaces say that every link is up
    bool open_ = true;
    std::uint64_t missed_ = 0;  // when it was closed
    bool is_virtual_;           // a software device: swallows whatever it gets, so the link model paces it
    std::atomic<bool> link_up_{true};  // written by control, read by the owner once a turn
};

}  // namespace sluice
