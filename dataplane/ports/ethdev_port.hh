// A port that is a DPDK ethdev: a vdev or a NIC. One transmit queue, and as many receive queues as it is
// told.
//
// A NIC, or an interface of the kernel, may go while the switch runs, and come back. From the moment that
// DPDK or the kernel tells, its link is down; when the owner has seen that, it asks nothing of the device any
// more, and control lets go of it and may take it again. An interface is followed by its index, so whatever
// it is called; one that has gone is another one of the configured name.
#pragma once

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/driver_sockets.hh"
#include "dataplane/ports/kernel_interface.hh"
#include "dataplane/ports/nic.hh"
#include "dataplane/ports/pci_device.hh"
#include "dataplane/ports/physical.hh"
#include "dataplane/ports/port.hh"

namespace sluice {

// Of a software device's receive ring and of its transmit ring, each a packet.
constexpr std::uint16_t ring_descriptors = 512;
// Packets that net_af_xdp keeps beside its rings: to be filled by the kernel, and sent but not yet given
// back.
constexpr std::uint32_t xdp_filled = 2048;
constexpr std::uint32_t xdp_packets = 2 * xdp_filled;

class EthdevPort final : public Port {
  public:
    struct Spec {
        std::string device;  // "net_pcap0,rx_pcap=...", "xdp:eth1" or a PCI address
        NicSpec nic{};       // of other devices MTU and pool count alone
        std::string pci_folder = PciDevice::usual_folder;
    };
    // Probes, configures and starts the device. An error is one line, with DPDK's own log of it.
    static tl::expected<std::unique_ptr<EthdevPort>, std::string> start(Spec spec);
    ~EthdevPort() override;

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
    std::optional<bool> falls_behind(Time now) const override;
    std::optional<bool> queue_falls_behind(std::uint16_t queue) const override;
    // acquire: the device behind an open port may be another than before.
    bool link_up() const override { return link_up_.load(std::memory_order_acquire); }
    bool has_own_ring() const override { return !can_.paced; }
    PortAccount account() const override;

    // All below by control.
    const PortCapabilities& capabilities() const { return can_; }
    // Now and then: asks the driver, or the kernel for an interface of its, for the link.
    void poll_link();
    // The cause of a link that was down at the last poll_link; none: it was up.
    LinkCause link_cause() const;
    // Of a NIC whose link is up; 0: unknown.
    std::uint32_t link_mbps() const { return link_mbps_.load(std::memory_order_relaxed); }
    // The MAC's counters; `with_module`: its module's temperature, too, which takes milliseconds.
    const PhysicalCounters& read_physical(bool with_module);
    const PhysicalCounters& physical() const { return physical_; }

    // The device has gone. Then, once its owner has seen the link down, `release`; from then on it is not
    // open, and `reopen` takes it again when it is there. An error's text, or empty. The link of an interface
    // of the kernel is then still down, until poll_link: its MAC may be another one.
    bool is_removed() const { return removed_.load(std::memory_order_relaxed); }
    bool is_open() const { return open_; }
    void release();
    bool has_returned() const;
    std::string reopen();

    // Nothing: it is no interface of the kernel's, or not open.
    const std::optional<KernelInterface>& interface() const { return interface_; }
    // As it is configured; empty: it is none.
    const std::string& interface_name() const { return interface_name_; }
    // Of an XDP port; null otherwise.
    Steering* steering() { return steering_.get(); }
    const Steering* steering() const { return steering_.get(); }
    MacAddress mac() const;
    // Stops the device, which gives back the frames it holds.
    std::string close() override;

  private:
    explicit EthdevPort(Spec spec) : spec_(std::move(spec)), queues_(spec_.nic.receive_queues) {}
    std::string open_software_device();
    std::string open_nic();
    void discard_what_came_before() const;
    std::uint64_t missed() const;
    void close_device();
    void free_packets_left();
    void follow();
    void unfollow();
    // DPDK's interrupt thread.
    static int on_event(std::uint16_t, rte_eth_event_type event, void* port, void*);
    static void on_device_event(const char*, rte_dev_event_type event, void* port);
    void went();

    Spec spec_;
    std::uint16_t id_ = 0;
    PortCapabilities can_;
    std::uint16_t half_ring_ = 0;  // of its receive ring, descriptors; 0: it does not tell
    struct alignas(64) Queue {
        bool last_burst_was_full = false;  // its poller's
    };
    std::vector<Queue> queues_;
    bool needs_software_pfc_ = false;  // the card that was here first had it
    std::string pci_address_;          // empty: no NIC
    std::string interface_name_;
    std::unique_ptr<Steering> steering_;
    mutable std::optional<PacketSockets> packet_sockets_;  // of net_af_packet
    std::optional<KernelInterface> interface_;    // drivers of kernel interfaces say that every link is up
    LinkCause interface_link_ = LinkCause::none;  // control's
    bool open_ = false;
    // By drivers of devices that are closed, at most: v22.11's net_af_xdp forgets the packets that it gave
    // the kernel to fill, and those that the kernel has sent meanwhile.
    std::uint32_t kept_ = 0;
    std::uint64_t missed_ = 0;              // by devices that are closed
    mutable std::uint64_t missed_now_ = 0;  // by this one, when it was asked last
    PhysicalReader reader_;
    PhysicalCounters physical_;
    // Written by control and DPDK's interrupt thread. seq_cst: a link that comes up at the moment when its
    // device goes must end down, so each writes its own and then looks at the other's.
    std::atomic<bool> removed_{false};
    std::atomic<bool> ready_{false};   // to be received from
    std::atomic<bool> link_up_{true};  // read by the owner once a turn
    std::atomic<std::uint32_t> link_mbps_{0};
};

}  // namespace sluice
