// A port on an interface of the kernel by AF_XDP: "xdp:eth1". The steering program at the interface decides
// which frames are the port's; the kernel has the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/kernel/interface_port.hh"
#include "dataplane/ports/kernel/xdp_socket.hh"
#include "lib/threads/counters.hh"

namespace sluice {

// A queue of an XDP port: frames are copied between the socket's chunks and packets of the pool. So the
// kernel owns no packet of the pool, none is lost with an interface that goes, and a packet buffer may have
// any size.
class alignas(64) XdpQueue {
  public:
    static tl::expected<std::unique_ptr<XdpQueue>, std::string> open(const XdpSocket::Wanted& wanted);

    // ---- For the worker that polls it.
    unsigned receive(std::span<Packet*> out, rte_mempool* pool);
    // Its receive ring is half full, and the last burst was full.
    bool falls_behind() const {
        return last_burst_was_full_ && socket_.received.filled() >= socket_.received.size() / 2;
    }

    // ---- For the port's owner, of a queue that sends. Takes frames from the front; returns how many.
    unsigned send(std::span<Packet* const> frames, std::uint32_t mtu);
    // Once a turn: tries waiting frames again.
    void try_again() {
        if (is_waiting_) [[unlikely]]
            kick();
    }

    // ---- For control.
    const XdpSocket& socket() const { return socket_; }
    std::uint64_t beyond_mtu() const { return beyond_mtu_.get(); }
    // Frames that the interface took and dropped: the kernel does not give them back.
    std::uint64_t refused() const { return refused_.get(); }

  private:
    XdpQueue(XdpSocket socket, const XdpSocket::Wanted& wanted);
    std::uint32_t frames_there(unsigned most);
    bool take_frame(Packet* packet, std::uint32_t& descriptors);
    std::uint32_t put(const Packet* packet);
    void reclaim();
    void kick();

    XdpSocket socket_;
    bool long_frames_;
    bool last_burst_was_full_ = false;  // the poller's
    bool is_waiting_ = false;           // from here on the owner's
    std::vector<std::uint64_t> free_;   // chunks to send from
    Counter beyond_mtu_;
    Counter refused_;
};

class XdpPort final : public InterfacePort {
  public:
    static tl::expected<std::unique_ptr<DevicePort>, std::string> start(DeviceSpec spec);
    ~XdpPort() override { close(); }

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned receive_from(std::uint16_t queue, std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override {
        return queues_.front()->send(frames, interface_mtu());
    }
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
