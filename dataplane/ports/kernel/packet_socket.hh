// An AF_PACKET socket with a ring of slots that it shares with the kernel: TPACKET_V2 (packet_mmap), because
// a frame is seen at once, not when its block is full or a timer ends (TPACKET_V3). The header before each
// frame describes offloaded checksums and segments.
#pragma once

#include <linux/if_packet.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/base/memory.hh"
#include "dataplane/base/packet.hh"
#include "lib/threads/counters.hh"
#include "lib/values/ids.hh"

namespace sluice {

// The kernel's virtio_net_hdr (linux/virtio_net.h is not C++), in this machine's byte order.
struct SegmentHeader {
    static constexpr std::uint8_t needs_checksum = 1;  // of `flags`
    static constexpr std::uint8_t one_segment = 0;     // of `gso_type`

    std::uint8_t flags;
    std::uint8_t gso_type;
    std::uint16_t hdr_len;
    std::uint16_t gso_size;
    std::uint16_t csum_start;
    std::uint16_t csum_offset;
};
static_assert(sizeof(SegmentHeader) == 10);

class PacketSocket {
  public:
    enum class Direction : std::uint8_t { receive, transmit };

    // `interface`: its index. A receiving socket gets no frame before `listen`.
    static tl::expected<PacketSocket, std::string> open(int interface, Direction direction, unsigned slots);

    int get() const { return socket_.get(); }
    // An error's text, or empty.
    std::string set(int option, std::uint32_t value, const char* what);
    std::string bind(int interface, std::uint16_t protocol);

    std::size_t slots() const { return slots_.size(); }
    tpacket2_hdr* slot(std::size_t number) const { return slots_[number]; }
    std::size_t after(std::size_t number) const { return number + 1 == slots_.size() ? 0 : number + 1; }

    // acquire, release: the kernel has written the slot's frame, or will read it.
    static std::uint32_t status(tpacket2_hdr* slot) {
        return std::atomic_ref(slot->tp_status).load(std::memory_order_acquire);
    }
    static void set_status(tpacket2_hdr* slot, std::uint32_t status) {
        std::atomic_ref(slot->tp_status).store(status, std::memory_order_release);
    }

  private:
    std::string make_ring(Direction direction, unsigned slots);

    FileDescriptor socket_;
    Mapping memory_;
    std::vector<tpacket2_hdr*> slots_;
};

// Receives the frames of an interface by an AF_PACKET ring: a queue of a port. A frame becomes a packet of
// the pool, in as many buffers as it needs, as it was on the wire: with the VLAN tag that the kernel took
// out, and with an offloaded checksum (veth). Where the pool is empty frames stay in the ring; the kernel
// drops and counts those that find no slot.
//
// A frame that a host left for its card to cut (TSO, GSO) never was on a wire: it is dropped and counted.
class alignas(64) PacketReceiver {
  public:
    // Opens so many. They receive every frame that comes in at the interface from when this returns, and none
    // that leaves. Several divide flows among them (PACKET_FANOUT_HASH; IPv4 fragments stay fragments, and go
    // by their addresses).
    using All = std::vector<std::unique_ptr<PacketReceiver>>;
    static tl::expected<All, std::string> open(int interface, unsigned queues, unsigned slots);

    // ---- For the worker that polls it.
    unsigned receive(std::span<Packet*> out, rte_mempool* pool);
    // Its ring is half full, and the last burst was full.
    bool falls_behind() const;

    // ---- For control. Frames lost for want of a slot. The kernel clears its count at a read.
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

// Sends frames at an interface by an AF_PACKET ring: one system call a burst, past the kernel's queues. A
// frame that the interface cannot take stays in the ring and is tried again; a full ring takes no more.
//
// The header before a frame declares all of it headers, so that the kernel copies it in one piece. Else it
// would share the slot's pages, which a veth copies once more (measured: 0.73 instead of 0.60 million frames
// of 60 bytes a second).
class PacketSender {
  public:
    // `queue`: through the interface's queue.
    static tl::expected<std::unique_ptr<PacketSender>, std::string> open(int interface, unsigned slots,
                                                                         bool queue);

    // ---- For the port's owner.
    // Takes frames from the front, and frees them; returns how many.
    unsigned send(std::span<Packet* const> frames, std::uint32_t mtu);
    // Once a turn: tries waiting frames again.
    void try_again() {
        if (is_waiting_) [[unlikely]]
            kick();
    }

    // ---- For control.
    // Frames longer than the interface's MTU allows, which it would refuse.
    std::uint64_t beyond_mtu() const { return beyond_mtu_.get(); }
    // Once no worker uses it: sends waiting frames, or gives up soon.
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
