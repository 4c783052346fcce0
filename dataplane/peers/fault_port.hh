// A decorator of any port under the virtual clock, whose link and peer misbehave as `FaultSettings` say
// (lib/peer/faults.hh).
//
// Frames of the inner port are taken when they arrive and kept as bytes (described ones as such, unless a
// fault changes them), so that a delayed one takes no mbuf. They are handed on in order, with the PFC frames
// that a misbehaving peer adds, to which no other fault applies. Faults add to the link's load: a duplicate
// starts when its original ends, beside any later frame. A frame that is dropped or delayed on its way to us
// has not been received; one that is lost, late or changed on its way to the peer has been sent. Frames kept
// here are on the cable and lost with it. A storm ends by itself, so a run ends, too.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/base/described.hh"
#include "dataplane/ports/port.hh"
#include "lib/peer/faults.hh"
#include "lib/peer/slow_receiver.hh"
#include "lib/values/ids.hh"

namespace sluice {

struct FrameFaultCounters {
    std::uint64_t dropped = 0, bad_fcs = 0, corrupted = 0, duplicated = 0, delayed = 0;
    std::uint64_t cut = 0;  // kept here, and lost when the cable was cut
};

struct FaultCounters {
    FrameFaultCounters received, sent, pfc;  // of the ways in FaultSettings; PFC that is cut counts as sent
    std::uint64_t pfc_changed = 0;
    std::uint64_t storm_xoff = 0, stuck_xoff = 0, slow_xoff = 0, slow_xon = 0;  // that the peer added
    std::uint64_t lossless = 0;  // lost frames of a lossless class; unknown for a host's
};

class FaultPort final : public Port {
  public:
    struct Spec {
        std::uint64_t seed = 0;
        PortId id = 0;
        Rate speed = gigabits(100);
        Duration cable;  // one way
        rte_mempool* pool = nullptr;
    };
    FaultPort(std::unique_ptr<Port> inner, const Spec& spec) : inner_(std::move(inner)), spec_(spec) {
        inner_->stand_in(*this);
    }

    // Control, between turns. `lossless`: the priorities that a slow receiver pauses. Frames under way stay;
    // a new storm or stuck XOFF starts now.
    void configure(const FaultSettings& settings, std::uint8_t lossless, Time now);
    const FaultCounters& faults() const { return counters_; }
    // Frames kept for later, both ways; `leaving`: those to the peer.
    std::size_t under_way() const { return received_.kept.size() + added_.size() + leaving(); }
    std::size_t leaving() const { return pfc_.kept.size() + sent_.kept.size(); }

    unsigned receive(std::span<Packet*> out, Time now) override;
    unsigned transmit(std::span<Packet* const> frames) override;
    std::uint64_t lose_until(Time now) override;
    std::string close() override;
    void cable_cut(bool is_cut) override;
    bool comes_from_switch() const override { return inner_->comes_from_switch(); }

    std::optional<bool> falls_behind(Time now) const override { return inner_->falls_behind(now); }
    bool link_up() const override { return inner_->link_up(); }
    bool has_own_ring() const override { return inner_->has_own_ring(); }
    PortAccount account() const override {
        PortAccount account = inner_->account();
        account.missed += missed_;
        account.waiting += received_.kept.size();
        return account;
    }
    bool expects_frames() const override;
    void set_overshoot(std::uint64_t bytes) override { inner_->set_overshoot(bytes); }

  private:
    std::optional<Time> find_next_arrival() const override;

    // A frame as bytes.
    struct Kept {
        Time at{};                        // it is handed on
        std::vector<std::uint8_t> bytes;  // fewer than the frame's: it is described
        std::uint32_t frame_bytes = 0;
        roce::FrameTail tail{};
        bool truncated = false;
        bool lossless = false;
        Duration held_back{};  // it arrived so much earlier: a pause that the sender took time to obey
    };
    // Frames on one way of the link.
    struct Way {
        FrameFaultCounters& counters;
        std::vector<FaultRule> rules;
        std::uint64_t frames = 0;  // so far
        std::deque<Kept> kept;     // in order
        Time last{};               // of kept: order is kept when the delay gets shorter
    };
    // The fate of the way's next frame; nothing: it is lost, counted and freed.
    std::optional<FrameFate> next_fate(Way& way, Packet* packet, bool lossless);
    // Keeps it, and its duplicate, for `at` or behind those before it; frees the packet.
    void keep(Way& way, Packet* packet, Time at, const FrameFate& fate, bool lossless, Duration held_back);
    Packet* packet_of(const Kept& frame) const;  // null: there is no mbuf

    Time frame_end(Time start, std::uint32_t bytes) const {
        return start + spec_.speed.byte_time() * wire_bytes(bytes);
    }
    // Takes frames that have arrived at the inner port by `now`, with the faults of the receive path.
    void receive_inner(Time now);
    void disturb(Packet* packet, Time now);
    // The peer's own pauses up to `now`, in order of time.
    void misbehave(Time now);
    void peer_pause(Time at, std::uint8_t mask, std::uint16_t quanta);
    // Sends a frame of ours; PFC passes its own rules first. False: the inner port takes none now.
    bool send(Packet* packet);
    bool pass(Way& way, Packet* packet);
    bool go_on(Way& way, Packet* packet) {
        return &way == &pfc_ ? send(packet) : inner_->transmit({&packet, 1}) == 1;
    }
    // Hands late frames that leave by `now` to the inner port.
    void send_late(Time now);
    std::uint64_t forget_kept();

    std::unique_ptr<Port> inner_;
    Spec spec_;
    FaultSettings settings_;
    FaultCounters counters_;
    std::uint8_t lossless_ = 0;
    std::uint64_t missed_ = 0;
    Way received_{counters_.received, {}, 0, {}, {}};
    Way sent_{counters_.sent, {}, 0, {}, {}};
    Way pfc_{counters_.pfc, {}, 0, {}, {}};
    std::deque<Kept> added_;  // pauses that the peer added, in order
    bool cable_cut_ = false;
    Time storm_next_{};
    Time storm_end_{};  // storm_next_ not before it: no storm
    SlowReceiver slow_;
};

}  // namespace sluice
