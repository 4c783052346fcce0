// A port on any interface of the kernel by AF_PACKET, with packet buffers of any size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "dataplane/ports/kernel/interface_port.hh"
#include "dataplane/ports/kernel/packet_socket.hh"
#include "dataplane/ports/ring_size.hh"

namespace sluice {

// The device string of an AF_PACKET port taken apart: "net_af_packet0,iface=eth1,qpairs=2", in the words of
// DPDK's driver of that name, which this port replaces.
struct PacketDevice {
    static constexpr unsigned max_slots = 32768;

    std::string interface;
    unsigned queues = 1;                // qpairs
    unsigned slots = ring_descriptors;  // framecnt: of each ring
    bool qdisc_bypass = true;           // frames go to the interface's driver, past the kernel's queues
};

// `blocksz` and `framesz` are taken and change nothing: a slot holds the largest frame of the switch.
tl::expected<PacketDevice, std::string> parse_packet_device(std::string_view text);

class PacketPort final : public InterfacePort {
  public:
    static tl::expected<std::unique_ptr<DevicePort>, std::string> start(DeviceSpec spec);
    ~PacketPort() override { close(); }

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
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
