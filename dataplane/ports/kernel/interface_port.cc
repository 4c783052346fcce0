#include "dataplane/ports/kernel/interface_port.hh"

#include <utility>

#include "dataplane/ports/device.hh"

namespace sluice {
namespace {

void add(PortAccount& sum, const PortAccount& more) {
    sum.missed += more.missed;
    sum.uncut += more.uncut;
    sum.beyond_mtu += more.beyond_mtu;
    sum.beyond_mtu_in += more.beyond_mtu_in;
    sum.refused += more.refused;
}

}  // namespace

InterfacePort::InterfacePort(DeviceSpec spec) : DevicePort(std::move(spec)) {
    interface_name_ = parse_device(spec_.device).interface;
}

std::string InterfacePort::open() {
    std::string error = open_interface();
    return error.empty() ? error : "device \"" + spec_.device + "\"" + error;
}

// An error's text, which follows the device, or empty.
std::string InterfacePort::open_interface() {
    interface_ = KernelInterface::named(interface_name_);
    if (!interface_)
        return ": there is no interface " + interface_name_ + "; do: name one that ip link shows";
    if (std::string taken = claim_interface(); !taken.empty()) {
        interface_.reset();
        return ": " + taken;
    }
    mac_ = interface_->mac();
    if (KernelInterface::is_card(interface_name_))
        can_.pfc.why = "made and obeyed by software; whether the card behind " + interface_name_ +
                       " hands MAC control frames over is not known";
    if (std::string error = open_sockets(); !error.empty()) {
        interface_.reset();
        give_up_interface();
        return ": " + error;
    }
    mtu_.store(interface_->mtu(), std::memory_order_relaxed);
    open_ = true;
    removed_ = false;
    return {};
}

PortAccount InterfacePort::account() const {
    PortAccount sum = before_;
    if (open_) add(sum, count());
    return sum;
}

void InterfacePort::poll_link() {
    if (!open_) return;
    follow_interface(obstacle());
    if (!is_removed()) mtu_.store(interface_->mtu(), std::memory_order_relaxed);
}

void InterfacePort::release() {
    close();
    interface_.reset();
}

std::string InterfacePort::reopen() {
    std::string error = open();
    if (!error.empty()) went();
    return error;
}

std::string InterfacePort::close() {
    if (!open_) return {};
    add(before_, count());
    open_ = false;
    close_sockets();
    give_up_interface();
    return {};
}

}  // namespace sluice
