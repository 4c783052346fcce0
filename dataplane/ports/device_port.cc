#include "dataplane/ports/device_port.hh"

#include "dataplane/ports/device.hh"
#include "dataplane/ports/ethdev_port.hh"
#include "dataplane/ports/kernel/packet_port.hh"
#include "dataplane/ports/kernel/xdp_port.hh"

namespace sluice {

tl::expected<std::unique_ptr<DevicePort>, std::string> DevicePort::start(DeviceSpec spec) {
    const DeviceText text = parse_device(spec.device);
    if (text.has("net_af_packet")) return PacketPort::start(std::move(spec));
    if (text.has("xdp")) return XdpPort::start(std::move(spec));
    return EthdevPort::start(std::move(spec));
}

bool DevicePort::has_returned() const {
    if (open_) return false;
    // Not before it is up: until then its MTU and queues may be set.
    const auto interface = KernelInterface::named(interface_name_);
    return interface && interface->is_up();
}

void DevicePort::went() {
    removed_ = true;
    link_up_ = false;
}

std::string DevicePort::claim_interface() {
    const auto interface = KernelInterface::named(parse_device(spec_.device).sends_by);
    if (!interface) return {};
    auto claim = InterfaceClaim::take(*interface);
    if (!claim) return std::move(claim.error());
    claim_ = std::move(*claim);
    return {};
}

void DevicePort::follow_interface(LinkCause own) {
    interface_link_ = interface_->link();
    if (interface_link_ == LinkCause::interface_gone) return went();
    if (interface_link_ == LinkCause::none) interface_link_ = own;
    link_up_ = !removed_ && interface_link_ == LinkCause::none;
}

LinkCause DevicePort::link_cause() const {
    if (link_up()) return LinkCause::none;
    if (!open_ || is_removed())
        return interface_name_.empty() ? LinkCause::device_gone : LinkCause::interface_gone;
    return interface_ && interface_link_ != LinkCause::none ? interface_link_ : LinkCause::no_link;
}

}  // namespace sluice
