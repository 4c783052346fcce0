#include "control/switch/mirror/mirror_collector.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "dataplane/path/control_path.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/run/switch.hh"
#include "lib/record/erspan.hh"
#include "lib/route/ecmp.hh"

namespace sluice {
namespace {

std::optional<IpAddress> address_of(const PortConfig& port, bool v6) {
    for (const IpPrefix& own : port.address)
        if (own.address.is_v6 == v6 && !is_link_local(own.address)) return own.address;
    return std::nullopt;
}

// Of the port that the packet leaves by, or of another one.
std::optional<IpAddress> source_for(const Config& config, const std::string& egress, bool v6) {
    if (const auto own = address_of(config.ports.at(egress), v6)) return own;
    for (const auto& [name, port] : config.ports)
        if (const auto other = address_of(port, v6)) return other;
    return std::nullopt;
}

}  // namespace

void MirrorCollector::configure(const MirrorConfig& config) {
    to_ = *config.collector;
    dscp_ = config.dscp;
    session_ = config.session;
}

void MirrorCollector::write(const MirroredFrame& frame) {
    if (waiting_.size() == max_waiting) {
        ++lost_;
        return;
    }
    waiting_.push_back({frame.head, frame.stamp_ns, {frame.bytes.begin(), frame.bytes.end()}});
}

std::optional<IpAddress> MirrorCollector::unresolved() const {
    return drop_ == DropReason::unresolved_next_hop ? std::optional(to_) : std::nullopt;
}

std::optional<PortId> MirrorCollector::find_way(const ServedSwitch& of) {
    const Policy& policy = of.device.policy();
    const NextHopGroup& group = policy.next_hop_groups[policy.fib->lookup(to_)];
    way_.reset();
    drop_ = group.drop;
    std::uint32_t hop = no_member;
    if (drop_ == DropReason::none) {
        // All by one way, so that they keep their order.
        hop = of.device.hashed_hop(group, 0);
        if (hop == no_member) drop_ = DropReason::link_down;
    }
    if (drop_ != DropReason::none) {
        obstacle_ = drop_reason_texts[static_cast<std::size_t>(drop_)].sentence;
        return std::nullopt;
    }
    const PortId port = policy.next_hops[hop].port;
    const std::string& name = of.port_names[port];
    const auto from = source_for(of.config, name, to_.is_v6);
    if (!from) {
        obstacle_ = fmt::format("no port has an {} address to send from", to_.is_v6 ? "IPv6" : "IPv4");
        return std::nullopt;
    }
    way_ = Way{policy.next_hops[hop], *from, policy.ports[port].mtu, name};
    return port;
}

bool MirrorCollector::send(const ServedSwitch& of) {
    if (!way_) {
        lost_last_ |= !waiting_.empty();
        lost_ += waiting_.size();
        waiting_.clear();
        return false;
    }
    const std::size_t headers = erspan_packet_bytes(to_.is_v6);
    const std::size_t max_bytes = way_->mtu - std::min<std::size_t>(way_->mtu, headers);
    bool any = false;
    for (std::size_t n = 0; n < max_at_once && !waiting_.empty(); ++n) {
        const Waiting& next = waiting_.front();
        const auto link = std::span(way_->hop.header).first(way_->hop.header_bytes);
        const auto bytes = std::span(next.bytes).first(std::min(next.bytes.size(), max_bytes));
        const auto frame = erspan_frame(next.head, bytes, next.stamp_ns,
                                        {link, way_->from, to_, dscp_, session_, sequence_});
        if (!of.device.inject(way_->hop.port, frame,
                              {InjectHead::Origin::mirrored, DropReason::none, identity_}))
            break;
        any = true;
        ++sequence_;
        ++written_;
        lost_last_ = false;
        waiting_.pop_front();
    }
    return any;
}

std::string MirrorCollector::state() const {
    return way_ && !lost_last_ ? "sent by " + way_->port : "cannot be sent: " + obstacle_;
}

std::string MirrorCollector::fault() const {
    if (!lost_last_) return {};
    return fmt::format("{}: cannot be sent: {}; do: give it a route, a neighbor and a link that is up",
                       print_address(to_), obstacle_);
}

std::string MirrorCollector::close() {
    lost_ += waiting_.size();
    waiting_.clear();
    return {};  // a collector that is not there is counted, and no fault
}

}  // namespace sluice
