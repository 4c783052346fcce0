// What a worker sees of a port: receive a burst, send a burst, link state. Behind it stands an ethdev
// (EthdevPort), a capture file (CapturePort) or another switch (LinkPort). receive and transmit are called by
// the port's owner only, receive_from by whoever polls that queue; the rest by control.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "dataplane/packet.hh"
#include "lib/port_mask.hh"
#include "lib/units.hh"

namespace sluice {

class Port {
  public:
    virtual ~Port() = default;

    // Frames that have arrived by `now`, at most out.size(); the caller owns them. Sets meta().arrival.
    virtual unsigned receive(std::span<Packet*> out, Time now) = 0;

    // The same of a queue beyond the first, numbered from 1: called by the worker that polls it, while others
    // poll others.
    virtual unsigned receive_from(std::uint16_t, std::span<Packet*>, Time) { return 0; }
    virtual std::optional<bool> queue_falls_behind(std::uint16_t) const { return std::nullopt; }

    // Whether the receive ring is so full that the peer must be paused; nothing where the device does not
    // tell.
    virtual std::optional<bool> falls_behind(Time) const { return std::nullopt; }

    // Takes frames from the front and returns how many; meta().departure says when each starts. Those taken
    // belong to the port.
    virtual unsigned transmit(std::span<Packet* const> frames) = 0;

    // The cable's and the device's state; an operator's `port down` comes on top.
    virtual bool link_up() const { return true; }

    // Whether transmit pushes back by itself, so that no link model is wanted.
    virtual bool has_own_ring() const { return false; }

    // Virtual clock: when the next frame arrives; null when none ever will by itself. Good until the next
    // call. Asked for every port that is awake at every instant, so it is found once, and no
    // std::optional is copied: its flag is written alone and then loaded with the rest, which waits.
    const Time* next_arrival() const {
        if (!knows_arrival_) {
            const std::optional<Time> found = find_next_arrival();
            knows_arrival_ = true;
            arrives_ = found.has_value();
            if (found) next_arrival_ = *found;
        }
        return arrives_ ? &next_arrival_ : nullptr;
    }
    // Virtual clock: the port puts its number into this set whenever that may have changed, or its link.
    // null: no longer.
    void wake_in(PortMask* awake, PortId self) {
        awake_ = awake;
        self_ = self;
    }

    // Virtual clock: frames will come even if nothing changes; those held by our pause do not count.
    virtual bool expects_frames() const { return false; }

    // Frames lost before they could be received: ring overrun, no mbuf.
    virtual std::uint64_t missed() const { return 0; }

    // Virtual clock: frames that arrive while the link is down are lost on the wire; returns how many were.
    virtual std::uint64_t lose_until(Time) { return 0; }

    // Virtual clock: frames whose timestamp lay before the end of the frame ahead of them.
    virtual std::uint64_t moved() const { return 0; }

    // Frames that a sender behind the port has held back because we paused it, and those it still holds.
    virtual std::uint64_t held() const { return 0; }
    virtual std::uint64_t waiting() const { return 0; }

    // Real clock: how long a sender behind the port has stood still because we paused it.
    virtual Duration held_time() const { return {}; }

    // A fault: wire bytes that a sender behind the port still starts in a class after it should have stopped,
    // and those that it has.
    virtual void set_overshoot(std::uint64_t) {}
    virtual std::uint64_t overshot_bytes() const { return 0; }

    // Packet buffers, at most, that a driver does not give back when it is closed.
    virtual std::uint32_t kept_at_close() const { return 0; }

    // Writes out what is buffered; an error's text, or empty.
    virtual std::string close() { return {}; }

  protected:
    virtual std::optional<Time> find_next_arrival() const { return std::nullopt; }
    // To be called when anything happens that the next arrival depends on, and when the link changes.
    void forget_arrival() {
        knows_arrival_ = false;
        if (awake_ != nullptr) awake_->add(self_);
    }

  private:
    mutable bool knows_arrival_ = false;
    mutable bool arrives_ = false;
    mutable Time next_arrival_{};
    PortMask* awake_ = nullptr;
    PortId self_ = 0;
};

}  // namespace sluice
