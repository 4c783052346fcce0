#include "control/fabric/run/quality_exchange.hh"

#include <algorithm>

#include "control/config/compile/compile.hh"
#include "dataplane/run/switch.hh"
#include "lib/route/port_load.hh"

namespace sluice::fabric {
namespace {

constexpr RemoteQuality::Bands all_stopped = [] {
    RemoteQuality::Bands bands{};
    bands.fill(LinkQuality::stopped);
    return bands;
}();

RemoteQuality::Bands bands_of(const Switch& device, PortId port, Time now) {
    if (!device.link_up(port)) return all_stopped;
    const auto& queues = device.policy().ports[port].map.tc_to_queue;
    RemoteQuality::Bands bands{};
    for (ClassId n = 0; n < classes; ++n) bands[n] = device.quality(port, queues[n], now).band();
    return bands;
}

// The ports of a group's next hops, each once.
std::vector<PortId> ports_of(const Policy& policy, std::uint32_t number) {
    const NextHopGroup& group = policy.next_hop_groups[number];
    std::vector<PortId> ports;
    if (group.drop != DropReason::none) return ports;
    if (group.members == 0) ports.push_back(policy.next_hops[policy.buckets[group.first_bucket]].port);
    for (const BalanceMember& member : policy.members.subspan(group.first_member, group.members))
        ports.push_back(policy.next_hops[member.next_hop].port);
    std::ranges::sort(ports);
    ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
    return ports;
}

}  // namespace

QualityExchange::QualityExchange(const FabricPlan& plan, Duration interval)
    : interval_(interval), tellers_(plan.switches.size()) {
    for (std::size_t n = 0; n < tellers_.size(); ++n) {
        const auto& ports = plan.switches[n].config.ports;
        std::vector<Duration> delays;
        for (const auto& [name, port] : ports) delays.push_back(cable_delay(port));
        tellers_[n].board = std::make_unique<RemoteQuality>(interval, delays);
        tellers_[n].behind.resize(ports.size());
    }
    for (const Link& link : plan.topology.links) {
        const auto& [one, other] = link.ends;
        if (!plan.topology.joins_switches(link)) continue;
        const std::size_t first = plan.switch_of[one.node], second = plan.switch_of[other.node];
        tellers_[first].behind[plan.port_id(one)] = second;
        tellers_[second].behind[plan.port_id(other)] = first;
    }
}

void QualityExchange::join(const std::vector<RunningSwitch*>& switches) {
    for (std::size_t n = 0; n < tellers_.size(); ++n) tellers_[n].running = switches[n];
}

std::vector<QualityExchange::Way> QualityExchange::ways_of(const RunningSwitch& running) {
    const Policy& policy = running.device().policy();
    std::vector<Way> ways;
    for (const Routes::Listed& route : running.routes().list())
        if (route.used && route.key != nullptr)
            ways.push_back({route.prefix, route.group, ports_of(policy, route.group)});
    return ways;
}

// What was told is by group: with other groups it says nothing.
bool QualityExchange::follow_routes() {
    bool changed = false;
    for (Teller& teller : tellers_) {
        const Switch& device = teller.running->device();
        if (device.generation() == teller.generation) continue;
        teller.generation = device.generation();
        auto ways = ways_of(*teller.running);
        if (ways == teller.ways) continue;
        teller.ways = std::move(ways);
        teller.board->reset(device.policy().next_hop_groups.size());
        changed = true;
    }
    return changed;
}

void QualityExchange::find_hearings() {
    const auto way_to = [](const Teller& teller, const IpPrefix& prefix) {
        const auto match = teller.running->routes().match(prefix.address);
        if (!match) return no_way;
        const auto way = std::ranges::lower_bound(teller.ways, match->prefix, {}, &Way::prefix);
        if (way == teller.ways.end() || way->prefix != match->prefix) return own_hosts;
        return static_cast<std::size_t>(way - teller.ways.begin());
    };
    hearings_.clear();
    for (std::size_t listener = 0; listener < tellers_.size(); ++listener)
        for (const Way& way : tellers_[listener].ways)
            for (const PortId port : way.ports)
                if (const auto teller = tellers_[listener].behind[port])
                    hearings_.push_back(
                        {listener, port, way.group, *teller, way_to(tellers_[*teller], way.prefix)});
}

void QualityExchange::measure(Teller& teller, Time now) {
    const Switch& device = teller.running->device();
    teller.own.assign(teller.behind.size(), {});
    for (PortId port = 0; port < teller.behind.size(); ++port)
        if (teller.behind[port]) teller.own[port] = bands_of(device, port, now);
    teller.worst.clear();
    for (const Way& way : teller.ways) {
        RemoteQuality::Bands worst = way.ports.empty() ? all_stopped : RemoteQuality::Bands{};
        for (const PortId port : way.ports) {
            take_worst(worst, teller.own[port]);
            take_worst(worst, teller.board->bands(port, way.group, now));
        }
        teller.worst.push_back(worst);
    }
}

void QualityExchange::tell(Time now) {
    if (follow_routes()) find_hearings();
    for (Teller& teller : tellers_) measure(teller, now);
    for (const Hearing& each : hearings_) {
        RemoteQuality::Bands bands{};
        if (each.way == no_way)
            bands = all_stopped;
        else if (each.way != own_hosts)
            bands = tellers_[each.teller].worst[each.way];
        tellers_[each.listener].board->tell(each.port, each.group, now, bands);
    }
}

}  // namespace sluice::fabric
