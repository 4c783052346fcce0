// Bounded queue from one thread to one other: packets between workers, events from a worker to control.
// Over boost::lockfree::spsc_queue (5 cycles an entry in batches of 32). `post` takes all or as many as fit;
// a mailbox for packets is sized so that every packet of the switch fits, so nothing admitted is ever
// refused.
#pragma once

#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <span>

#include "lib/values/invariant.hh"

namespace sluice {

// The fields of the writer and those of the reader lie in different cache lines, which no other object
// shares.
template <class Message>
class alignas(64) Mailbox {
  public:
    explicit Mailbox(std::size_t capacity) : queue_(capacity) {}

    // Writer: how many were taken, from the front.
    std::size_t post(std::span<const Message> messages) {
        const std::size_t taken = queue_.push(messages.data(), messages.size());
        SLUICE_INVARIANT(taken <= messages.size());
        return taken;
    }

    // Writer: as many are sure to fit.
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

}  // namespace sluice
