// A port under the virtual clock with a RoCE host behind it.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/peers/capture_output.hh"
#include "dataplane/peers/peer_port.hh"
#include "dataplane/peers/peer_source.hh"
#include "lib/peer/slow_receiver.hh"
#include "lib/roce/nic.hh"

namespace sluice {

struct HostPortSpec {
    Rate speed = gigabits(100);
    Duration cable;                  // one way
    std::optional<PeerDelay> obeys;  // nothing: the host ignores PFC
    unsigned ring_frames = 4096;     // of the switch's receive ring
    rte_mempool* pool = nullptr;
    std::optional<Rate> drain;  // of its receive buffer, wire bytes; nothing: as fast as the link
    std::uint64_t receive_buffer_bytes = 64'000;
    std::uint64_t receive_xon_bytes = 32'000;          // not above it
    std::uint64_t receive_headroom_bytes = 1'000'000;  // above it
    std::uint16_t pause_quanta = 0xFFFF;               // of its XOFF, repeated at half that time; > 0
    std::uint8_t drain_classes = 1U << 3;              // those that it pauses
    bool describes = false;                            // its frames with payload: base/described.hh
    roce::NicSettings nic;
    std::vector<roce::FlowSettings> flows;
    std::vector<roce::QpSettings> queue_pairs;
    std::vector<roce::RankSettings> ranks;
    std::shared_ptr<const roce::TransferList> transfers;
    std::vector<roce::ProgramSettings> programs;
};

class HostSource : public NothingUnderWay {
  public:
    enum class Step : std::uint8_t { receive, arrive, timer, pause, frame };  // in this order at one moment
    struct Next {
        Time at;
        Step step;
    };

    explicit HostSource(const HostPortSpec& spec);
    ~HostSource();
    HostSource(const HostSource&) = delete;
    HostSource& operator=(const HostSource&) = delete;

    roce::Nic& nic() { return nic_; }
    const roce::Nic& nic() const { return nic_; }
    std::uint64_t pauses_sent() const { return pauses_sent_; }
    std::uint64_t overrun() const { return overrun_; }  // frames that its receive buffer had no room for
    // Frames from the switch that are on the cable at `now`, and those lost there.
    std::size_t under_way(Time now) const;
    std::uint64_t lost_on_wire() const { return lost_on_wire_; }
    std::uint64_t lossless_lost() const { return lossless_lost_; }  // there, or for want of room
    void write_to(CaptureOutput output) { output_ = std::move(output); }
    // Frames in the buffer keep their times. A running XOFF ends.
    void set_drain(std::optional<Rate> drain, Time now);

    std::optional<Next> next_start(const PauseSender& wire) const;
    Started start(const Next& next, PauseSender& wire);
    bool expects_frames(const PauseSender& wire) const;
    bool deliver(Packet*& packet, Time departure);
    void add_to(PortAccount&) const {}
    void link_lost(Time now);
    std::string close();  // frames that wait are forgotten

  private:
    struct Waiting {
        Time at;
        Packet* packet;
    };

    void forget_frames();
    using Line = boost::circular_buffer<Waiting>;
    static void put(Line& line, const Waiting& frame);
    bool has_reached_host(const Waiting& frame, Time now) const { return frame.at - cable_ <= now; }
    void arrive();
    void receive(Packet* packet, Time now);
    Started send_pause(Time now, PauseSender& wire);
    Started send_frame(Time now, PauseSender& wire);
    Packet* make_frame(const roce::NicFrame& frame);

    rte_mempool* pool_;
    Duration byte_time_;
    Duration cable_;              // one way
    Duration drain_byte_time_{};  // 0: it keeps up
    SlowReceiver::Levels levels_;
    std::uint16_t pause_quanta_;
    std::uint64_t room_bytes_;  // with headroom
    std::uint8_t drain_classes_;
    bool describes_;
    roce::Nic nic_;
    Line arriving_;   // on the cable, in order
    Line waiting_;    // in the receive buffer of a slow host, in order
    Time drained_{};  // the frame before
    SlowReceiver buffer_;
    std::uint64_t pauses_sent_ = 0;
    std::uint64_t overrun_ = 0;
    std::uint64_t lost_on_wire_ = 0;
    std::uint64_t lossless_lost_ = 0;
    std::optional<CaptureOutput> output_;
    std::array<std::uint8_t, roce::max_packet_bytes> bytes_{};  // of a frame in several mbufs
};

extern template class PeerPort<HostSource>;

class HostPort final : public PeerPort<HostSource> {
  public:
    // The spec is valid: configuration has judged it.
    explicit HostPort(const HostPortSpec& spec)
        : PeerPort({spec.speed, spec.obeys, spec.ring_frames}, spec) {}

    // `catch_up` before reading figures.
    const roce::Nic& nic() const { return source_.nic(); }
    std::uint64_t pauses_sent() const { return source_.pauses_sent(); }  // PFC frames of a slow host
    // How long our pauses have held a class of the host's; `now` is the clock's.
    Duration paused_time(ClassId n, Time now) const { return wire_.paused_time(n, now); }

    std::uint64_t overrun() const { return source_.overrun(); }  // frames that a slow host had no room for
    // Frames from the switch that are on the cable at `now`, and those lost there.
    std::size_t under_way(Time now) const { return source_.under_way(now); }
    std::uint64_t lost_on_wire() const { return source_.lost_on_wire(); }
    std::uint64_t lossless_lost() const { return source_.lossless_lost(); }  // there, or for want of room
    void write_to(CaptureOutput output) { source_.write_to(std::move(output)); }

    // Before the run: results of messages are kept.
    void keep_log() { source_.nic().keep_log(wire_); }
    // Control, between turns, after `catch_up`; null: none are kept.
    roce::MessageLog* log() { return source_.nic().log(); }
    // Transfers elsewhere that need not wait any more.
    std::vector<roce::Transfers::Told>& told() { return source_.nic().transfers().told(); }
    void release(std::uint32_t transfer, Time now) {
        catch_up_before(now);
        source_.nic().release(transfer, now);
        forget_arrival();
    }
    // Ranks of collectives that wait for others of their server.
    template <class Tell>
    void tell_arrivals(Tell tell) {
        source_.nic().tell_arrivals(tell);
    }
    void join_server(std::uint32_t id, const roce::CollectiveRank::Arrival& arrival, Time now) {
        catch_up_before(now);
        source_.nic().join_server(id, arrival, now);
        forget_arrival();
    }

    // Control, between turns, and after `catch_up_before`.
    void set_reaction(const roce::ReactionParameters& parameters) {
        source_.nic().set_reaction(parameters);
        forget_arrival();
    }
    void set_notification(bool echo_ce, bool ignore_cnp) {
        source_.nic().set_notification(echo_ce, ignore_cnp);
    }
    void set_drain(std::optional<Rate> drain, Time now) {
        source_.set_drain(drain, now);
        forget_arrival();
    }
};

}  // namespace sluice
