#include "control/config/compile/hosts.hh"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "control/config/schema/hosts.hh"
#include "control/config/text/quantity_text.hh"
#include "lib/values/rng.hh"

namespace sluice {
namespace {

constexpr std::uint32_t billionths_of_a_millionth = 1000;
constexpr std::uint32_t first_qp = 0x100;
constexpr std::uint32_t open_loop_messages = 64;  // that a queue pair has posted; more wait for room

std::uint64_t scrambled(std::uint64_t sum, const IpAddress& address) {
    for (const std::uint8_t byte : address.bytes) sum = scramble(sum ^ byte);
    return sum;
}

using PortsAt = decltype(Config::ports)::const_iterator;

roce::Marking marking(const Config& config, const PortConfig& port, const PacketLabel& label, Ecn ecn) {
    const ClassMap map = class_map(map_of(config, port), port);
    roce::Marking made{
        static_cast<std::uint8_t>(label.dscp), map.tc_to_priority_group[class_of(map, label)], ecn, {}};
    if (label.pcp) made.vlan_tci = static_cast<std::uint16_t>(*label.pcp << 13);
    return made;
}

// The MAC that a host sends to: its port's, or on a wire that of the host at the other end.
MacAddress next_mac(const Config& config, const std::string& name, PortsAt at) {
    const std::string peer = wire_peer(config, name);
    if (peer.empty()) {
        const auto index = static_cast<std::size_t>(std::distance(config.ports.begin(), at));
        return configured_mac(config, at->second, index).value_or(MacAddress{});
    }
    for (const auto& [host_name, host] : config.hosts)
        if (host.port == peer) return host_mac(config, host_name);
    return {};
}

const PortConfig& port_of(const HostPlace& place) { return place.config->ports.at(place.host->port); }

class HostSpecs {
  public:
    HostSpecs(const HostPlaces& places, const std::vector<FlowConfig>& flows, const HostPathOf& path,
              const std::vector<CollectivePlan>& collectives)
        : places_(places), flows_(flows), path_(path) {
        for (const auto& [name, place] : places) specs_.emplace(name, spec_of(place));
        for (std::uint32_t id = 0; id < flows.size(); ++id)
            for (const std::string& from : flows[id].from)
                for (const std::string& to : flows[id].to) add_pair(id, from, to, false);
        for (std::uint32_t id = 0; id < collectives.size(); ++id) add_collective(id, collectives[id]);
    }
    std::map<std::string, HostPortSpec> take() { return std::move(specs_); }

  private:
    static HostPortSpec spec_of(const HostPlace& place) {
        const Config& config = *place.config;
        const HostConfig& host = *place.host;
        const auto at = config.ports.find(host.port);
        const PortConfig& port = at->second;
        const EffectivePort& effective = place.qos->ports.at(host.port);
        HostPortSpec spec;
        spec.speed = port.speed;
        spec.cable = cable_delay(port);
        spec.obeys = peer_delay(port);
        spec.ring_frames = config.virtual_ring_frames;
        spec.drain = host.drain;
        spec.receive_buffer_bytes = host.receive_buffer_bytes;
        spec.receive_xon_bytes = host.receive_xon_bytes.value_or(host.receive_buffer_bytes / 2);
        spec.pause_quanta = host.pause_quanta;
        spec.receive_headroom_bytes = effective.headroom.xoff_bytes;
        spec.drain_classes = effective.lossless;
        spec.describes = host.describes_payload;
        spec.nic.mac = place.mac;
        spec.nic.gateway_mac = next_mac(config, host.port, at);
        spec.nic.address = host.address;
        spec.nic.first_qp = first_qp;
        spec.nic.seed = place.seed;
        spec.nic.ring_frames = host.ring_frames;
        spec.nic.reaction = reaction_parameters(host, port.speed);
        spec.nic.ack = marking(config, port, {host.ack_dscp.value_or(host.dscp), host.pcp}, host.ecn);
        spec.nic.cnp = marking(config, port, {host.cnp_dscp, {}, true}, Ecn::not_ect);
        spec.nic.cnp_interval = host.cnp_interval;
        spec.nic.cnp_scope = host.cnp_scope;
        spec.nic.port_of_qp = host.port_of_qp;
        spec.nic.echo_ce = host.echo_ce;
        spec.nic.ignore_cnp = host.ignore_cnp;
        spec.nic.rnr_chance = (std::uint64_t{host.rnr_chance.parts_per_billion} << 32) / Chance::always;
        spec.nic.rnr_timer = roce::rnr_syndrome(host.rnr_timer);
        return spec;
    }

    // The settings of a flow at its end `self`.
    roce::FlowSettings end_of(std::uint32_t id, const HostPlace& from_place, const HostPlace& to_place,
                              const HostPlace& self_place, const HostPath& path) const {
        const FlowConfig& flow = flows_[id];
        const HostConfig& from = *from_place.host;
        const HostConfig& to = *to_place.host;
        const HostConfig& self = *self_place.host;
        const HostPlace& sender_place = flow.kind == FlowKind::read ? to_place : from_place;
        const HostConfig& sender = *sender_place.host;
        roce::FlowSettings end;
        end.id = id;
        end.kind = requester_kind(flow.kind);
        end.sizes = message_sizes(flow.message);
        end.arrivals = arrival_parameters(flow, port_of(sender_place).speed);
        if (flow.stop) end.stop = Time{} + *flow.stop;
        if (flow.messages != 0) end.messages = flow.messages;
        end.data = marking(*self_place.config, port_of(self_place),
                           {flow.dscp.value_or(sender.dscp), flow.pcp ? flow.pcp : self.pcp}, self.ecn);
        end.requester.mtu = end.responder.mtu = path_mtu(from, to);
        end.requester.window_bytes = from.window_bytes;
        end.requester.recovery = end.responder.recovery =
            path_recovery(sender, flow.kind == FlowKind::read ? from : to);
        end.requester.ack_every = from.ack_every;
        end.responder.ack_every = to.ack_coalescing;
        end.requester.max_reads = end.responder.max_reads = from.reads;
        end.requester.messages = flow.load ? open_loop_messages : end.arrivals.depth;
        end.path_timeout = default_timeout(path, from, to);
        end.requester.timeout = from.timeout.value_or(end.path_timeout);
        end.requester.retry_count = from.retry_count.value_or(roce::unlimited_retries);
        end.requester.rnr_retry = from.rnr_retry.value_or(roce::unlimited_retries);
        set_empty_path(end, path, from.address.is_v6);
        return end;
    }

    // Rate and delay of an empty path: the message at the slowest link, its last frame at the other, an
    // acknowledgement or READ request at both, and the cables there and back. Further switches cut through.
    static void set_empty_path(roce::FlowSettings& end, const HostPath& path, bool v6) {
        const std::uint32_t headers = v6 ? 78 : 58;  // of RoCEv2 with ICRC, untagged
        const std::uint32_t last = wire_bytes(std::min(end.requester.mtu, end.sizes.max_bytes()) + headers);
        const std::uint32_t answer = wire_bytes(headers + 4);
        end.path_rate = path.slowest;
        end.path_delay = path.fastest.byte_time() * (last + answer) + path.slowest.byte_time() * answer +
                         path.propagation * 2;
    }

    // Before `self` has its rank in the collective.
    static roce::FlowSettings of_collective(roce::FlowSettings end, const HostPortSpec& self) {
        end.rank = static_cast<std::uint32_t>(self.ranks.size());
        end.arrivals.kind = roce::ArrivalKind::at_time;
        end.arrivals.depth = 0;
        end.requester.messages = roce::CollectiveRank::max_ahead;
        return end;
    }

    void add_collective(std::uint32_t id, const CollectivePlan& collective) {
        const auto count = static_cast<std::uint32_t>(collective.hosts.size());
        std::vector<roce::RankSettings> ranks(count);
        const auto queue_pairs = [&](std::uint32_t rank) {
            return static_cast<std::uint32_t>(specs_.at(collective.hosts[rank]).queue_pairs.size()) -
                   ranks[rank].first_qp;
        };
        for (std::uint32_t rank = 0; rank < count; ++rank) {
            ranks[rank].collective = collective.settings;
            ranks[rank].id = id;
            ranks[rank].rank = rank;
            ranks[rank].first_qp = queue_pairs(rank);
            ranks[rank].peers.resize(count);
        }
        for (std::uint32_t rank = 0; rank < count; ++rank)
            for (const std::uint32_t peer : roce::CollectiveRounds(collective.settings, rank).receivers()) {
                ranks[rank].peers[peer].to = queue_pairs(rank);
                ranks[peer].peers[rank].from = queue_pairs(peer);
                add_pair(collective.flow, collective.hosts[rank], collective.hosts[peer], true);
            }
        for (std::uint32_t rank = 0; rank < count; ++rank) {
            ranks[rank].queue_pairs = queue_pairs(rank);
            specs_.at(collective.hosts[rank]).ranks.push_back(std::move(ranks[rank]));
        }
    }

    void add_pair(std::uint32_t id, const std::string& from_name, const std::string& to_name,
                  bool in_collective) {
        const HostPlace& from_place = places_.at(from_name);
        const HostPlace& to_place = places_.at(to_name);
        const HostConfig& from = *from_place.host;
        const HostConfig& to = *to_place.host;
        HostPortSpec& sender = specs_.at(from_name);
        HostPortSpec& receiver = specs_.at(to_name);
        const HostPath path = path_(flows_[id], from_name, to_name);
        const auto flow_at = [&](HostPortSpec& self, const HostPlace& place) {
            roce::FlowSettings end = end_of(id, from_place, to_place, place, path);
            return local_flow(self, in_collective ? of_collective(std::move(end), self) : std::move(end));
        };
        const std::uint32_t at_sender = flow_at(sender, from_place);
        const std::uint32_t at_receiver = flow_at(receiver, to_place);
        std::uint32_t& pairs = pairs_[{from.address, to.address}];
        for (std::uint32_t n = 0; n < flows_[id].qps; ++n, ++pairs) {
            const auto sender_qp = first_qp + static_cast<std::uint32_t>(sender.queue_pairs.size());
            const auto receiver_qp = first_qp + static_cast<std::uint32_t>(receiver.queue_pairs.size());
            const std::uint64_t identity =
                scramble(scrambled(scrambled(0, from.address), to.address) ^ pairs);
            sender.queue_pairs.push_back({at_sender, true, to.address, receiver_qp, identity});
            receiver.queue_pairs.push_back({at_receiver, false, from.address, sender_qp, identity});
        }
    }

    // Peers of one flow that are alike share its settings, and its figures.
    static std::uint32_t local_flow(HostPortSpec& host, roce::FlowSettings&& end) {
        const auto alike = [&](const roce::FlowSettings& other) {
            return other.id == end.id && other.requester.mtu == end.requester.mtu &&
                   other.requester.recovery == end.requester.recovery &&
                   other.requester.timeout == end.requester.timeout && other.path_rate == end.path_rate &&
                   other.path_delay == end.path_delay;
        };
        const auto found = std::find_if(host.flows.begin(), host.flows.end(), alike);
        const auto index = static_cast<std::uint32_t>(found - host.flows.begin());
        if (found == host.flows.end()) host.flows.push_back(std::move(end));
        return index;
    }

    static roce::Requester::Kind requester_kind(FlowKind kind) {
        switch (kind) {
            case FlowKind::send:
                return roce::Requester::Kind::send;
            case FlowKind::read:
                return roce::Requester::Kind::read;
            case FlowKind::write:
                break;
        }
        return roce::Requester::Kind::write;
    }

    const HostPlaces& places_;
    const std::vector<FlowConfig>& flows_;
    const HostPathOf& path_;
    std::map<std::string, HostPortSpec> specs_;
    std::map<std::pair<IpAddress, IpAddress>, std::uint32_t> pairs_;  // queue pairs so far
};

}  // namespace

roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line) {
    roce::ReactionParameters made = roce::ReactionParameters::of(host.cc, line);
    if (host.cc == roce::CongestionControl::none) return made;
    const auto take = [](auto& constant, const auto& configured) {
        constant = configured.value_or(constant);
    };
    take(made.min_rate, host.rate_min);
    take(made.additive, host.rate_ai);
    take(made.hyper, host.rate_hai);
    take(made.gain, host.gain);
    take(made.first_alpha, host.first_alpha);
    take(made.alpha_period, host.alpha_timer);
    take(made.increase_period, host.increase_timer);
    take(made.byte_counter, host.byte_counter);
    take(made.fast_recovery, host.fast_recovery);
    if (host.cc == roce::CongestionControl::dcqcn_timer) {
        take(made.decrease_period, host.decrease_timer);
        take(made.clamp_target, host.clamp_target);
    }
    return made;
}

roce::MessageSizes message_sizes(const MessageConfig& message) {
    switch (message.kind) {
        case MessageKind::web_search:
            return roce::MessageSizes::web_search();
        case MessageKind::hadoop:
            return roce::MessageSizes::facebook_hadoop();
        case MessageKind::ali_storage:
            return roce::MessageSizes::alibaba_storage();
        case MessageKind::uniform:
            break;
    }
    return roce::MessageSizes::uniform(message.min_bytes, message.max_bytes);
}

roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, Rate line) {
    roce::ArrivalParameters arrivals;
    arrivals.start = Time{static_cast<std::uint64_t>(flow.start.ps)};
    arrivals.spread = flow.spread;
    arrivals.depth = flow.depth.value_or(1);
    if (!flow.load) return arrivals;
    arrivals.kind = flow.on ? roce::ArrivalKind::on_off : roce::ArrivalKind::poisson;
    arrivals.on = flow.on.value_or(Duration{});
    arrivals.off = flow.off.value_or(Duration{});
    // The queue pairs share the load, so each has proportionally longer gaps between messages.
    const std::uint64_t shares = std::uint64_t{flow.qps} * flow.to.size();
    const std::uint32_t ppm =
        std::max<std::uint32_t>(1, flow.load->parts_per_billion / billionths_of_a_millionth);
    arrivals.mean_gap = roce::mean_gap(message_sizes(flow.message).mean_millibytes() * shares, line, ppm);
    return arrivals;
}

std::map<std::string, HostPortSpec> host_specs(const HostPlaces& places, const std::vector<FlowConfig>& flows,
                                               const HostPathOf& path,
                                               const std::vector<CollectivePlan>& collectives) {
    return HostSpecs(places, flows, path, collectives).take();
}

namespace {

// The path between hosts of a switch, or of a wire, which has no buffer.
HostPath path_within(const Config& config, const FlowConfig& flow, const HostConfig& from,
                     const HostConfig& to) {
    const PortConfig &a = config.ports.at(from.port), &b = config.ports.at(to.port);
    const auto [slow, fast] = std::minmax(a.speed, b.speed);
    const PacketLabel label = data_label(flow, flow.kind == FlowKind::read ? to : from);
    return {slow, fast, cable_delay(a) + cable_delay(b),
            is_on_wire(config, from.port) ? 0 : config.buffer_size_bytes,
            std::min(drain_rate(config, label, from.port, to.port),
                     drain_rate(config, label, to.port, from.port))};
}

}  // namespace

PacketLabel data_label(const FlowConfig& flow, const HostConfig& sender) {
    return {flow.dscp.value_or(sender.dscp), flow.pcp ? flow.pcp : sender.pcp};
}

Rate drain_rate(const Config& config, const PacketLabel& label, const std::string& in,
                const std::string& out) {
    const PortConfig &from = config.ports.at(in), &to = config.ports.at(out);
    const ClassId tc = class_of(class_map(map_of(config, from), from), label);
    const QueueConfig& queue = to.queue[map_of(config, to).tc_to_queue[tc]];
    Rate rate = to.speed;
    for (const Rate limit : {to.shaper, queue.max_rate})
        if (limit != Rate{}) rate = std::min(rate, limit);
    return rate;
}

std::map<std::string, HostPortSpec> host_port_specs(const Config& config, const EffectiveQos& qos) {
    HostPlaces places;
    for (const auto& [name, host] : config.hosts)
        places.emplace(name, HostPlace{&host, &config, &qos, host_mac(config, name), config.seed});
    const auto path = [&](const FlowConfig& flow, const std::string& from, const std::string& to) {
        return path_within(config, flow, config.hosts.at(from), config.hosts.at(to));
    };
    std::map<std::string, HostPortSpec> by_port;
    for (auto& [name, spec] : host_specs(places, config.flows, path))
        by_port.emplace(config.hosts.at(name).port, std::move(spec));
    return by_port;
}

Duration default_timeout(const HostPath& path, const HostConfig& from, const HostConfig& to) {
    constexpr Duration most = milliseconds(500);
    Rate slowest = path.drained;
    for (const HostConfig* end : {&from, &to})
        if (end->drain) slowest = std::min(slowest, *end->drain);
    const double drain_s =
        static_cast<double>(path.buffer_bytes) * 8 / static_cast<double>(slowest.bits_per_second);
    return std::clamp(Duration{static_cast<std::int64_t>(std::min(2 * drain_s, 1.0) * 1e6) * 1'000'000},
                      min_default_timeout, most);
}

std::string timeout_table(const std::vector<FlowConfig>& flows, const std::vector<std::string>& names,
                          const TimeoutOf& of) {
    std::string text;
    for (std::size_t n = 0; n < flows.size(); ++n) {
        Duration longest{};
        for (const std::string& from : flows[n].from)
            for (const std::string& to : flows[n].to) longest = std::max(longest, of(flows[n], from, to));
        if (text.empty()) text = fmt::format("\n{:<24}  {}\n", "flow", "time-out");
        text +=
            fmt::format("{:<24}  {}\n", names[n], time_text(static_cast<std::uint64_t>(longest.ps / 1000)));
    }
    return text;
}

std::string timeout_table(const Config& config) {
    return timeout_table(
        config.flows, flow_names(config),
        [&](const FlowConfig& flow, const std::string& from, const std::string& to) {
            const HostConfig &a = config.hosts.at(from), &b = config.hosts.at(to);
            return a.timeout.value_or(default_timeout(path_within(config, flow, a, b), a, b));
        });
}

roce::RecoverySettings path_recovery(const HostConfig& sender, const HostConfig& receiver) {
    roce::RecoverySettings made = receiver.recovery;
    if (sender.recovery.kind != made.kind) made.kind = roce::Recovery::go_back_n;
    return made;
}

std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b) { return std::min(a.mtu, b.mtu); }

}  // namespace sluice
