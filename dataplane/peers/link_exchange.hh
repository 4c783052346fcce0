// Frames on their way between switches that several threads run, window by window of the virtual clock: no
// frame arrives in the window in which it is sent. Each pair of threads has an outbox, and each outbox two
// lists: one thread fills the one while the other empties the one of the window before. So there is no lock,
// and every cable's frames stay in order.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "dataplane/base/packet.hh"
#include "lib/values/units.hh"

namespace sluice {

class LinkPort;

class LinkExchange {
  public:
    struct Frame {
        LinkPort* to;
        Time at;  // when that end may have it
        Packet* packet;
        bool is_pause;
    };

    class Outbox {
      public:
        // On the sending thread.
        void send(const Frame& frame) {
            List& list = lists_[*filled_];
            if (list.frames.empty() || frame.at < list.earliest) list.earliest = frame.at;
            list.frames.push_back(frame);
        }

      private:
        friend LinkExchange;
        struct alignas(64) List {
            std::vector<Frame> frames;
            Time earliest{};
        };
        std::array<List, 2> lists_;
        const unsigned* filled_ = nullptr;  // the list that the window's frames go to
    };

    explicit LinkExchange(unsigned threads);
    ~LinkExchange();
    LinkExchange(const LinkExchange&) = delete;
    LinkExchange& operator=(const LinkExchange&) = delete;

    Outbox& outbox(unsigned from, unsigned to) { return outboxes_[to * threads_ + from]; }

    // Between windows: when the first of the frames that nobody has taken arrives.
    std::optional<Time> earliest() const;
    // Between windows: what was sent is there to be taken.
    void turn_over() { filled_ ^= 1U; }
    // In a window, on the thread `to`: its switches' ports get the frames of the window before.
    void deliver_to(unsigned to);
    // Between windows: all ports get all frames.
    void take_all();

  private:
    unsigned threads_;
    alignas(64) unsigned filled_ = 0;
    std::vector<Outbox> outboxes_;  // by receiver, then by sender
};

}  // namespace sluice
