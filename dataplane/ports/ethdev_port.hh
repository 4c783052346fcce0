// A port that is a DPDK ethdev, a vdev or a NIC, with one transmit queue.
#pragma once

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/ports/device_port.hh"
#include "dataplane/ports/receive_losses.hh"
#include "dataplane/ports/ring_size.hh"
#include "lib/threads/counters.hh"

namespace sluice {

class EthdevPort final : public DevicePort {
  public:
    using Spec = DeviceSpec;
    // Probes, configures and starts the device. An error is one line, with DPDK's log.
    static tl::expected<std::unique_ptr<EthdevPort>, std::string> start(Spec spec);
    ~EthdevPort() override;

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
    std::optional<bool> queue_falls_behind(std::uint16_t queue) const override;
    PortAccount account() const override;
    std::uint64_t rx_errors_at(std::uint16_t queue) const override { return losses_.errors_at(queue); }
    bool has_segmented() const override;

    void poll_link() override;
    std::uint32_t link_mbps() const override { return link_mbps_.load(std::memory_order_relaxed); }
    const PhysicalCounters& read_physical(bool with_module) override;
    void release() override;
    bool has_returned() const override;
    std::string reopen() override;
    MacAddress mac() const override;
    // Stops the device, which gives back the frames it holds.
    std::string close() override;

  private:
    explicit EthdevPort(Spec spec) : DevicePort(std::move(spec)), queues_(spec_.nic.receive_queues) {}
    std::string open_software_device();
    std::string open_nic();
    void close_device();
    void follow();
    void unfollow();
    // DPDK's interrupt thread.
    static int on_removal(std::uint16_t, rte_eth_event_type, void* port, void*);
    static void on_device_event(const char*, rte_dev_event_type event, void* port);

    std::uint16_t id_ = 0;
    std::uint16_t half_ring_ = 0;  // of its receive ring, descriptors; 0: it does not tell
    struct alignas(64) Queue {
        bool last_burst_was_full = false;  // its poller's
        bool watches_segments = false;     // its poller's: until one has come
        Counter segmented;                 // not 0: a frame in several packet buffers has come
    };
    static void look_for_segments(Queue& from, std::span<Packet* const> burst);
    std::vector<Queue> queues_;
    bool needs_software_pfc_ = false;  // the card that was here first had it
    std::string pci_address_;          // empty: no NIC
    mutable ReceiveLosses losses_;     // as read last
    PhysicalReader reader_;
    std::atomic<bool> ready_{false};  // to be received from; beside DevicePort's `removed_`
    std::atomic<std::uint32_t> link_mbps_{0};
};

}  // namespace sluice
