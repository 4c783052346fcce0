// A port on an interface of the kernel by AF_PACKET: "net_af_packet0,iface=eth1,qpairs=2". For any interface,
// frames to 9238 bytes in packet buffers of any size.
#pragma once

#include <memory>
#include <optional>

#include "dataplane/ports/kernel/interface_port.hh"
#include "dataplane/ports/kernel/packet_device.hh"
#include "dataplane/ports/kernel/packet_receiver.hh"
#include "dataplane/ports/kernel/packet_sender.hh"

namespace sluice {

class PacketPort final : public InterfacePort {
  public:
    static tl::expected<std::unique_ptr<DevicePort>, std::string> start(DeviceSpec spec);
    ~PacketPort() override { close(); }

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
    std::optional<bool> falls_behind(Time) const override { return queue_falls_behind(0); }
    std::optional<bool> queue_falls_behind(std::uint16_t queue) const override {
        return queues_[queue]->falls_behind();
    }

  private:
    PacketPort(DeviceSpec spec, PacketDevice device)
        : InterfacePort(std::move(spec)), device_(std::move(device)) {}
    std::string open_sockets() override;
    void close_sockets() override;
    PortAccount count() const override;

    const PacketDevice device_;
    PacketReceiver::All queues_;
    std::unique_ptr<PacketSender> sender_;
};

}  // namespace sluice
