// An AF_PACKET socket with a ring of slots that it shares with the kernel: TPACKET_V2 (the kernel's
// packet_mmap), chosen over TPACKET_V3 because each slot has its own status, so that a frame is seen at once,
// and not when its block is full or a timer ends. Before each frame lies a header, by which the kernel
// and we tell each other of checksums and segments still to be made.
#pragma once

#include <linux/if_packet.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/ports/kernel/mapping.hh"
#include "lib/values/ids.hh"

namespace sluice {

// The kernel's virtio_net_hdr, in its words: linux/virtio_net.h is no C++. Numbers are this machine's.
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

    // Of an interface. A socket that receives hears nothing before `listen`, one that sends never does.
    static tl::expected<PacketSocket, std::string> open(int interface, Direction direction, unsigned slots);

    int get() const { return socket_.get(); }
    // An error's text, or empty.
    std::string set(int option, std::uint32_t value, const char* what);
    std::string bind(int interface, std::uint16_t protocol);

    std::size_t slots() const { return slots_.size(); }
    tpacket2_hdr* slot(std::size_t number) const { return slots_[number]; }
    std::size_t after(std::size_t number) const { return number + 1 == slots_.size() ? 0 : number + 1; }

    // acquire, release: of the slot's frame, which the kernel has written or will read.
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

}  // namespace sluice
