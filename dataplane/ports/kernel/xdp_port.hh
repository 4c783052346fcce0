// A port on an interface of the kernel by AF_XDP: "xdp:eth1". The steering program at the interface decides
// which frames are the port's; the kernel has the others.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/kernel/interface_port.hh"
#include "dataplane/ports/kernel/xdp_queue.hh"

namespace sluice {

class XdpPort final : public InterfacePort {
  public:
    static tl::expected<std::unique_ptr<DevicePort>, std::string> start(DeviceSpec spec);
    ~XdpPort() override { close(); }

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override {
        return queues_.front()->send(frames, interface_mtu());
    }
    std::optional<bool> falls_behind(Time) const override { return queue_falls_behind(0); }
    std::optional<bool> queue_falls_behind(std::uint16_t queue) const override {
        return queues_[queue]->falls_behind();
    }
    Steering* steering() override { return &steering_; }
    const Steering* steering() const override { return &steering_; }

  private:
    explicit XdpPort(DeviceSpec spec) : InterfacePort(std::move(spec)) {}
    std::string open_sockets() override;
    void close_sockets() override;
    PortAccount count() const override;
    LinkCause obstacle() const override;
    std::string open_queues();

    Steering steering_;
    std::vector<std::unique_ptr<XdpQueue>> queues_;
};

}  // namespace sluice
