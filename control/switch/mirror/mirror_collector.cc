// A mirror's frames as packets of ERSPAN to a collector.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/switch/kernel/slow_path.hh"
#include "control/switch/mirror/mirror_writer.hh"
#include "dataplane/path/control_path.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/run/switch.hh"
#include "lib/record/erspan.hh"
#include "lib/route/ecmp.hh"

namespace sluice {
namespace {

constexpr std::size_t max_at_once = 16;  // frames: leaves room in the hand-off for others

std::optional<IpAddress> address_of(const PortConfig& port, bool v6) {
    for (const IpPrefix& own : port.address)
        if (own.address.is_v6 == v6 && !is_link_local(own.address)) return own.address;
    return std::nullopt;
}

// The source address: the egress port's, or another port's.
std::optional<IpAddress> source_for(const Config& config, const std::string& egress, bool v6) {
    if (const auto own = address_of(config.ports.at(egress), v6)) return own;
    for (const auto& [name, port] : config.ports)
        if (const auto other = address_of(port, v6)) return other;
    return std::nullopt;
}

class MirrorCollector final : public MirrorWriter {
  public:
    void configure(const MirrorConfig& config, std::uint32_t mirror) override {
        to_ = *config.collector;
        dscp_ = config.dscp;
        session_ = config.session;
        mirror_ = mirror;
    }
    PortId look(const ServedSwitch& of) override;
    Taken write(std::deque<MirroredFrame>& waiting, const ServedSwitch& of) override;
    std::string state() const override {
        return way_ && !lost_last_ ? "sent by " + way_->port : "cannot be sent: " + obstacle_;
    }
    std::string fault() const override {
        if (!lost_last_) return {};
        return fmt::format("{}: cannot be sent: {}; do: give it a route, a neighbor and a link that is up",
                           print_address(to_), obstacle_);
    }
    std::optional<IpAddress> unresolved() const override {
        return drop_ == DropReason::unresolved_next_hop ? std::optional(to_) : std::nullopt;
    }

  private:
    struct Way {
        NextHop hop;
        IpAddress from;
        std::uint16_t mtu;
        std::string port;
    };

    IpAddress to_;
    std::uint8_t dscp_ = 0;
    std::uint16_t session_ = 0;
    std::uint32_t mirror_ = 0;
    std::uint32_t sequence_ = 0;
    std::optional<Way> way_;
    std::string obstacle_ = "not looked for yet";  // where there is no way
    DropReason drop_ = DropReason::none;           // of a frame that would go it
    bool lost_last_ = false;                       // the last frame found no way
};

PortId MirrorCollector::look(const ServedSwitch& of) {
    const Policy& policy = of.device.policy();
    const NextHopGroup& group = policy.next_hop_groups[policy.fib->lookup(to_)];
    way_.reset();
    drop_ = group.drop;
    std::uint32_t hop = no_member;
    if (drop_ == DropReason::none) {
        // All by one next hop, so that they keep their order.
        hop = of.device.hashed_hop(group, 0);
        if (hop == no_member) drop_ = DropReason::link_down;
    }
    if (drop_ != DropReason::none) {
        obstacle_ = drop_reason_texts[static_cast<std::size_t>(drop_)].sentence;
        return no_port;
    }
    const PortId port = policy.next_hops[hop].port;
    const std::string& name = of.port_names[port];
    const auto from = source_for(of.config, name, to_.is_v6);
    if (!from) {
        obstacle_ = fmt::format("no port has an {} address to send from", to_.is_v6 ? "IPv6" : "IPv4");
        return no_port;
    }
    way_ = Way{policy.next_hops[hop], *from, policy.ports[port].mtu, name};
    return port;
}

MirrorWriter::Taken MirrorCollector::write(std::deque<MirroredFrame>& waiting, const ServedSwitch& of) {
    if (!way_) {
        lost_last_ = true;
        return {.lost = std::exchange(waiting, {}).size()};
    }
    const std::size_t headers = erspan_packet_bytes(to_.is_v6);
    const std::size_t max_bytes = way_->mtu - std::min<std::size_t>(way_->mtu, headers);
    Taken taken;
    while (taken.written < max_at_once && !waiting.empty()) {
        const MirroredFrame& next = waiting.front();
        const auto link = std::span(way_->hop.header).first(way_->hop.header_bytes);
        const auto bytes = std::span(next.bytes).first(std::min(next.bytes.size(), max_bytes));
        const auto frame = erspan_frame(next.head, bytes, next.stamp_ns,
                                        {link, way_->from, to_, dscp_, session_, sequence_});
        if (!of.device.inject(way_->hop.port, frame,
                              {InjectHead::Origin::mirrored, DropReason::none, mirror_}))
            break;
        lost_last_ = false;
        ++sequence_;
        ++taken.written;
        waiting.pop_front();
    }
    return taken;
}

}  // namespace

std::unique_ptr<MirrorWriter> make_mirror_collector() { return std::make_unique<MirrorCollector>(); }

}  // namespace sluice
