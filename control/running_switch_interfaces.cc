// Network cards and interfaces of the kernel that are a switch's ports, or stand for them.
#include "control/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/force.hh"
#include "control/lint_nic.hh"
#include "control/values.hh"

namespace sluice {

void RunningSwitch::poll_links(Time now) {
    const auto tell = [&](std::vector<PortNews> all) {
        for (PortNews& news : all) {
            interfaces_changed_ |= news.another;
            note(news.kind, std::move(news.text));
        }
    };
    tell(port_watch_->look(config_, *switch_, now));
    for (PortId id = 0; id < ethdevs_.size(); ++id) look_at_link(id);
    tell(tap_watch_.look(slow_path_, config_, names_, macs_, now));
    if (!interfaces_changed_ || !late_worker().empty()) return;
    interfaces_changed_ = false;
    address_taps();
    take_up_interfaces();
}

// Another interface of a port's name has another index, and where the configuration does not say one,
// another MAC.
void RunningSwitch::take_up_interfaces() {
    RouteChanges changes;
    for (PortId id = 0; id < ethdevs_.size(); ++id) {
        const std::string& name = names_[id];
        if (!ethdevs_[id]->interface() || config_.ports.at(name).mac) continue;
        const MacAddress mac = ethdevs_[id]->mac();
        if (mac == std::exchange(macs_[id], mac)) continue;
        port_info_.at(name).mac = mac;
        for (const NeighborConfig& neighbor : *config_.neighbors)
            if (neighbor.port == name) changes.neighbors.push_back({neighbor.address, neighbor});
    }
    if (std::string error = publish(config_, state_, changes); !error.empty())
        note("interface_refused", std::move(error));
    if (!kernel_) return;
    kernel_->set_ports(kernel_ports());
    steer_addresses(kernel_->mirror().tables().addresses());
}

std::vector<Finding> RunningSwitch::nic_findings(const Config& config) const {
    if (std::all_of(ethdevs_.begin(), ethdevs_.end(),
                    [](const EthdevPort* port) { return port->capabilities().is_virtual; }))
        return {};
    return lint_nics(config, effective_qos(config), [this](const std::string& name) {
        const auto found = std::find(names_.begin(), names_.end(), name);
        const EthdevPort* port = ethdev(static_cast<PortId>(found - names_.begin()));
        return port != nullptr ? NicState{&port->capabilities(), port->link_mbps()} : NicState{};
    });
}

// What the cards do not allow: an error's text, or empty. What they make doubtful is noted.
std::string RunningSwitch::judge_nics() {
    auto findings = nic_findings(config_);
    if (options_.force) force(findings);
    std::string errors;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::error)
            append_item(errors, "; ", finding.path + ": " + finding.message + "; do: " + finding.fix);
        else if (!finding.forced)
            note("nic_warning", finding.path + ": " + finding.message + "; do: " + finding.fix);
    }
    if (!errors.empty() && force_helps(findings)) errors += "; or run it so, not lossless: --force";
    for (std::string& reason : forced_reasons(findings)) state_.forced.push_back(std::move(reason));
    return errors;
}

// An address of the configuration is the kernel's, too, at an interface that is there for the port alone.
void RunningSwitch::address_taps() {
    for (PortId id = 0; id < names_.size(); ++id)
        if (Tap* tap = slow_path_.tap(id))
            if (std::string error = tap->set_addresses(config_.ports.at(names_[id]).address); !error.empty())
                note_once("tap_address", "port " + names_[id] + ": its TAP does not take " + error);
}

std::string RunningSwitch::open_taps() {
    if (!config_.kernel.has_taps()) return {};
    for (PortId id = 0; id < ethdevs_.size(); ++id) {
        if (ethdevs_[id]->interface()) continue;
        const PortConfig& port = config_.ports.at(names_[id]);
        if (std::string error = slow_path_.open_tap(id, names_[id], macs_[id], port.mtu); !error.empty())
            return error;
    }
    address_taps();
    return {};
}

KernelTables::Ports RunningSwitch::kernel_ports() const {
    KernelTables::Ports interfaces;
    for (PortId id = 0; id < ethdevs_.size(); ++id) {
        if (const auto& interface = ethdevs_[id]->interface()) interfaces[interface->index()] = names_[id];
        if (const Tap* tap = slow_path_.tap(id)) interfaces[tap->index()] = names_[id];
    }
    return interfaces;
}

std::string RunningSwitch::open_kernel() {
    const bool steered = std::any_of(ethdevs_.begin(), ethdevs_.end(),
                                     [](const EthdevPort* port) { return port->steering() != nullptr; });
    if (!config_.kernel.routes && !steered) return {};
    auto opened = KernelControl::open(config_.kernel, kernel_ports());
    if (!opened) return opened.error();
    kernel_ = std::move(*opened);
    // From the first frame on.
    steer_addresses(kernel_->mirror().tables().addresses());
    return {};
}

void RunningSwitch::steer_addresses(const std::set<IpAddress>& of_machine) {
    std::set<Steering::Address> addresses;
    const auto add = [&](const IpAddress& own) {
        addresses.insert(own.is_v6 ? own.bytes : Steering::mapped(own.bytes.data()));
    };
    for (const IpAddress& own : of_machine) add(own);
    for (const auto& [name, port] : config_.ports)
        for (const IpPrefix& own : port.address) add(own.address);
    for (PortId id = 0; id < ethdevs_.size(); ++id)
        if (Steering* steering = ethdevs_[id]->steering())
            if (std::string error = steering->set_local(addresses); !error.empty())
                note_once("steering", "port " + names_[id] + ": " + error);
}

}  // namespace sluice
