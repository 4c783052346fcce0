// A port under the virtual clock with a RoCE host behind it.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "dataplane/peers/host_source.hh"
#include "dataplane/peers/peer_port.hh"

namespace sluice {

extern template class PeerPort<HostSource>;

class HostPort final : public PeerPort<HostSource> {
  public:
    // The spec is valid: configuration has judged it.
    explicit HostPort(const HostPortSpec& spec)
        : PeerPort({spec.speed, spec.obeys, spec.ring_frames}, spec) {}

    // Of the figures: `catch_up` comes first.
    const roce::Nic& nic() const { return source_.nic(); }
    std::uint64_t pauses_sent() const { return source_.pauses_sent(); }  // PFC frames of a slow host
    // How long our pauses have held a class of the host's; `now` is the clock's.
    Duration paused_time(ClassId n, Time now) const { return wire_.paused_time(n, now); }

    std::uint64_t overrun() const { return source_.overrun(); }  // frames that a slow host had no room for
    // Frames from the switch that are on the cable at `now`, and those that were lost there with the link.
    std::size_t under_way(Time now) const { return source_.under_way(now); }
    std::uint64_t lost_on_wire() const { return source_.lost_on_wire(); }
    std::uint64_t lossless_lost() const { return source_.lossless_lost(); }  // there, or for want of room
    void write_to(CaptureOutput output) { source_.write_to(std::move(output)); }

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
