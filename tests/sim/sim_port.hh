// A port under the virtual clock whose peer is a program: a PeerPort (dataplane/peers/) with flows of frames
// in and a record of departures out, whose link may be cut. One SimPort is one end of one link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/peers/peer_port.hh"
#include "tests/sim/departure_record.hh"
#include "tests/sim/flow_source.hh"

namespace sluice::sim {

class SimPort final : public DepartureRecord, public PeerPort<FlowSource> {
  public:
    struct Spec {
        PortId id = 0;
        Rate speed = gigabits(100);
        MacAddress switch_mac;
        rte_mempool* pool = nullptr;
        std::optional<PeerDelay> obeys;  // nothing: ignores PFC
        unsigned ring_frames = 4096;
    };
    explicit SimPort(const Spec& spec)
        : PeerPort({spec.speed, spec.obeys, spec.ring_frames}, spec.id, spec.switch_mac, spec.pool,
                   static_cast<DepartureRecord&>(*this)),
          obeys_(hears_) {}

    std::uint8_t add(const Flow& flow);  // starts now or later; see SimSwitch::add
    void stop_flows();
    void send_pause(Time at, const PauseMap& map);  // in order of time
    void send_pause(Time at, ClassId priority, std::uint16_t quanta);
    void cut(bool down);
    void deliver_at_end(bool on) { source_.deliver_at_end(on); }
    void burst_limit(unsigned frames) { burst_limit_ = frames; }
    // Frames that all arrive at `at`, independent of the wire: bytes of each.
    void inject(Time at, const Flow& flow, const std::vector<std::uint32_t>& sizes);

    std::uint64_t started(std::uint8_t flow) const { return source_.started(flow); }
    std::uint64_t started() const { return source_.started(); }
    bool is_idle() const { return !source_.next_start(wire_) && !source_.next_under_way(); }
    const PauseSender& sender() const { return wire_; }

    // ---- Port
    unsigned receive(std::span<Packet*> out, Time now) override {
        return PeerPort::receive(out.first(std::min<std::size_t>(out.size(), burst_limit_)), now);
    }
    bool link_up() const override { return !cut_; }

  private:
    // A peer without a frame hears a pause at its time, too: tests ask `sender` for it.
    std::optional<Time> find_next_arrival() const override {
        std::optional<Time> best = PeerPort::find_next_arrival();
        take_earlier(best, wire_.next_change());
        return best;
    }

    bool obeys_;
    bool cut_ = false;
    unsigned burst_limit_ = burst_size;
};

}  // namespace sluice::sim
