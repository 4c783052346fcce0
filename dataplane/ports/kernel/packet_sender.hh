// Sends frames at an interface by an AF_PACKET ring: one system call a burst, past the kernel's queues. A
// frame for which the interface has no room stays in the ring and is tried again; a full ring takes no more.
//
// The header before a frame says that all of it is headers: the kernel then makes one piece of it. Told
// nothing it would share the slot's pages, which a veth copies once more, page by page (measured: 0.73
// instead of 0.60 million frames of 60 bytes a second).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/kernel/packet_socket.hh"
#include "lib/threads/counters.hh"

namespace sluice {

class PacketSender {
  public:
    // Not into an interface's queue, unless `queue` says so.
    static tl::expected<std::unique_ptr<PacketSender>, std::string> open(int interface, unsigned slots,
                                                                         bool queue);

    // ---- For the port's owner.
    // Takes frames from the front, and frees them; returns how many.
    unsigned send(std::span<Packet* const> frames, std::uint32_t mtu);
    // To be called once a turn, in which it may send nothing: frames that wait are tried again.
    void try_again() {
        if (is_waiting_) [[unlikely]]
            kick();
    }

    // ---- For control.
    // Frames longer than the interface's MTU allows, which it would refuse.
    std::uint64_t beyond_mtu() const { return beyond_mtu_.get(); }
    // No worker has it any more: what waits is sent, or given up soon.
    void finish();

  private:
    explicit PacketSender(PacketSocket socket) : socket_(std::move(socket)) {}
    void kick();

    PacketSocket socket_;
    std::size_t next_ = 0;
    bool is_waiting_ = false;
    Counter beyond_mtu_;
};

}  // namespace sluice
