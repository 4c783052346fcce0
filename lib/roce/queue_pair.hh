// A queue pair of a host: a requester with its messages, or a responder; the rate of its data; its frames:
// data (requests and READ responses, paced), replies (ACKs and NAKs), CNPs.
//
// Caller: the Nic, with `now` that never goes back. Nothing allocates after construction. A place may be
// vacant: its queue pair has gone, and it has no end. Thousands of queue
// pairs fit into no cache, and a missed line costs as much as the rest of a packet. So members are in the
// order of use, and `fetch` prefetches those that most packets need.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <variant>

#include "lib/clock/calendar.hh"
#include "lib/roce/nic_settings.hh"
#include "lib/roce/nic_statistics.hh"
#include "lib/roce/packet.hh"
#include "lib/roce/payload.hh"

namespace sluice::roce {

enum class FrameKind : std::uint8_t { data, reply, cnp };

// Time of a message of the flow from its post until it is acknowledged, on an empty path (empty_path.hh).
Duration time_on_empty_path(const NicSettings& nic, const FlowSettings& flow, std::uint64_t bytes);

// The first packet of a message to the peer's queue pair, without payload; returns its bytes.
std::uint32_t write_empty_request(const NicSettings& nic, const FlowSettings& flow, const IpAddress& peer,
                                  std::uint32_t peer_qp, std::span<std::uint8_t> out);

class alignas(64) QueuePair {
  public:
    // All but `own` outlive it and do not change, but for the statistics.
    QueuePair(const NicSettings& nic, const FlowSettings& flow, const QpSettings& own, std::uint32_t number,
              FlowStatistics& flow_statistics);

    // When a message comes, the requester times out, or a hole counts as lost; nothing: never.
    std::optional<Time> next_timer() const;
    void expire(Time now);

    bool is_vacant() const { return end_.index() == 0; }
    // Its figures are nothing from now on.
    void vacate();

    // True when its data frames carry payload, not READ requests.
    bool sends_data() const {
        return !is_vacant() && settings_.requests != (flow_->kind == Requester::Kind::read);
    }
    bool has_data() const {
        return settings_.requests ? requester()->has_next() : responder()->has_response();
    }
    // The next packet of data; the queue pair has one. `paced_until` is when the one after it may follow.
    Outgoing next_data(Time now);
    Time paced_until() const { return paced_until_; }
    // A message of the flow's poster; false: the queue pair has failed. There is room.
    bool post(std::uint32_t bytes, Time now, std::uint32_t key = 0);
    std::vector<std::uint32_t> take_keys() { return as_responder().take_keys(); }
    // A transfer that came at `at`: its only message, in as many of RC's as it needs.
    void begin_transfer(std::uint64_t bytes, Time at);
    // The responder of a transfer that it has taken already: repeated packets get their answers.
    void continue_after(std::uint64_t packets, std::uint32_t messages) {
        as_responder().continue_after(packets, messages);
    }
    // An ACK or NAK that does not wait for a READ's responses.
    bool has_reply() const {
        return !settings_.requests && responder()->has_next() && !responder()->has_response();
    }
    Outgoing next_reply() { return *as_responder().next(); }

    // From this queue pair's peer; not a CNP.
    void receive(const Incoming& packet, std::optional<std::uint8_t> rnr, Time now);
    void receive_cnp(Time now);
    // From this queue pair's peer, trimmed. False: it counts as lost.
    bool receive_trimmed(const Incoming& packet, Time now);

    PacketWriter& writer(FrameKind kind) {
        return kind == FrameKind::data ? data_ : kind == FrameKind::reply ? reply_ : cnp_;
    }
    // Ahead of a packet that is to be sent or taken.
    void fetch() const {
        constexpr std::size_t line = 64;
        const auto* end = reinterpret_cast<const char*>(&draws_);
        for (const auto* at = reinterpret_cast<const char*>(this); at < end; at += line)
            __builtin_prefetch(at);
    }

    const QpSettings& settings() const { return settings_; }
    const FlowSettings& flow() const { return *flow_; }
    const ReactionPoint& reaction() const { return reaction_; }
    // Starts anew at line rate; the parameters outlive it.
    void set_reaction(const ReactionParameters& parameters) { reaction_ = ReactionPoint(parameters); }
    const Requester* requester() const { return std::get_if<Requester>(&end_); }
    const RcResponder* responder() const { return std::get_if<RcResponder>(&end_); }

    // Written by the NIC: this queue pair's entries in its lists.
    struct Listed {
        std::optional<Time> timer;   // not later than next_timer()
        bool sends = false;          // in the send schedule
        std::uint32_t peer = 0;      // of the host's peers, counted from 0
        std::uint32_t cnps = 0;      // to be sent
        std::uint32_t in_rings = 0;  // frames
        std::uint32_t transfer = Calendar::nobody;
    } listed;

  private:
    Requester& as_requester() { return *std::get_if<Requester>(&end_); }
    RcResponder& as_responder() { return *std::get_if<RcResponder>(&end_); }
    bool has_room() const;
    void post_due(Time now);
    void complete(Time now);
    void count(const Requester::Completion& message, Time now);
    void post_parts();
    bool joins(Requester::Completion& part);
    void check(const Incoming& packet, std::uint64_t offset, Time now);
    void note_begun(Time at);

    const NicSettings* nic_;
    const FlowSettings* flow_;
    FlowStatistics* flow_statistics_;
    QpSettings settings_;
    Time paced_until_{};
    PayloadStream stream_;  // of what comes
    std::variant<std::monostate, Requester, RcResponder> end_;
    ReactionPoint reaction_;

  public:
    QpStatistics statistics;

  private:
    PacketWriter data_;
    // For few packets:
    MessageDraws draws_;
    Arrivals arrivals_;
    PacketWriter cnp_;
    PacketWriter reply_;
    // The state of a transfer in several messages:
    struct Parts {
        std::uint64_t to_post = 0;  // bytes
        std::uint64_t bytes = 0;    // completed
        std::uint32_t retransmissions = 0;
        Time came;
    };
    std::unique_ptr<Parts> parts_;
    // Messages that are under way, in their order, where a log is kept:
    struct Begun {
        std::uint64_t cnps;
        Duration paused;
    };
    std::unique_ptr<std::deque<Begun>> begun_;
    std::uint32_t number_;
    std::uint32_t ended_ = 0;  // messages, where a log is kept
};

// Figures of any number of queue pairs.
struct QpTotals {
    QpStatistics qp;
    Requester::Counters requester;
    std::uint64_t duplicates = 0;
    std::uint64_t early = 0;
    ReceiveWindow::Counters reordering;
    std::uint64_t requesters = 0;

    void add(const QueuePair& pair);
    void add(const QpTotals& other);

  private:
    void add_counters(const Requester::Counters& other);
    void add_reordering(const ReceiveWindow::Counters& other);
};

}  // namespace sluice::roce
