// A port: a device (DevicePort) or a simulated peer (dataplane/peers/). Workers receive and transmit bursts
// and read the link's state; the virtual clock asks when frames arrive; control opens and closes the port and
// reads its figures. The port's owner calls receive and transmit, the worker that polls a further queue calls
// receive_from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/packet.hh"
#include "lib/values/port_set.hh"
#include "lib/values/units.hh"

namespace sluice {

// The ports of a switch that the virtual clock must visit, and the list of switches that have such: a port
// wakes itself when its next arrival may have changed, control wakes the switch when it has published. Unused
// under the real clock.
class AwakePorts {
  public:
    // The switch appends `number` to `woken`, once until `forget`; null: no longer.
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
    // It is visited until `forget`, and need not be on the list.
    void attend() { listed_ = true; }
    // It is no longer on the list.
    void forget() { listed_ = false; }

    PortSet ports;

  private:
    std::vector<std::uint32_t>* woken_ = nullptr;
    std::uint32_t number_ = 0;
    bool listed_ = false;
};

// Figures that only the port has; those about a sender that we pause are a simulated peer's.
struct PortAccount {
    std::uint64_t missed = 0;         // frames lost before they could be received: ring overrun, no mbuf
    std::uint64_t rx_errors = 0;      // beside them, frames that the device received with errors
    std::uint64_t uncut = 0;          // among `missed`, those that a host left for its card to cut (TSO, GSO)
    std::uint64_t beyond_mtu = 0;     // lost: longer than the kernel's interface sends, or
    std::uint64_t beyond_mtu_in = 0;  // among them, than the port receives (not in `missed`)
    std::uint64_t refused = 0;        // sent, but lost at the kernel's interface
    std::uint64_t moved = 0;          // frames whose timestamp lay before the end of the frame ahead of them
    std::uint64_t delayed = 0;        // frames that the sender has delayed because we paused it
    std::uint64_t waiting = 0;        // of those, frames that it has not sent yet
    Duration paused_time{};           // real clock: how long our pauses have stopped the sender
    std::uint64_t overshot_bytes = 0;  // wire bytes that it started after it should have stopped

    // Lost before they were classified.
    std::uint64_t all_missed() const { return missed + rx_errors + beyond_mtu_in; }
};

class Port {
  public:
    virtual ~Port() = default;

    // ---- For workers.

    // Frames that have arrived by `now`, at most out.size(); the caller owns them. Sets meta().arrival.
    virtual unsigned receive(std::span<Packet*> out, Time now) = 0;

    // The same for a queue beyond the first, numbered from 1: called by the worker that polls it.
    virtual unsigned receive_from(std::uint16_t, std::span<Packet*>, Time) { return 0; }
    virtual std::optional<bool> queue_falls_behind(std::uint16_t) const { return std::nullopt; }

    // True when the receive ring is so full that the peer must be paused; nothing: the device does not tell.
    virtual std::optional<bool> falls_behind(Time) const { return std::nullopt; }

    // Takes frames from the front and returns how many; meta().departure says when each starts. Those taken
    // belong to the port.
    virtual unsigned transmit(std::span<Packet* const> frames) = 0;

    // The cable's and the device's state; an operator's `port down` comes on top.
    virtual bool link_up() const { return true; }

    // ---- For the virtual clock.

    // When the next frame arrives; null: none will by itself. Valid until the next call. The runner asks
    // every awake port at every instant, so the port finds it once; a pointer, as copies of a std::optional
    // wait for its stores.
    const Time* next_arrival() const {
        if (!knows_arrival_) {
            const std::optional<Time> found = find_next_arrival();
            knows_arrival_ = true;
            arrives_ = found.has_value();
            if (found) next_arrival_ = *found;
        }
        return arrives_ ? &next_arrival_ : nullptr;
    }
    // The port wakes itself there when its next arrival, or its link, may have changed.
    void wake_in(AwakePorts& awake, PortId self) {
        awake_ = &awake;
        self_ = self;
    }
    // `outer` wraps this port, and hears of its changes, too.
    void stand_in(Port& outer) { outer_ = &outer; }
    // From the inner port to the outer one: the cable is cut, or whole again. Frames that the outer port
    // keeps are lost.
    virtual void cable_cut(bool) {}
    // Packets come from a switch, with its meta.
    virtual bool comes_from_switch() const { return false; }

    // Frames will come even if nothing changes; frames that our pause holds do not count.
    virtual bool expects_frames() const { return false; }

    // Frames that arrive while the link is down are lost on the wire; returns how many were.
    virtual std::uint64_t lose_until(Time) { return 0; }

    // ---- For control.

    virtual PortAccount account() const { return {}; }

    // True when transmit pushes back by itself, so that no link model is needed.
    virtual bool has_own_ring() const { return false; }

    // A fault: wire bytes of a class that the peer starts after it should have stopped.
    virtual void set_overshoot(std::uint64_t) {}

    // Writes out buffered bytes; an error's text, or empty.
    virtual std::string close() { return {}; }

  protected:
    virtual std::optional<Time> find_next_arrival() const { return std::nullopt; }
    // Called when the next arrival or the link may have changed.
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
