// Ports under the real clock: network cards, interfaces of the kernel, TAPs, and the kernel behind them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/switch/kernel/port_watch.hh"
#include "control/switch/running/kernel_control.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/base/output_file.hh"
#include "dataplane/ports/device_port.hh"

namespace sluice {

class DevicePorts final : public Surroundings {
  public:
    // `force`: accepts reasons why the cards are not lossless.
    static tl::expected<std::unique_ptr<DevicePorts>, std::string> create(const Config& config, bool force,
                                                                          std::string pci_folder);

    // Control, periodically: reads links, and follows cards and interfaces that go and come back.
    void poll_links(Time now);
    // Control, once a round: applies the kernel's messages.
    void poll_kernel() {
        if (kernel_) kernel_->poll(*running_, [this] { steer_own_addresses(); });
    }

    // ---- Surroundings
    tl::expected<std::unique_ptr<Port>, std::string> open(const std::string& name, const PortConfig& port,
                                                          const Config& config, rte_mempool* pool) override;
    std::string join(RunningSwitch& running) override;
    void configured() override;
    std::optional<MacAddress> mac(PortId id) const override { return device_ports_[id]->mac(); }
    LinkCause link_cause(PortId id) const override { return device_ports_[id]->link_cause(); }
    const DevicePort* device_port(PortId id) const override {
        return id < device_ports_.size() ? device_ports_[id] : nullptr;
    }
    const KernelControl* kernel() const override { return kernel_.get(); }
    std::vector<Finding> findings(const Config& config) const override;
    std::vector<std::string> broken_promises() const override;

  private:
    using CaptureNotes = std::vector<std::pair<std::string, std::string>>;  // of events: kind, text
    DevicePorts(CaptureNotes capture_notes, bool force, std::string pci_folder)
        : capture_notes_(std::move(capture_notes)), force_(force), pci_folder_(std::move(pci_folder)) {}

    std::string open_taps();
    void address_taps();
    std::string open_kernel();
    // Notes addresses of XDP ports that their interfaces lack, for which the kernel answers no ARP.
    void note_lacking_addresses();
    // The interfaces of the kernel that are ports, by index.
    KernelTables::Ports kernel_ports() const;
    void take_up_interfaces();
    // The error of a setting that the cards do not allow, or empty. Doubtful settings are noted.
    std::string judge_nics();

    // XDP ports pass to the kernel the packets for the machine's addresses, the table `local`, and the ports'
    // addresses; this updates them.
    void steer_own_addresses();
    const Config& config() const;

    CaptureNotes capture_notes_;
    bool force_;
    std::string pci_folder_;
    RunningSwitch* running_ = nullptr;       // from `join` on
    std::vector<DevicePort*> device_ports_;  // by port; the switch owns them
    std::vector<OutputClaim> claims_;        // captures that drivers write
    std::optional<PortWatch> port_watch_;
    std::unique_ptr<KernelControl> kernel_;
    TapWatch tap_watch_;
    bool interfaces_changed_ = false;  // and the result is still to be published
};

}  // namespace sluice
