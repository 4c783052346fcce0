// One queue pair of a host: a requester with its messages, or a responder; the rate of its data; the frames
// of its three kinds: data (requests and READ responses, paced), replies (ACKs and NAKs), CNPs.
//
// Caller: the Nic, with `now` that never goes back. Nothing allocates after construction.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/roce/nic_settings.hh"
#include "lib/roce/nic_statistics.hh"
#include "lib/roce/packet.hh"
#include "lib/roce/payload.hh"

namespace sluice::roce {

enum class FrameKind : std::uint8_t { data, reply, cnp };

class QueuePair {
  public:
    // All but `own` outlive it and do not change, but for the statistics.
    QueuePair(const NicSettings& nic, const FlowSettings& flow, const QpSettings& own, std::uint32_t number,
              FlowStatistics& flow_statistics);

    // When a message comes or the requester's time is out; nothing: neither does.
    std::optional<Time> next_timer() const;
    void expire(Time now);

    // Its data is what a message carries, not what asks for a READ.
    bool sends_data() const { return settings_.requests != (flow_->kind == Requester::Kind::read); }
    bool has_data() const { return requester_ ? requester_->has_next() : responder_->has_response(); }
    // The next packet of data; the queue pair has one. `paced_until` is when the one after it may follow.
    Outgoing next_data(Time now);
    Time paced_until() const { return paced_until_; }
    // An ACK or NAK that does not wait for a READ's responses.
    bool has_reply() const { return responder_ && responder_->has_next() && !responder_->has_response(); }
    Outgoing next_reply() { return *responder_->next(); }

    // Of this queue pair's peer, and no CNP.
    void receive(const Incoming& packet, std::optional<std::uint8_t> rnr, Time now);
    void receive_cnp(Time now);

    PacketWriter& writer(FrameKind kind) {
        return kind == FrameKind::data ? data_ : kind == FrameKind::reply ? reply_ : cnp_;
    }
    const QpSettings& settings() const { return settings_; }
    const FlowSettings& flow() const { return *flow_; }
    const ReactionPoint& reaction() const { return reaction_; }
    // Starts anew at line rate; the parameters outlive it.
    void set_reaction(const ReactionParameters& parameters) { reaction_ = ReactionPoint(parameters); }
    const Requester* requester() const { return requester_ ? &*requester_ : nullptr; }
    const RcResponder* responder() const { return responder_ ? &*responder_ : nullptr; }

    QpStatistics statistics;

  private:
    bool has_room() const;
    void post_due(Time now);
    void complete(Time now);
    void check(const Incoming& packet, std::uint64_t offset, Time now);
    Duration time_on_empty_path(const Requester::Completion& message) const;

    const NicSettings* nic_;
    const FlowSettings* flow_;
    QpSettings settings_;
    FlowStatistics* flow_statistics_;
    PayloadStream stream_;  // of what comes
    MessageDraws draws_;
    Arrivals arrivals_;
    std::optional<Requester> requester_;  // one of the two
    std::optional<RcResponder> responder_;
    ReactionPoint reaction_;
    Time paced_until_{};
    PacketWriter data_;
    PacketWriter reply_;
    PacketWriter cnp_;
};

}  // namespace sluice::roce
