// A queue pair of a host: a requester with its messages, or a responder; the rate of its data; its frames:
// data (requests and READ responses, paced), replies (ACKs and NAKs), CNPs.
//
// Caller: the Nic, with `now` that never goes back. Nothing allocates after construction. Thousands of queue
// pairs fit into no cache, and a missed line costs as much as the rest of a packet. So members are in the
// order of use, and `fetch` prefetches those that most packets need.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "lib/roce/nic_settings.hh"
#include "lib/roce/nic_statistics.hh"
#include "lib/roce/packet.hh"
#include "lib/roce/payload.hh"

namespace sluice::roce {

enum class FrameKind : std::uint8_t { data, reply, cnp };

class alignas(64) QueuePair {
  public:
    // All but `own` outlive it and do not change, but for the statistics.
    QueuePair(const NicSettings& nic, const FlowSettings& flow, const QpSettings& own, std::uint32_t number,
              FlowStatistics& flow_statistics);

    // When a message comes, the requester times out, or a hole counts as lost; nothing: never.
    std::optional<Time> next_timer() const;
    void expire(Time now);

    // True when its data frames carry payload, not READ requests.
    bool sends_data() const { return settings_.requests != (flow_->kind == Requester::Kind::read); }
    bool has_data() const {
        return settings_.requests ? requester()->has_next() : responder()->has_response();
    }
    // The next packet of data; the queue pair has one. `paced_until` is when the one after it may follow.
    Outgoing next_data(Time now);
    Time paced_until() const { return paced_until_; }
    // A message of a collective; false: the queue pair has failed. There is room.
    bool post(std::uint32_t bytes, Time now) { return as_requester().post(flow_->kind, bytes, now.ps); }
    // An ACK or NAK that does not wait for a READ's responses.
    bool has_reply() const {
        return !settings_.requests && responder()->has_next() && !responder()->has_response();
    }
    Outgoing next_reply() { return *as_responder().next(); }

    // From this queue pair's peer; not a CNP.
    void receive(const Incoming& packet, std::optional<std::uint8_t> rnr, Time now);
    void receive_cnp(Time now);

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
        std::optional<Time> timer;  // not later than next_timer()
        bool sends = false;         // in the send schedule
        std::uint32_t peer = 0;     // of the host's peers, counted from 0
        std::uint32_t cnps = 0;     // to be sent
    } listed;

  private:
    Requester& as_requester() { return *std::get_if<Requester>(&end_); }
    RcResponder& as_responder() { return *std::get_if<RcResponder>(&end_); }
    bool has_room() const;
    void post_due(Time now);
    void complete(Time now);
    void check(const Incoming& packet, std::uint64_t offset, Time now);
    Duration time_on_empty_path(const Requester::Completion& message) const;

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
};

}  // namespace sluice::roce
