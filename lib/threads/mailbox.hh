// Bounded queue from one thread to another: packets between workers, events from a worker to control. Over
// boost::lockfree::spsc_queue (5 cycles an entry in batches of 32). A mailbox for packets is sized for every
// packet of the switch, so none is ever refused.
#pragma once

#include <array>
#include <boost/lockfree/spsc_queue.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"

namespace sluice {

// Writer's and reader's fields have cache lines of their own.
template <class Message>
class alignas(64) Mailbox {
  public:
    explicit Mailbox(std::size_t capacity) : queue_(capacity) {}

    // Writer: posts as many as fit; returns how many.
    std::size_t post(std::span<const Message> messages) {
        const std::size_t taken = queue_.push(messages.data(), messages.size());
        SLUICE_INVARIANT(taken <= messages.size());
        return taken;
    }

    // Writer.
    std::size_t room() const { return queue_.write_available(); }

    // Reader: fills from the front of `out`, returns how many.
    std::size_t collect(std::span<Message> out) {
        const std::size_t given = queue_.pop(out.data(), out.size());
        SLUICE_INVARIANT(given <= out.size());
        return given;
    }
    bool empty() const { return queue_.read_available() == 0; }
    std::size_t size() const { return queue_.read_available(); }
    // Reader; only when not empty.
    Message& front() {
        SLUICE_INVARIANT(!empty());
        return queue_.front();
    }
    void pop() {
        SLUICE_INVARIANT(!empty());
        queue_.pop();
    }

  private:
    boost::lockfree::spsc_queue<Message> queue_;
    static_assert(BOOST_LOCKFREE_CACHELINE_BYTES == 64 && sizeof queue_ > 64);
};

// Bounded queue of whole frames from one thread to another: copied into slots, whose numbers two mailboxes
// pass to and fro, so that a slot always has one owner. `Head`: facts about a frame beside its bytes, of
// which a slot holds `max_bytes`.
template <class Head, std::size_t max_bytes = max_frame_bytes>
class FrameMailbox {
  public:
    struct Slot {
        Head head;
        std::uint32_t bytes;  // in use, of `data`
        std::array<std::uint8_t, max_bytes> data;
        std::span<const std::uint8_t> frame() const { return {data.data(), bytes}; }
    };

    // `slots` in [1, 65535]. Their memory is touched when a frame needs it.
    explicit FrameMailbox(std::uint16_t slots) : slots_(new Slot[slots]), free_(slots), full_(slots) {
        for (std::uint16_t n = 0; n < slots; ++n) free_.post({&n, 1});
    }

    // Writer: a slot to fill in, which is then posted; null while all are on their way.
    Slot* claim() { return free_.empty() ? nullptr : &slots_[free_.front()]; }
    // Writer: the slot that was claimed last goes to the reader.
    void post() {
        const std::uint16_t n = free_.front();
        assert(slots_[n].bytes <= max_bytes);
        free_.pop();
        full_.post({&n, 1});
    }

    // Reader: the oldest frame; null when there is none.
    const Slot* front() { return full_.empty() ? nullptr : &slots_[full_.front()]; }
    // Reader: the oldest frame's slot goes back.
    void pop() {
        const std::uint16_t n = full_.front();
        full_.pop();
        free_.post({&n, 1});
    }
    bool empty() const { return full_.empty(); }

  private:
    std::unique_ptr<Slot[]> slots_;  // left uninitialized  NOLINT(modernize-avoid-c-arrays)
    Mailbox<std::uint16_t> free_;    // from reader to writer
    Mailbox<std::uint16_t> full_;    // from writer to reader
};

}  // namespace sluice
