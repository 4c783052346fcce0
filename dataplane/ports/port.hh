// A port in three roles. A worker receives and transmits bursts and asks for the link's state; the virtual
// clock asks when frames arrive; control opens and closes the port and reads its figures. Behind it stands an
// device (DevicePort) or a simulated peer (dataplane/peers/). The port's owner calls receive and transmit,
// the worker that polls a further queue calls receive_from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/packet.hh"
#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

// The ports of a switch that the virtual clock must look at, and the list of switches that have such: a port
// puts itself in when its next arrival may have changed, control wakes the switch when it has published.
// Under the real clock nobody asks.
class AwakePorts {
  public:
    // From now on the switch puts `number` into `woken`, once until `forget`; null: no longer.
    void report_to(std::vector<std::uint32_t>* woken, std::uint32_t number) {
        woken_ = woken;
        number_ = number;
        listed_ = false;
    }

    void wake() {
        if (listed_ || woken_ == nullptr) return;
        listed_ = true;
        woken_->push_back(number_);
    }
    void wake(PortId port) {
        ports.add(port);
        wake();
    }
    // It is looked at until `forget`, and so need not be on the list.
    void attend() { listed_ = true; }
    // It is on the list no more.
    void forget() { listed_ = false; }

    PortMask ports;

  private:
    std::vector<std::uint32_t>* woken_ = nullptr;
    std::uint32_t number_ = 0;
    bool listed_ = false;
};

// Figures that only the port knows; those about a sender that we pause are a simulated peer's.
struct PortAccount {
    std::uint64_t missed = 0;         // frames lost before they could be received: ring overrun, no mbuf
    std::uint64_t rx_errors = 0;      // beside them, frames that the device received with errors, or lost so
    std::uint64_t uncut = 0;          // among `missed`, those that a host left for its card to cut (TSO, GSO)
    std::uint64_t beyond_mtu = 0;     // lost: longer than the interface of the kernel lets out, or
    std::uint64_t beyond_mtu_in = 0;  // among them, than the port lets in (never received, nor missed)
    std::uint64_t refused = 0;        // sent, but the interface of the kernel had no room: lost
    std::uint64_t moved = 0;          // frames whose timestamp lay before the end of the frame ahead of them
    std::uint64_t delayed = 0;        // frames that the sender has delayed because we paused it
    std::uint64_t waiting = 0;        // of those, frames that it has not sent yet
    Duration paused_time{};           // real clock: how long the sender has stood still because we paused it
    std::uint64_t overshot_bytes = 0;  // on the wire, that it has started after it should have stopped

    // Lost before they were classed.
    std::uint64_t all_missed() const { return missed + rx_errors + beyond_mtu_in; }
};

class Port {
  public:
    virtual ~Port() = default;

    // ---- For workers.

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

    // ---- For the virtual clock.

    // When the next frame arrives; null when none ever will by itself. Good until the next call. The runner
    // asks every port that is awake at every instant. So the port finds it once, and nobody copies a
    // std::optional: its flag is written alone and then loaded with the rest, which waits.
    const Time* next_arrival() const {
        if (!knows_arrival_) {
            const std::optional<Time> found = find_next_arrival();
            knows_arrival_ = true;
            arrives_ = found.has_value();
            if (found) next_arrival_ = *found;
        }
        return arrives_ ? &next_arrival_ : nullptr;
    }
    // The port wakes itself there whenever its next arrival may have changed, or its link.
    void wake_in(AwakePorts& awake, PortId self) {
        awake_ = &awake;
        self_ = self;
    }
    // A port that stands inside `outer`, which asks it for frames: whatever it must tell, it tells that one,
    // too.
    void stand_in(Port& outer) { outer_ = &outer; }
    // To the outer port, from the inner one: the cable is cut, or whole again. Frames of the cable that the
    // outer port keeps are lost.
    virtual void cable_cut(bool) {}
    // Packets come from a switch, with its meta.
    virtual bool comes_from_switch() const { return false; }

    // Frames will come even if nothing changes; those held by our pause do not count.
    virtual bool expects_frames() const { return false; }

    // Frames that arrive while the link is down are lost on the wire; returns how many were.
    virtual std::uint64_t lose_until(Time) { return 0; }

    // ---- For control.

    virtual PortAccount account() const { return {}; }

    // Whether transmit pushes back by itself, so that no link model is wanted.
    virtual bool has_own_ring() const { return false; }

    // A fault: wire bytes that a sender behind the port still starts in a class after it should have stopped.
    virtual void set_overshoot(std::uint64_t) {}

    // Writes out buffered bytes; an error's text, or empty.
    virtual std::string close() { return {}; }

  protected:
    virtual std::optional<Time> find_next_arrival() const { return std::nullopt; }
    // To be called when anything happens that the next arrival depends on, and when the link changes.
    void forget_arrival() {
        knows_arrival_ = false;
        if (awake_ != nullptr) awake_->wake(self_);
        if (outer_ != nullptr) outer_->forget_arrival();
    }
    Port* outer() const { return outer_; }

  private:
    mutable bool knows_arrival_ = false;
    mutable bool arrives_ = false;
    mutable Time next_arrival_{};
    AwakePorts* awake_ = nullptr;
    PortId self_ = 0;
    Port* outer_ = nullptr;
};

}  // namespace sluice
