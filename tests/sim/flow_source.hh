// The source of a simulated peer in tests: flows of frames and PFC frames of its own, ahead of its data; what
// the switch delivers goes into a DepartureRecord.
//
// A frame is delivered when it starts, as a capture's is, or when it has ended, as a NIC does. Injected
// frames arrive at their time whatever the wire says.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/peers/peer_source.hh"
#include "tests/sim/departure_record.hh"

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

class FlowSource {
  public:
    struct Next {
        Time at;
        int flow;  // -1: a PFC frame
    };

    FlowSource(PortId id, const MacAddress& switch_mac, rte_mempool* pool, DepartureRecord& record)
        : id_(id), switch_mac_(switch_mac), pool_(pool), record_(record) {}
    ~FlowSource();
    FlowSource(const FlowSource&) = delete;
    FlowSource& operator=(const FlowSource&) = delete;

    // ---- for tests, by SimPort
    std::uint8_t add(const Flow& flow);
    void stop_flows();
    void send_pause(Time at, const PauseMap& map) { control_.push_back({at, map}); }
    void inject(Time at, const Flow& flow, const std::vector<std::uint32_t>& sizes);
    void deliver_at_end(bool on) { at_end_ = on; }
    std::uint64_t started(std::uint8_t flow) const { return flows_[flow].sent; }
    std::uint64_t started() const;

    // ---- PeerSource
    std::optional<Next> next_start(const PauseSender& wire) const;
    Started start(const Next& next, PauseSender& wire);
    bool expects_frames(const PauseSender&) const { return false; }
    bool deliver(Packet* packet, Time departure);
    std::optional<Time> next_under_way() const;
    Packet* arrived(Time now);
    std::uint64_t lose_under_way(Time now);
    static void link_lost(Time) {}
    void add_to(PortAccount&) const {}
    std::string close() { return {}; }

  private:
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
    struct Injected {
        Time at;
        Flow flow;
        std::uint32_t bytes;
        std::uint64_t sequence;
    };

    Packet* data_frame(const Flow& flow, std::uint8_t number, std::uint64_t sequence,
                       std::uint32_t bytes) const;
    Packet* allocate(std::uint32_t bytes) const;

    PortId id_;
    MacAddress switch_mac_;
    rte_mempool* pool_;
    DepartureRecord& record_;
    std::vector<Sender> flows_;
    std::deque<SentPause> control_;  // to be sent
    std::deque<Injected> injected_;
    std::uint64_t injected_sequence_ = 0;
    std::deque<OnWire> on_wire_;  // of frames that are delivered at their end
    bool at_end_ = false;
};

}  // namespace sluice::sim
