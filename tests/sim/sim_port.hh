// A port under the virtual clock whose peer is a program: flows of frames in, a record of departures out.
//
// The sender puts one frame after the other on the wire at the port's speed. It obeys PFC as
// lib/pause_sender.hh models it, or not at all; frames of a paused class wait, the others go past them. It
// can send PFC frames of its own, ahead of its data. A frame is delivered when it starts, as CapturePort
// does, or when it has ended, as a NIC does. The sink checks that each flow leaves in order. One SimPort is
// one end of one link; the link may be cut.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "dataplane/port.hh"
#include "lib/pause_sender.hh"

namespace sluice::sim {

struct Flow {
    std::uint8_t dscp = 26;
    ClassId priority = 3;  // whose pause holds it
    Ecn ecn = Ecn::not_ect;
    PortId to = 1;  // the host behind that port
    Time start{};
    Duration interval{};  // between frames; 0: backlogged
    std::uint64_t frames = UINT64_MAX;
    // Bytes of the next frame (without FCS, at least 60), asked when it starts.
    std::function<std::uint32_t(Time)> size = [](Time) { return 1514U; };
};

struct Departure {
    Time at;
    std::uint32_t bytes;
    PortId from;
    std::uint8_t flow;
    std::uint64_t sequence;
    Ecn ecn;
};

struct SentPause {
    Time at;
    PauseMap map;
};

class SimPort final : public Port {
  public:
    struct Spec {
        PortId id = 0;
        Rate speed = gigabits(100);
        MacAddress switch_mac;
        rte_mempool* pool = nullptr;
        std::optional<PeerDelay> obeys;  // nothing: ignores PFC
        unsigned ring_frames = 4096;
    };
    explicit SimPort(const Spec& spec) : spec_(spec), sender_(spec.obeys.value_or(PeerDelay{}), spec.speed) {}
    ~SimPort() override;
    SimPort(const SimPort&) = delete;
    SimPort& operator=(const SimPort&) = delete;

    // ---- for tests
    std::uint8_t add(const Flow& flow);  // starts now or later; see SimSwitch::add
    void stop_flows();
    void send_pause(Time at, const PauseMap& map);  // in order of time
    void send_pause(Time at, ClassId priority, std::uint16_t quanta);
    void cut(bool down);
    void deliver_at_end(bool on) { at_end_ = on; }
    void burst_limit(unsigned frames) { burst_limit_ = frames; }
    // Frames that all arrive at `at`, whatever the wire says: bytes of each.
    void inject(Time at, const Flow& flow, const std::vector<std::uint32_t>& sizes);

    std::uint64_t started(std::uint8_t flow) const { return flows_[flow].sent; }
    std::uint64_t started() const;
    bool is_idle() const { return !next_start() && on_wire_.empty() && injected_.empty(); }
    const PauseSender& sender() const { return sender_; }

    const std::vector<SentPause>& pauses() const { return pauses_; }
    std::uint64_t departed() const { return departed_; }
    std::uint64_t departed_bytes() const { return departed_bytes_; }
    std::uint64_t departed(PortId from, std::uint8_t flow) const;
    std::uint64_t departed_wire_bytes(PortId from) const;
    std::uint64_t digest() const { return digest_; }
    const std::string& disorder() const { return disorder_; }
    std::function<void(const Departure&)> on_departure;  // data only
    std::function<void(const SentPause&)> on_pause;

    // ---- Port
    unsigned receive(std::span<Packet*> out, Time now) override;
    std::optional<bool> falls_behind(Time now) const override {
        return now == instant_ && ring_ > spec_.ring_frames / 2;
    }
    unsigned transmit(std::span<Packet* const> frames) override;
    bool link_up() const override { return !cut_; }
    PortAccount account() const override {
        PortAccount account;
        account.missed = missed_;
        return account;
    }
    std::uint64_t lose_until(Time now) override;

  private:
    std::optional<Time> find_next_arrival() const override;
    struct Sender {
        Flow flow;
        Time ready;
        std::uint64_t sent = 0;
        std::uint64_t wire_bytes = 0;
    };
    struct OnWire {
        Packet* packet;
        Time deliver;
    };
    struct Next {
        Time at;
        int flow;  // -1: a PFC frame
    };
    struct Injected {
        Time at;
        Flow flow;
        std::uint32_t bytes;
        std::uint64_t sequence;
    };

    std::optional<Next> next_start() const;
    bool step(Time now);
    void start(const Next& next);
    Packet* data_frame(const Flow& flow, std::uint8_t number, std::uint64_t sequence,
                       std::uint32_t bytes) const;
    Packet* allocate(std::uint32_t bytes) const;
    void record(const Departure& departure);

    Spec spec_;
    std::vector<Sender> flows_;
    std::deque<SentPause> control_;  // to be sent
    std::deque<Injected> injected_;
    std::uint64_t injected_sequence_ = 0;
    std::deque<OnWire> on_wire_;
    PauseSender sender_;
    bool at_end_ = false;
    bool cut_ = false;
    unsigned burst_limit_ = burst_size;
    Time instant_{};
    unsigned ring_ = 0;
    std::uint64_t missed_ = 0;

    struct Seen {
        std::uint64_t next = 0;  // sequence that the next frame has at least
        std::uint64_t frames = 0;
    };
    std::map<std::pair<PortId, std::uint8_t>, Seen> seen_;
    std::map<PortId, std::uint64_t> wire_bytes_from_;
    std::vector<SentPause> pauses_;
    std::uint64_t departed_ = 0;
    std::uint64_t departed_bytes_ = 0;
    std::uint64_t digest_ = 0;
    std::string disorder_;
};

}  // namespace sluice::sim
