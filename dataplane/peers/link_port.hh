// A cable between ports of two switches of one virtual clock: one end receives the other's frames after the
// propagation delay.
//
// The sender's transmitter paces the wire, so a frame begins to arrive `cable` after its first bit has left;
// it is handed over then, or at its end (`at_end`), as by a store-and-forward switch. A PFC frame takes
// effect when all of it has arrived and the peer's reaction time has passed, as headroom models it
// (lib/pfc/headroom.hh); its quanta count from its arrival. Packets are handed over as they are, as both
// switches have one pool; switches that run at once in the clock's windows use an exchange. A frame under way
// when the cable is cut is lost; so is one that an end transmits before it detects the cut. The owner of the
// cable says when an end's switch detects a change.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/base/packet.hh"
#include "dataplane/peers/receive_ring.hh"
#include "dataplane/ports/port.hh"
#include "lib/values/units.hh"

namespace sluice {

class LinkPort;

// Frames between switches on several threads, window by window of the virtual clock: no frame arrives in the
// window in which it is sent. Each pair of threads has an outbox with two lists: one thread fills one while
// the other empties that of the window before. So there is no lock, and every cable's frames stay in order.
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

    // Between windows: when the first of the waiting frames arrives.
    std::optional<Time> earliest() const;
    // Between windows: frames that were sent can be taken.
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

struct LinkSpec {
    Duration cable;              // one way, > 0
    Duration peer_reaction;      // to a PFC frame that this end sends
    Rate speed = gigabits(100);  // of a frame on the wire
    unsigned ring_frames = 4096;
    bool at_end = false;  // frames are handed over when their last bit has arrived
};

// Frames of one direction that were lost on the cable.
struct WireLosses {
    std::uint64_t on_wire = 0;   // under way when it was cut
    std::uint64_t into_cut = 0;  // sent before the end detected the cut
    std::uint64_t lossless = 0;  // those of a lossless class among them
};

class LinkPort final : public Port {
  public:
    explicit LinkPort(const LinkSpec& spec);
    ~LinkPort() override;
    // Once, before the first frame.
    static void join(LinkPort& one, LinkPort& other) { one.other_ = &other, other.other_ = &one; }
    // Frames that this end transmits from now on go through there; null: to the other end at once. Control,
    // while the exchange holds none of the cable.
    void send_through(LinkExchange::Outbox* outbox) { outbox_ = outbox; }

    // Control, between windows: the cable is cut, or whole again. Frames under way to this end are lost; the
    // exchange holds none.
    void cut(bool is_cut);
    // This end's switch has detected its state.
    void detect(bool up) {
        up_ = up;
        forget_arrival();
    }

    // Frames on their way to this end. Between windows.
    WireLosses losses() const;
    std::size_t under_way() const {
        return data_.size() + pauses_.size() + static_cast<std::size_t>(other_->sent_ - taken_);
    }
    // The exchange: the frame is this end's from `at` on.
    void arrive(Time at, Packet* packet, bool is_pause);

    // ---- Port
    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
    std::optional<bool> falls_behind(Time now) const override { return ring_.falls_behind(now); }
    bool link_up() const override { return up_; }
    bool expects_frames() const override { return !data_.empty(); }
    bool comes_from_switch() const override { return true; }
    std::uint64_t lose_until(Time now) override;
    PortAccount account() const override { return {.missed = ring_.missed()}; }
    std::string close() override;

  private:
    struct UnderWay {
        Time at;  // when this end may have it
        Packet* packet;
    };
    using Line = boost::circular_buffer<UnderWay>;

    std::optional<Time> find_next_arrival() const override;
    void lose_into_cut(Packet* packet, bool is_pause);
    std::uint64_t lose(Line& line, std::optional<Time> until);

    LinkSpec spec_;
    Duration pfc_delay_;  // from a PFC frame's first bit until the peer obeys it
    Duration byte_time_;  // 0: frames are handed over at their first bit
    LinkPort* other_ = nullptr;
    ReceiveRing ring_;
    Line data_, pauses_;          // on their way to this end, in order
    std::uint64_t taken_ = 0;     // of those that the other end has sent
    std::uint64_t lost_ = 0;      // under way, when the cable was cut
    std::uint64_t lossless_ = 0;  // lost ones among those in `data_`
    bool up_ = true;
    // For frames that this end sends.
    LinkExchange::Outbox* outbox_ = nullptr;
    std::uint64_t sent_ = 0;
    bool into_cut_ = false;
    WireLosses losses_into_cut_;
};

}  // namespace sluice
