#include "control/switch/running/device_ports.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "control/config/compile/compile.hh"
#include "control/config/lint/lint_nic.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/values.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/virtual_ports.hh"
#include "dataplane/peers/obeying_port.hh"
#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device.hh"

namespace sluice {

tl::expected<std::unique_ptr<DevicePorts>, std::string> DevicePorts::create(const Config& config, bool force,
                                                                            std::string pci_folder) {
    auto scanned = scan_captures(config);  // drivers read them; errors come before any start
    if (!scanned) return tl::unexpected(scanned.error());
    return std::unique_ptr<DevicePorts>(
        new DevicePorts(std::move(scanned->notes), force, std::move(pci_folder)));
}

tl::expected<std::unique_ptr<Port>, std::string> DevicePorts::open(const std::string& name,
                                                                   const PortConfig& port,
                                                                   const Config& config, rte_mempool* pool) {
    const auto failed = [&](const std::string& error) {
        return tl::unexpected("port " + name + ": " + error);
    };
    if (const std::string file = parse_device(port.device).tx_pcap; OutputClaim::is_for(file)) {
        auto claim = OutputClaim::take(file);
        if (!claim) return failed(claim.error());
        claims_.push_back(std::move(*claim));
    }
    auto started = DevicePort::start({port.device,
                                      {static_cast<std::uint16_t>(port.mtu), pool, port.speed,
                                       config.turn_max, modeled_ring, port.mac, port.rx_queues},
                                      pci_folder_});
    if (!started) return failed(started.error());
    device_ports_.push_back(started->get());
    if (port.peer == PeerKind::obey && has_our_sender(config, port))
        return std::make_unique<ObeyingPort>(std::move(*started), port.speed);
    return std::move(*started);
}

std::string DevicePorts::join(RunningSwitch& running) {
    running_ = &running;
    for (const auto& [kind, text] : capture_notes_) running.events().note(kind, text);
    port_watch_.emplace(device_ports_, running.port_names());
    std::string error = open_taps();
    if (error.empty()) error = open_kernel();
    if (error.empty()) error = judge_nics();
    for (PortId id = 0; id < device_ports_.size(); ++id) {
        const DevicePort& port = *device_ports_[id];
        const std::string at = "port " + running.port_names()[id] + ": ";
        if (const std::string& log = port.start_log(); !log.empty())
            running.events().note("device_log", at + "DPDK logged while it started: " + log);
        if (const std::string& ignored = port.ignored_arguments(); !ignored.empty())
            running.events().note("nic_warning", at + ignored);
    }
    if (error.empty()) note_lacking_addresses();
    return error;
}

void DevicePorts::note_lacking_addresses() {
    const std::vector<std::string>& names = running_->port_names();
    for (PortId id = 0; id < device_ports_.size(); ++id) {
        const DevicePort& port = *device_ports_[id];
        if (port.steering() == nullptr || !port.interface()) continue;
        for (const IpPrefix& own : config().ports.at(names[id]).address)
            if (!kernel_->tables().has_address(port.interface()->index(), own.address))
                running_->events().note(
                    "address_lacking",
                    fmt::format("port {0}: its interface {1} lacks the address {2}, so nobody answers "
                                "ARP or neighbor discovery for it: those of an XDP port go to the "
                                "kernel; do: ip address add {3} dev {1}",
                                names[id], port.interface_name(), print_address(own.address),
                                print_prefix(own)));
    }
}

void DevicePorts::configured() {
    address_taps();
    if (kernel_) steer_own_addresses();  // and those of the ports
}

std::vector<std::string> DevicePorts::broken_promises() const {
    return port_watch_ ? port_watch_->broken_promises() : std::vector<std::string>{};
}

void DevicePorts::poll_links(Time now) {
    const auto tell = [&](std::vector<PortNotice> all) {
        for (PortNotice& notice : all) {
            interfaces_changed_ |= notice.another;
            running_->events().note(notice.kind, std::move(notice.text));
        }
    };
    tell(port_watch_->find_changes(config(), running_->device(), now));
    for (PortId id = 0; id < device_ports_.size(); ++id) running_->watch().note_link(id);
    tell(tap_watch_.find_changes(running_->slow_path(), running_->served()));
    if (!interfaces_changed_ || !running_->limit_change().publication().late().empty()) return;
    interfaces_changed_ = false;
    address_taps();
    take_up_interfaces();
}

// A new interface of the same name has another index, and another MAC unless the configuration sets it.
void DevicePorts::take_up_interfaces() {
    std::map<PortId, MacAddress> macs;
    for (PortId id = 0; id < device_ports_.size(); ++id)
        if (device_ports_[id]->interface() && !config().ports.at(running_->port_names()[id]).mac)
            macs[id] = device_ports_[id]->mac();
    if (std::string error = running_->change_macs(macs); !error.empty())
        running_->events().note("interface_refused", std::move(error));
    if (!kernel_) return;
    kernel_->set_ports(kernel_ports());
    steer_own_addresses();
}

std::vector<Finding> DevicePorts::findings(const Config& config) const {
    if (std::all_of(device_ports_.begin(), device_ports_.end(),
                    [](const DevicePort* port) { return port->capabilities().is_virtual; }))
        return {};
    return lint_nics(config, effective_qos(config), [this](const std::string& name) {
        const auto id = running_->find_port(name);
        const DevicePort* port = id ? device_port(*id) : nullptr;
        return port != nullptr ? NicState{&port->capabilities(), port->link_mbps()} : NicState{};
    });
}

std::string DevicePorts::judge_nics() {
    std::vector<Finding> found = findings(config());
    if (force_) sluice::force(found);
    std::string errors;
    for (const Finding& finding : found) {
        const std::string text = finding.path + ": " + finding.message + "; do: " + finding.fix;
        if (finding.severity == Severity::error)
            append_item(errors, "; ", text);
        else if (!finding.forced)
            running_->events().note("nic_warning", text);
    }
    if (!errors.empty() && force_helps(found)) errors += "; or run it so, not lossless: --force";
    running_->force_also(forced_reasons(found));
    return errors;
}

// Gives the configuration's addresses to the TAPs.
void DevicePorts::address_taps() {
    const std::vector<std::string>& names = running_->port_names();
    for (PortId id = 0; id < names.size(); ++id)
        if (Tap* tap = running_->slow_path().tap(id))
            if (std::string error = tap->set_addresses(config().ports.at(names[id]).address); !error.empty())
                running_->events().note_once("tap_address",
                                             "port " + names[id] + ": its TAP does not take " + error);
}

std::string DevicePorts::open_taps() {
    if (!config().kernel.has_taps()) return {};
    const std::vector<std::string>& names = running_->port_names();
    for (PortId id = 0; id < device_ports_.size(); ++id) {
        if (device_ports_[id]->interface()) continue;
        const PortConfig& port = config().ports.at(names[id]);
        if (std::string error = running_->slow_path().open_tap(id, names[id], running_->macs()[id], port.mtu);
            !error.empty())
            return error;
    }
    address_taps();
    return {};
}

KernelTables::Ports DevicePorts::kernel_ports() const {
    const std::vector<std::string>& names = running_->port_names();
    KernelTables::Ports interfaces;
    for (PortId id = 0; id < device_ports_.size(); ++id) {
        if (const auto& interface = device_ports_[id]->interface())
            interfaces[interface->index()] = names[id];
        if (const Tap* tap = running_->slow_path().tap(id)) interfaces[tap->index()] = names[id];
    }
    return interfaces;
}

std::string DevicePorts::open_kernel() {
    const bool steered = std::any_of(device_ports_.begin(), device_ports_.end(),
                                     [](const DevicePort* port) { return port->steering() != nullptr; });
    if (!config().kernel.routes && !steered) return {};
    auto opened = KernelControl::open(config().kernel, kernel_ports());
    if (!opened) return opened.error();
    kernel_ = std::move(*opened);
    // From the first frame on.
    steer_own_addresses();
    return {};
}

void DevicePorts::steer_own_addresses() {
    std::set<IpPrefix> own_prefixes = kernel_->tables().own();
    const std::vector<std::string>& names = running_->port_names();
    for (const auto& [name, port] : config().ports)
        for (const IpPrefix& own : port.address) own_prefixes.insert(host_prefix(own.address));
    for (PortId id = 0; id < device_ports_.size(); ++id)
        if (Steering* steering = device_ports_[id]->steering())
            if (std::string error = steering->set_local(own_prefixes); !error.empty())
                running_->events().note_once("steering", "port " + names[id] + ": " + error);
}

const Config& DevicePorts::config() const { return running_->config(); }

}  // namespace sluice
