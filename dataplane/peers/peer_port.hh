// A port under the virtual clock with a simulated peer at the other end of its cable.
//
// The peer puts one frame after the other on the wire at the port's speed. It obeys our PFC after cable and
// reaction (lib/peer/pause_sender.hh) or ignores it: the frame under way finishes, frames of a paused class
// wait, others go past them. Between turns frames wait in a bounded receive ring; those that do not fit are
// missed. The source (peer_source.hh) decides what to send and takes the frames that the switch delivers. It
// is a template parameter, so that a frame costs only the port's virtual call. Steps that come while the wire
// is busy are invisible to the switch, so the clock does not stop for them: they are taken, each at its own
// time, before the next frame. A caller that reads or changes the source in between calls `catch_up` first.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "dataplane/base/packet.hh"
#include "dataplane/peers/peer_source.hh"
#include "dataplane/peers/receive_ring.hh"
#include "dataplane/ports/port.hh"
#include "lib/peer/pause_sender.hh"
#include "lib/pfc/pfc_frame.hh"

namespace sluice {

struct PeerSpec {
    Rate speed = gigabits(100);
    std::optional<PeerDelay> obeys;  // nothing: the peer ignores PFC
    unsigned ring_frames = 4096;     // of the receive ring
};

template <PeerSource Source>
class PeerPort : public Port {
  public:
    template <class... Arguments>
    explicit PeerPort(const PeerSpec& spec, Arguments&&... source)
        : source_(std::forward<Arguments>(source)...),
          wire_(spec.obeys.value_or(PeerDelay{}), spec.speed),
          hears_(spec.obeys.has_value()),
          ring_(spec.ring_frames),
          byte_time_(spec.speed.byte_time()) {}

    unsigned receive(std::span<Packet*> out, Time now) override {
        unsigned count = 0;
        ring_.begin(now);
        while (count < out.size()) {
            Packet* packet = source_.arrived(now);
            if (packet != nullptr) {
                forget_arrival();
            } else {
                Started started;
                if (!step(now, started)) break;
                unmade_ += started.lost ? 1 : 0;
                packet = started.packet;
                if (packet == nullptr) continue;
            }
            ring_.hand_out(packet, out, count);
        }
        return count;
    }

    std::optional<bool> falls_behind(Time now) const override { return ring_.falls_behind(now); }

    unsigned transmit(std::span<Packet* const> frames) override {
        for (Packet* packet : frames) {
            const Time departure = meta(packet).departure;
            if (hears_ && is_mac_control(packet)) hear(packet, departure);
            if (source_.deliver(packet, departure)) forget_arrival();
            if (packet == nullptr) continue;
            if (packet->nb_segs == 1) [[likely]]
                rte_pktmbuf_free_seg(packet);
            else
                rte_pktmbuf_free(packet);
        }
        return static_cast<unsigned>(frames.size());
    }

    bool expects_frames() const override { return source_.expects_frames(wire_); }

    // Takes the steps until `now` while the wire is busy. Control acts before the steps of its instant.
    void catch_up(Time now) {
        Started started;
        while (wire_.free_at() > now && step(now, started)) {
        }
    }
    void catch_up_before(Time now) { catch_up(now - picoseconds(1)); }

    // The peer forgets our pauses, and goes on sending.
    std::uint64_t lose_until(Time now) override {
        catch_up_before(now);
        source_.link_lost(now);
        wire_.forget();
        forget_arrival();
        std::uint64_t frames = 0;
        Started started;
        while (step(now, started)) {
            if (started.packet != nullptr || started.lost) ++frames;
            rte_pktmbuf_free(started.packet);
        }
        return frames + source_.lose_under_way(now);
    }

    PortAccount account() const override {
        PortAccount account;
        account.missed = ring_.missed() + unmade_;
        account.overshot_bytes = wire_.overshot_bytes();
        source_.add_to(account);
        return account;
    }

    void set_overshoot(std::uint64_t bytes) override {
        wire_.set_overshoot(bytes);
        forget_arrival();
    }

    std::string close() override { return source_.close(); }

  protected:
    std::optional<Time> find_next_arrival() const override {
        std::optional<Time> best = source_.next_under_way();
        if (const auto next = source_.next_start(wire_))
            take_earlier(best, wire_.next_step(max(next->at, wire_.free_at())));
        return best;
    }

    Source source_;
    PauseSender wire_;
    bool hears_;  // our PFC

  private:
    // Carries out one step at or before `now`: the peer hears a pause, or the source acts. False when there
    // is none.
    bool step(Time now, Started& started) {
        started = {};
        const auto next = source_.next_start(wire_);
        const auto step = wire_.step(now, next ? std::optional(next->at) : std::nullopt);
        if (step == PauseSender::Step::none) return false;
        forget_arrival();
        if (step == PauseSender::Step::frame) [[likely]]
            started = source_.start(*next, wire_);
        return true;
    }

    void hear(Packet* packet, Time departure) {
        const MacControl control = decode_mac_control({frame_bytes(packet), packet->pkt_len}, {});
        if (control.kind != MacControl::Kind::pfc) return;
        wire_.receive(control.map, departure + byte_time_ * wire_bytes(pfc_frame_bytes));
        forget_arrival();
    }

    ReceiveRing ring_;
    Duration byte_time_;
    std::uint64_t unmade_ = 0;  // frames for which there was no memory
};

}  // namespace sluice
