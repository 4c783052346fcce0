// Receives the frames of an interface by an AF_PACKET ring: one queue of a port. A frame becomes a packet of
// the pool, in as many buffers as it needs, as it was on the wire: with the VLAN tag that the kernel took
// out, and with the checksum that a sender left to a card which is not there (veth). Where the pool is empty
// frames stay in the ring; what finds no slot there the kernel drops and counts.
//
// A frame that a host's kernel left for its card to cut into segments (TSO, GSO) never was on a wire: it is
// dropped, and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/kernel/packet_socket.hh"
#include "lib/threads/counters.hh"

namespace sluice {

class alignas(64) PacketReceiver {
  public:
    // So many, which hear every frame that comes in at the interface from when this returns, none that leaves
    // by it, and nothing of another interface. Several divide flows among them (PACKET_FANOUT_HASH; IPv4
    // fragments stay fragments, and go by their addresses).
    using All = std::vector<std::unique_ptr<PacketReceiver>>;
    static tl::expected<All, std::string> open(int interface, unsigned queues, unsigned slots);

    // ---- For the worker that polls it.
    unsigned receive(std::span<Packet*> out, rte_mempool* pool);
    // Its ring is half full, and the last burst was full.
    bool falls_behind() const;

    // ---- For control.
    // Frames that it had no room for. The kernel clears its count when it is read.
    std::uint64_t beyond_ring() const;
    std::uint64_t uncut() const { return uncut_.get(); }

  private:
    explicit PacketReceiver(PacketSocket socket) : socket_(std::move(socket)) {}
    std::string listen(int interface, std::uint16_t& group, bool several, bool first);

    PacketSocket socket_;
    std::size_t next_ = 0;  // from here to uncut_ the worker's
    bool last_burst_was_full_ = false;
    Counter uncut_;
    mutable std::uint64_t beyond_ring_ = 0;
};

}  // namespace sluice
