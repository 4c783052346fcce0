// A port under the real clock whose input is a capture, and whose sender obeys our PFC: a decorator of the
// driver's port.
//
// The sender has the file in one FIFO and sends it at the port's speed. A pause of one class stops all of it,
// MAC control too; unsent frames wait in the file, so nothing overflows, and a late worker is not behind. It
// hears a PFC frame of ours when the device has taken it: cable and reaction take no time. Pauses are those
// of IEEE 802.3 Annex 31D (lib/pfc/pfc_honor.hh). Frames are taken from the device in bursts and handed on
// when they have begun to arrive; the others are kept here.
#pragma once

#include <array>
#include <memory>

#include "dataplane/ports/port.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/threads/counters.hh"

namespace sluice {

class ObeyingPort final : public Port {
  public:
    ObeyingPort(std::unique_ptr<Port> inner, Rate speed) : inner_(std::move(inner)), speed_(speed) {}
    ~ObeyingPort() override { forget_frames(); }

    unsigned receive(std::span<Packet*> out, Time now) override;
    std::optional<bool> falls_behind(Time) const override { return false; }
    unsigned transmit(std::span<Packet* const> frames) override;
    PortAccount account() const override {
        PortAccount account = inner_->account();
        account.paused_time = {static_cast<std::int64_t>(paused_ps_.get())};
        return account;
    }
    std::string close() override;

    bool link_up() const override { return inner_->link_up(); }
    bool has_own_ring() const override { return inner_->has_own_ring(); }

  private:
    void forget_frames();

    std::unique_ptr<Port> inner_;
    Rate speed_;
    PfcHonor honor_;    // the sender's
    Time asked_{};      // when frames were asked for last
    Time wire_free_{};  // end of the frame before
    std::array<Packet*, burst_size> taken_;
    unsigned first_ = 0;  // of taken_, in [0, count_]
    unsigned count_ = 0;
    Counter paused_ps_;
};

}  // namespace sluice
