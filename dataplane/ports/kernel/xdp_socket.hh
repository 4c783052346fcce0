// An AF_XDP socket at one queue of an interface, with its four rings and the memory (UMEM) for its frames,
// which both sides use in chunks of a page. The kernel fills chunks of the fill ring and reports them in the
// receive ring; it sends those of the transmit ring and gives them back in the completion ring (the kernel's
// networking/af_xdp). A frame longer than a chunk takes several descriptors, where the kernel has that (6.6).
#pragma once

#include <linux/if_xdp.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/base/memory.hh"

namespace sluice {

// A ring of the four, with a power of two of slots. Positions count up and wrap. We produce into two rings
// and consume from the others; our own position is kept here, and published.
template <class Slot>
class XdpRing {
  public:
    XdpRing() = default;
    XdpRing(Mapping memory, const xdp_ring_offset& offsets, std::uint32_t slots)
        : memory_(std::move(memory)),
          producer_(reinterpret_cast<std::uint32_t*>(memory_.at() + offsets.producer)),
          consumer_(reinterpret_cast<std::uint32_t*>(memory_.at() + offsets.consumer)),
          flags_(reinterpret_cast<std::uint32_t*>(memory_.at() + offsets.flags)),
          slots_(reinterpret_cast<Slot*>(memory_.at() + offsets.desc)),
          mask_(slots - 1) {}

    std::uint32_t size() const { return mask_ + 1; }
    Slot& slot(std::uint32_t ahead) { return slots_[(own_ + ahead) & mask_]; }

    // To consume: slots that are filled; so many have been read.
    std::uint32_t filled() const { return load(producer_, std::memory_order_acquire) - own_; }
    void consume(std::uint32_t count) { publish(consumer_, count); }
    // To produce: slots that are free; so many have been written.
    std::uint32_t room() const { return size() - in_use(); }
    std::uint32_t in_use() const { return own_ - load(consumer_, std::memory_order_acquire); }
    void produce(std::uint32_t count) { publish(producer_, count); }

    // The kernel waits for a system call.
    bool wants_wakeup() const {
        return (load(flags_, std::memory_order_relaxed) & XDP_RING_NEED_WAKEUP) != 0;
    }

  private:
    static std::uint32_t load(std::uint32_t* at, std::memory_order order) {
        return std::atomic_ref(*at).load(order);
    }
    // release: what was read from the slots, or written into them, comes before.
    void publish(std::uint32_t* at, std::uint32_t count) {
        own_ += count;
        std::atomic_ref(*at).store(own_, std::memory_order_release);
    }

    Mapping memory_;
    std::uint32_t* producer_ = nullptr;
    std::uint32_t* consumer_ = nullptr;
    std::uint32_t* flags_ = nullptr;
    Slot* slots_ = nullptr;
    std::uint32_t mask_ = 0;
    std::uint32_t own_ = 0;
};

class XdpSocket {
  public:
    static constexpr std::uint32_t chunk_bytes = 4096;
    // The kernel's own room in front of a received frame.
    static constexpr std::uint32_t kernel_headroom = 256;
    // Since Linux 6.6; the headers of Debian 12 are older.
    static constexpr std::uint32_t continues = 1;  // of a descriptor's options

    struct Wanted {
        int interface;
        std::uint32_t queue;
        std::uint32_t receive_slots;   // powers of two; a chunk each
        std::uint32_t transmit_slots;  // 0: it does not send
        bool long_frames;              // of several chunks
    };
    static tl::expected<XdpSocket, std::string> open(const Wanted& wanted);

    int get() const { return socket_.get(); }
    std::uint8_t* at(std::uint64_t address) {
        return reinterpret_cast<std::uint8_t*>(memory_.at()) + address;
    }
    bool is_zero_copy() const { return zero_copy_; }
    // Frames that it had no room for, in its rings or by their length.
    std::uint64_t missed() const;

    XdpRing<std::uint64_t> to_fill, sent;
    XdpRing<xdp_desc> received, to_send;

  private:
    std::string make_rings(const Wanted& wanted);
    std::string bind(const Wanted& wanted);

    FileDescriptor socket_;
    LargePages memory_{0};  // the chunks
    bool zero_copy_ = false;
};

}  // namespace sluice
