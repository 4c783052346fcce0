// A port of the real clock: a device of this machine. It may go while the switch runs, and come back.
//
// Its link is down from when DPDK or the kernel reports it gone; when its owner has seen that, it no longer
// touches the device, and control releases it and may reopen it. An interface of the kernel is followed by
// its index, whatever its name; a gone one is found again by the configured name. Workers call the functions
// of Port, control the others.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/ports/kernel_interface.hh"
#include "dataplane/ports/nic.hh"
#include "dataplane/ports/pci_device.hh"
#include "dataplane/ports/physical.hh"
#include "dataplane/ports/port.hh"

namespace sluice {

class Steering;

struct DeviceSpec {
    std::string device;  // "net_pcap0,rx_pcap=...", "net_af_packet0,iface=eth1", "xdp:eth1" or a PCI address
    NicSpec nic{};       // of other devices MTU, queues and pool count alone
    std::string pci_folder = PciDevice::usual_folder;
};

class DevicePort : public Port {
  public:
    // Opens and starts the device that the text names. An error is one line.
    static tl::expected<std::unique_ptr<DevicePort>, std::string> start(DeviceSpec spec);

    // acquire: the device behind an open port may be another than before.
    bool link_up() const override { return link_up_.load(std::memory_order_acquire); }
    bool has_own_ring() const override { return !can_.paced; }
    std::optional<bool> falls_behind(Time) const final { return queue_falls_behind(0); }

    const PortCapabilities& capabilities() const { return can_; }
    // Now and then: reads the link from the driver, or from the kernel for its interface.
    virtual void poll_link() = 0;
    // The cause of a link that was down at the last poll_link; none: it was up.
    LinkCause link_cause() const;
    // The speed of a NIC whose link is up; 0: unknown.
    virtual std::uint32_t link_mbps() const { return 0; }
    // The MAC's counters; `with_module`: its module's temperature, too, which takes milliseconds.
    virtual const PhysicalCounters& read_physical(bool) { return physical_; }
    const PhysicalCounters& physical() const { return physical_; }
    // PortAccount::rx_errors by queue, at the last `account`, where the driver counts them so.
    virtual std::uint64_t rx_errors_at(std::uint16_t) const { return 0; }
    // A frame in several packet buffers has come, at a port that has a `whole_mtu`.
    virtual bool has_segmented() const { return false; }

    // The device has gone. Once its owner has seen the link down, control calls `release`, and `reopen` when
    // it is there again; that returns an error's text, or empty. An interface's link is then still down,
    // until poll_link: its MAC may be another one.
    bool is_removed() const { return removed_.load(std::memory_order_relaxed); }
    bool is_open() const { return open_; }
    virtual void release() = 0;
    virtual bool has_returned() const;
    virtual std::string reopen() = 0;

    // Errors of EAL's while the device started all the same; empty: none.
    const std::string& start_log() const { return start_log_; }
    // A card's arguments that its driver ignores, and the remedy; empty: none.
    const std::string& ignored_arguments() const { return ignored_arguments_; }
    // Nothing: it is not an interface of the kernel's, or not open.
    const std::optional<KernelInterface>& interface() const { return interface_; }
    // As it is configured; empty: it is none.
    const std::string& interface_name() const { return interface_name_; }
    // Null unless it is an XDP port.
    virtual Steering* steering() { return nullptr; }
    virtual const Steering* steering() const { return nullptr; }
    virtual MacAddress mac() const = 0;

  protected:
    explicit DevicePort(DeviceSpec spec) : spec_(std::move(spec)) {}
    // Claims the interface by which its frames leave, if any, before it is changed. An error's text, or
    // empty.
    std::string claim_interface();
    void give_up_interface() { claim_ = {}; }
    // Reads the link of an open interface of the kernel; `own`: another cause that holds it down.
    void follow_interface(LinkCause own);
    void went();

    DeviceSpec spec_;
    PortCapabilities can_;
    std::string interface_name_;
    std::optional<KernelInterface> interface_;
    LinkCause interface_link_ = LinkCause::none;
    InterfaceClaim claim_;
    PhysicalCounters physical_;
    std::string start_log_;
    std::string ignored_arguments_;
    bool open_ = false;
    // Written by control and DPDK's interrupt thread. seq_cst: a link that comes up at the moment when its
    // device goes must end down, so each writes its own and then looks at the other's.
    std::atomic<bool> removed_{false};
    std::atomic<bool> link_up_{true};  // read by the owner once a turn
};

}  // namespace sluice
