#include "control/config/compile/hosts.hh"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "control/config/schema/hosts.hh"
#include "control/config/text/quantity_text.hh"
#include "lib/values/rng.hh"

namespace sluice {
namespace {

constexpr std::uint32_t first_qp = 0x100;
constexpr std::uint32_t open_loop_messages = 64;  // that a queue pair has posted; more wait for room
constexpr std::uint32_t listed_messages = 2;      // the same of a listed flow: one, or parts of it

std::uint64_t scrambled(std::uint64_t sum, const IpAddress& address) {
    for (const std::uint8_t byte : address.bytes) sum = scramble(sum ^ byte);
    return sum;
}

roce::Marking marking(const Config& config, const PortConfig& port, const PacketLabel& label, Ecn ecn) {
    const ClassMap map = class_map(map_of(config, port), port);
    roce::Marking made{
        static_cast<std::uint8_t>(label.dscp), map.tc_to_priority_group[class_of(map, label)], ecn, {}};
    if (label.pcp) made.vlan_tci = static_cast<std::uint16_t>(*label.pcp << 13);
    return made;
}

// The MAC that a host sends to: its port's, `at` among all, or on a wire that of the host at the other end.
MacAddress next_mac(const Config& config, const std::string& name, auto at) {
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
              const std::vector<CollectivePlan>& collectives, const std::vector<ListPlan>& lists,
              const std::vector<SchedulePlan>& schedules)
        : places_(places), flows_(flows), path_(path) {
        for (const auto& [name, place] : places) specs_.emplace(name, spec_of(place));
        for (std::uint32_t id = 0; id < flows.size(); ++id)
            for (const std::string& from : flows[id].from) {
                const std::size_t receivers = FlowConfig::others(flows[id].to, from);
                for (const std::string& to : flows[id].to)
                    if (from != to) add_pair(id, flows[id], from, to, receivers, {});
            }
        for (std::uint32_t id = 0; id < collectives.size(); ++id) add_collective(id, collectives[id]);
        for (std::uint32_t id = 0; id < schedules.size(); ++id) add_schedule(id, schedules[id]);
        for (const ListPlan& list : lists) add_list(list);
    }
    std::map<std::string, HostPortSpec> take() {
        for (auto& [name, lists] : transfers_) {
            std::ranges::sort(lists.made.order);
            std::ranges::sort(lists.made.elsewhere);
            specs_.at(name).transfers = std::make_shared<roce::TransferList>(std::move(lists.made));
        }
        return std::move(specs_);
    }

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
        spec.nic.ack = marking(config, port, {ack_dscp(host), host.pcp}, host.ecn);
        spec.nic.cnp = marking(config, port, {host.cnp_dscp, {}, true}, Ecn::not_ect);
        spec.nic.cnp_interval = host.cnp_interval;
        spec.nic.cnp_scope = host.cnp_scope;
        spec.nic.port_of_qp = host.port_of_qp;
        spec.nic.echo_ce = host.echo_ce;
        spec.nic.ignore_cnp = host.ignore_cnp;
        spec.nic.trim_marks = host.trim_marks;
        spec.nic.rnr_chance = (std::uint64_t{host.rnr_chance.parts_per_billion} << 32) / Chance::always;
        spec.nic.rnr_timer = roce::rnr_syndrome(host.rnr_timer);
        return spec;
    }

    // The settings of a flow at its end `self`; its requester sends to so many receivers.
    static roce::FlowSettings end_of(std::uint32_t id, const FlowConfig& flow, std::size_t receivers,
                                     const HostPlace& from_place, const HostPlace& to_place,
                                     const HostPlace& self_place, const HostPath& path) {
        const HostConfig& from = *from_place.host;
        const HostConfig& to = *to_place.host;
        const HostConfig& self = *self_place.host;
        const HostPlace& sender_place = flow.kind == FlowKind::read ? to_place : from_place;
        const HostConfig& sender = *sender_place.host;
        roce::FlowSettings end;
        end.id = id;
        end.kind = requester_kind(flow.kind);
        end.sizes = message_sizes(flow.message);
        end.arrivals = arrival_parameters(flow, receivers, port_of(sender_place).speed);
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
        end.path = path.links;
        return end;
    }

    static roce::FlowSettings posted_by(roce::FlowSettings end, roce::Poster::Kind kind) {
        end.arrivals.kind = roce::ArrivalKind::at_time;
        end.arrivals.depth = 0;
        end.responder.keeps_keys = kind == roce::Poster::Kind::program;
        end.requester.messages =
            end.responder.keeps_keys ? roce::ProgramRank::max_ahead : roce::CollectiveRank::max_ahead;
        return end;
    }
    // The rank or program that `self` will get next.
    static std::optional<roce::Poster> next_poster(std::optional<roce::Poster::Kind> kind,
                                                   const HostPortSpec& self) {
        if (!kind) return {};
        const bool is_rank = kind == roce::Poster::Kind::rank;
        const std::size_t index = is_rank ? self.ranks.size() : self.programs.size();
        return roce::Poster{*kind, static_cast<std::uint32_t>(index)};
    }

    void add_collective(std::uint32_t id, const CollectivePlan& collective) {
        std::vector<roce::RankSettings> ranks = roce::connect_ranks(
            collective.settings, id, [&](std::uint32_t from, std::uint32_t to, bool is_control) {
                const std::string& sender = collective.hosts[from];
                const std::uint32_t flow = is_control ? *collective.control_flow : collective.flow;
                FlowConfig own = flows_[flow];
                if (is_control && collective.control_class)
                    own.dscp = class_dscp(sender, *collective.control_class);
                return add_pair(flow, own, sender, collective.hosts[to], 1, roce::Poster::Kind::rank);
            });
        for (std::size_t rank = 0; rank < ranks.size(); ++rank)
            specs_.at(collective.hosts[rank]).ranks.push_back(std::move(ranks[rank]));
    }

    // The messages of the schedule first, so that a rank's lines follow each other.
    void add_schedule(std::uint32_t id, const SchedulePlan& schedule) {
        std::vector<roce::ProgramSettings> programs(schedule.hosts.size());
        for (std::uint32_t rank = 0; rank < programs.size(); ++rank) {
            const HostConfig& host = *places_.at(schedule.hosts[rank]).host;
            programs[rank] = {.programs = schedule.programs,
                              .id = id,
                              .rank = rank,
                              .start = Time{} + schedule.start,
                              .costs = {host.send_overhead, host.gap, host.per_byte},
                              .eager_bytes = schedule.eager_bytes};
        }
        const auto add_line = [&](std::uint32_t rank, std::uint32_t peer, roce::QpIndex qp, bool sends) {
            roce::ProgramSettings& own = programs[rank];
            if (own.lines.empty()) own.first_qp = qp;
            own.lines.push_back({peer, sends});
        };
        for (const auto& [from, to] : pairs_of(schedule)) {
            const roce::LineEnds ends =
                add_pair(schedule.flow, flow_from(schedule, schedule.hosts[from], 1), schedule.hosts[from],
                         schedule.hosts[to], 1, roce::Poster::Kind::program);
            add_line(from, to, ends.sender, true);
            add_line(to, from, ends.receiver, false);
        }
        for (std::uint32_t n = 0; n < schedule.groups.size(); ++n)
            add_group(schedule, schedule.groups[n], schedule.first_group + n, programs);
        for (std::uint32_t rank = 0; rank < programs.size(); ++rank)
            specs_.at(schedule.hosts[rank]).programs.push_back(std::move(programs[rank]));
    }

    FlowConfig flow_from(const SchedulePlan& schedule, const std::string& sender, std::uint32_t qps) const {
        FlowConfig own = flows_[schedule.flow];
        own.qps = qps;
        if (schedule.traffic_class) own.dscp = class_dscp(sender, *schedule.traffic_class);
        return own;
    }

    void add_group(const SchedulePlan& schedule, const SchedulePlan::Group& group, std::uint32_t id,
                   std::vector<roce::ProgramSettings>& programs) {
        const auto host_of = [&](std::uint32_t rank) { return schedule.hosts[group.ranks[rank]]; };
        std::vector<roce::RankSettings> ranks =
            roce::connect_ranks(group.settings, id, [&](std::uint32_t from, std::uint32_t to, bool) {
                return add_pair(schedule.flow, flow_from(schedule, host_of(from), group.settings.queue_pairs),
                                host_of(from), host_of(to), 1, roce::Poster::Kind::rank);
            });
        for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
            HostPortSpec& spec = specs_.at(host_of(rank));
            ranks[rank].program = static_cast<std::uint32_t>(spec.programs.size());
            ranks[rank].sizes = group.sizes;
            programs[group.ranks[rank]].collectives.push_back(
                {group.communication, static_cast<std::uint32_t>(spec.ranks.size())});
            spec.ranks.push_back(std::move(ranks[rank]));
        }
    }

    std::optional<std::uint8_t> class_dscp(const std::string& sender, ClassId tc) const {
        const HostPlace& place = places_.at(sender);
        return dscp_of_class(*place.config, *place.host, tc);
    }

    // Returns the first queue pair at each end, counted among those of its host.
    roce::LineEnds add_pair(std::uint32_t id, const FlowConfig& flow, const std::string& from_name,
                            const std::string& to_name, std::size_t receivers,
                            std::optional<roce::Poster::Kind> poster) {
        const HostPlace& from_place = places_.at(from_name);
        const HostPlace& to_place = places_.at(to_name);
        const HostConfig& from = *from_place.host;
        const HostConfig& to = *to_place.host;
        HostPortSpec& sender = specs_.at(from_name);
        HostPortSpec& receiver = specs_.at(to_name);
        const HostPath path = path_(flow, from_name, to_name);
        const auto flow_at = [&](HostPortSpec& self, const HostPlace& place) {
            roce::FlowSettings end = end_of(id, flow, receivers, from_place, to_place, place, path);
            return local_flow(self, poster ? posted_by(std::move(end), *poster) : std::move(end));
        };
        const std::uint32_t at_sender = flow_at(sender, from_place);
        const std::uint32_t at_receiver = flow_at(receiver, to_place);
        const roce::LineEnds first{static_cast<std::uint32_t>(sender.queue_pairs.size()),
                                   static_cast<std::uint32_t>(receiver.queue_pairs.size())};
        std::uint32_t& pairs = pairs_[{from.address, to.address}];
        for (std::uint32_t n = 0; n < flow.qps; ++n, ++pairs) {
            const std::uint64_t identity =
                scramble(scrambled(scrambled(0, from.address), to.address) ^ pairs);
            sender.queue_pairs.push_back({at_sender, true, to.address, first_qp + first.receiver + n,
                                          identity, next_poster(poster, sender)});
            receiver.queue_pairs.push_back({at_receiver, false, from.address, first_qp + first.sender + n,
                                            identity, next_poster(poster, receiver)});
        }
        return first;
    }

    // The transfers of a host while they are made.
    struct HostTransfers {
        HostPortSpec* spec = nullptr;
        roce::TransferList made;
        std::map<std::string, std::uint32_t> peers;

        std::uint32_t peer(const std::string& name, const IpAddress& address) {
            const auto [at, is_new] = peers.try_emplace(name, static_cast<std::uint32_t>(made.peers.size()));
            if (is_new) made.peers.push_back(address);
            return at->second;
        }
        std::uint32_t next() const { return static_cast<std::uint32_t>(made.transfers.size()); }
        std::uint32_t next_qp() const {
            return first_qp + static_cast<std::uint32_t>(spec->queue_pairs.size()) + next();
        }
    };
    // The ends of the flows between two hosts in one class.
    struct ListedPair {
        std::uint32_t at_sender, at_receiver;  // flows of the two hosts
        std::uint32_t receiver, sender;        // peers of the two
    };

    void add_list(const ListPlan& list) {
        std::vector<HostTransfers*> hosts;
        for (const std::string& name : list.hosts) {
            HostTransfers& host = transfers_[name];
            host.spec = &specs_.at(name);
            hosts.push_back(&host);
        }
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, ListedPair> pairs;
        // By flow of the list, the first of its transfers at the two hosts.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> first;
        first.reserve(list.flows.size());
        auto join = list.joins.begin();
        for (const ListedFlow& flow : list.flows) {
            HostTransfers &sender = *hosts[flow.from], &receiver = *hosts[flow.to];
            const auto [found, is_new] = pairs.try_emplace({flow.from, flow.to, flow.tc});
            if (is_new) found->second = add_listed_pair(list, flow, sender, receiver);
            const ListedPair& pair = found->second;
            const auto message = static_cast<std::uint32_t>(first.size());
            first.emplace_back(sender.next(), receiver.next());
            std::uint32_t waits = flow.after == ListedFlow::none ? 0 : list.flows[flow.after].qps;
            for (; join != list.joins.end() && join->first == message; ++join)
                waits += list.flows[join->second].qps;
            for (std::uint64_t n = 0; n < flow.qps; ++n) {
                const std::uint64_t bytes = flow.bytes * (n + 1) / flow.qps - flow.bytes * n / flow.qps;
                const std::uint32_t sender_qp = sender.next_qp(), receiver_qp = receiver.next_qp();
                sender.made.transfers.push_back({bytes, Time{} + flow.start, message, pair.receiver,
                                                 receiver_qp, pair.at_sender, waits, true});
                receiver.made.transfers.push_back(
                    {bytes, Time{}, message, pair.sender, sender_qp, pair.at_receiver, 0, false});
            }
        }
        for (std::uint32_t n = 0; n < list.flows.size(); ++n)
            if (list.flows[n].after != ListedFlow::none)
                add_order(list, n, list.flows[n].after, first, hosts);
        for (const auto& [n, before] : list.joins) add_order(list, n, before, first, hosts);
    }

    // The transfers of a flow wait for those of the flow before it: at the host where both are known, else
    // its sender is told.
    static void add_order(const ListPlan& list, std::uint32_t n, std::uint32_t flow_before,
                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& first,
                          const std::vector<HostTransfers*>& hosts) {
        const ListedFlow& flow = list.flows[n];
        const ListedFlow& before = list.flows[flow_before];
        const auto [sent, received] = first[flow_before];
        const bool is_third = flow.from != before.from && flow.from != before.to;
        const std::uint32_t from = flow.from == before.to ? received : sent;
        for (std::uint32_t earlier = 0; earlier < before.qps; ++earlier)
            for (std::uint32_t later = 0; later < flow.qps; ++later)
                if (is_third)
                    hosts[before.from]->made.elsewhere.push_back(
                        {from + earlier, flow.from, first[n].first + later});
                else
                    hosts[flow.from]->made.order.emplace_back(from + earlier, first[n].first + later);
    }

    ListedPair add_listed_pair(const ListPlan& list, const ListedFlow& flow, HostTransfers& sender,
                               HostTransfers& receiver) {
        const std::string &from = list.hosts[flow.from], &to = list.hosts[flow.to];
        const HostPlace &sender_place = places_.at(from), &receiver_place = places_.at(to);
        FlowConfig own = flows_[list.flow];
        if (flow.tc != ListedFlow::by_default) own.dscp = class_dscp(from, flow.tc);
        const HostPath path = path_(own, from, to);
        const auto end = [&](const HostPlace& self) {
            roce::FlowSettings made = end_of(list.flow, own, 1, sender_place, receiver_place, self, path);
            made.arrivals.kind = roce::ArrivalKind::at_time;
            made.arrivals.depth = 0;
            made.requester.messages = listed_messages;
            return made;
        };
        return {local_flow(*sender.spec, end(sender_place)), local_flow(*receiver.spec, end(receiver_place)),
                sender.peer(to, receiver_place.host->address),
                receiver.peer(from, sender_place.host->address)};
    }

    // Peers of one flow that are alike share its settings, and its figures.
    static std::uint32_t local_flow(HostPortSpec& host, roce::FlowSettings&& end) {
        const auto alike = [&](const roce::FlowSettings& other) {
            return other.id == end.id && other.requester.mtu == end.requester.mtu &&
                   other.requester.recovery == end.requester.recovery &&
                   other.requester.timeout == end.requester.timeout && other.path == end.path &&
                   other.arrivals.mean_gap == end.arrivals.mean_gap && other.data.dscp == end.data.dscp &&
                   other.responder.keeps_keys == end.responder.keeps_keys;
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
    std::map<std::string, HostTransfers> transfers_;                  // by host
};

}  // namespace

std::map<std::string, HostPortSpec> host_specs(const HostPlaces& places, const std::vector<FlowConfig>& flows,
                                               const HostPathOf& path,
                                               const std::vector<CollectivePlan>& collectives,
                                               const std::vector<ListPlan>& lists,
                                               const std::vector<SchedulePlan>& schedules) {
    return HostSpecs(places, flows, path, collectives, lists, schedules).take();
}

namespace {

// The path between hosts of a switch, or of a wire, which has no buffer.
HostPath path_within(const Config& config, const FlowConfig& flow, const HostConfig& from,
                     const HostConfig& to) {
    const PortConfig &a = config.ports.at(from.port), &b = config.ports.at(to.port);
    const PacketLabel label = data_label(flow, flow.kind == FlowKind::read ? to : from);
    return {{{a.speed.byte_time(), cable_delay(a)}, {b.speed.byte_time(), cable_delay(b)}},
            is_on_wire(config, from.port) ? 0 : config.buffer_size_bytes,
            std::min(drain_rate(config, label, from.port, to.port),
                     drain_rate(config, label, to.port, from.port))};
}

}  // namespace

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

std::string timeout_table(const Config& config) {
    return timeout_table(
        config.flows, flow_names(config),
        [&](const FlowConfig& flow, const std::string& from, const std::string& to) {
            const HostConfig &a = config.hosts.at(from), &b = config.hosts.at(to);
            return a.timeout.value_or(default_timeout(path_within(config, flow, a, b), a, b));
        });
}

}  // namespace sluice
