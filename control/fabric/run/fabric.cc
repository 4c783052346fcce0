#include "control/fabric/run/fabric.hh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/compile/compile.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/run/pause_words.hh"

namespace sluice::fabric {
namespace {

// Free packet buffers that a window begins with: for the frames that hosts start and switches make in it.
constexpr std::size_t min_free = 4096;
constexpr std::size_t packets_a_port = 32;  // PFC frames, and those of a fault

Duration turn_of(const FabricPlan& plan) { return plan.switches.front().config.virtual_turn; }

}  // namespace

LinkPort* FabricPorts::link(const std::string& port) const { return ends_[ids_.at(port)]; }

void FabricPorts::detect(const std::string& port, bool up) {
    const PortId id = ids_.at(port);
    ends_[id]->detect(up);
    running_->watch().note_link(id);
}

tl::expected<std::unique_ptr<Port>, std::string> FabricPorts::open(const std::string& name,
                                                                   const PortConfig& port,
                                                                   const Config& config, rte_mempool* pool) {
    ids_[name] = static_cast<PortId>(ends_.size());
    if (hosts_.has(name)) {
        ends_.push_back(nullptr);
        return hosts_.open(name, port, pool, timeline());
    }
    const auto obeys = peer_delay(port);
    LinkSpec spec{cable_delay(port), obeys ? obeys->reaction : Duration{}, port.speed,
                  config.virtual_ring_frames};
    spec.at_end = true;
    auto end = std::make_unique<LinkPort>(spec);
    ends_.push_back(end.get());
    return end;
}

tl::expected<std::unique_ptr<Fabric>, std::string> Fabric::create(const FabricPlan& plan,
                                                                  const Options& options) {
    std::unique_ptr<Fabric> made(new Fabric(plan));
    if (std::string error = made->open(options); !error.empty()) return tl::unexpected(std::move(error));
    return made;
}

Fabric::~Fabric() {
    for (FabricSwitch& each : switches_)
        if (each.running) each.running->device().empty();
}

std::string Fabric::open(const Options& options) {
    const auto packets = static_cast<unsigned>(packets_of(plan_, options.threads));
    LoopWindows windows = windows_of(plan_, options.threads);
    const Duration window = std::max(turn_of(plan_), windows.length);
    std::size_t wanted = min_free + std::size_t{options.threads} * packet_cache;
    for (const SwitchPlan& each : plan_.switches) {
        wanted += packets_a_port * each.config.ports.size();
        for (const auto& [name, host] : each.config.hosts)
            wanted += static_cast<std::size_t>(
                window.ps / (each.config.ports.at(host.port).speed.byte_time().ps * wire_bytes(60)));
    }
    free_packets_ = static_cast<unsigned>(wanted);
    pool_ =
        std::make_unique<PacketPool>("fabric", PacketPool::Growing{packets, std::min(packets, free_packets_)},
                                     packet_cache, packet_bytes_of(plan_));
    if (pool_->pool() == nullptr)
        return fmt::format("no memory for {} packet buffers ({} MB); do: make buffers smaller", packets,
                           packets * PacketPool::bytes_each(packet_bytes_of(plan_)) >> 20);
    auto specs = plan_.host_specs();
    switches_.resize(plan_.switches.size());
    if (plan_.file.routing.remote_quality) qualities_.emplace(plan_, *plan_.file.routing.remote_quality);
    std::vector<RunningSwitch*> running;
    for (std::size_t n = 0; n < switches_.size(); ++n) {
        options.stage("start of switches", n, switches_.size());
        const SwitchPlan& plan = plan_.switches[n];
        FabricSwitch& made = switches_[n];
        made.plan = &plan;
        std::map<std::string, HostPortSpec> of_ports;
        for (const auto& [name, host] : plan.config.hosts)
            of_ports.emplace(host.port, std::move(specs.at(name)));
        made.ports = std::make_unique<FabricPorts>(std::move(of_ports), plan.config.hosts);
        RunningOptions running_options;
        running_options.name = plan.name;
        running_options.identity = static_cast<std::uint32_t>(n);
        running_options.pool = pool_->pool();
        running_options.forced = plan.forced;
        if (qualities_) running_options.remote = qualities_->board(n);
        auto opened = RunningSwitch::create(plan.config, running_options, *made.ports);
        if (!opened) return fmt::format("switch {}: {}", plan.name, opened.error());
        made.running = std::move(*opened);
        made.api = std::make_unique<Api>(
            *made.running,
            Api::Options{.config_file = {}, .overrides = {}, .interactive = options.interactive});
        running.push_back(made.running.get());
    }
    if (qualities_) qualities_->join(running);
    loop_ = std::make_unique<VirtualLoop>(std::move(running), turn_of(plan_), windows);
    if (qualities_) loop_->every(qualities_->interval(), [this](Time now) { qualities_->tell(now); });
    for (LinkId link = 0; link < cables_.size(); ++link) {
        const auto [one, other] = ends(link);
        if (one == nullptr) continue;
        LinkPort::join(*one, *other);
        if (windows.length.ps == 0) continue;
        const auto& nodes = plan_.topology.links[link].ends;
        const std::size_t here = plan_.switch_of[nodes[0].node], there = plan_.switch_of[nodes[1].node];
        one->send_through(&loop_->outbox_between(here, there));
        other->send_through(&loop_->outbox_between(there, here));
    }
    find_awaited();
    down_.resize(plan_.topology.nodes.size());
    routes_ = routes_without(plan_, {});
    std::vector<Switch*> devices;
    for (FabricSwitch& each : switches_) devices.push_back(&each.running->device());
    pauses_ = std::make_unique<PauseWatch>(plan_, std::move(devices));
    pauses_->on_cycle = [this](const PauseCycle& cycle) {
        note(cycle.at, "wait_for_cycle", cycle_text(plan_, *pauses_, cycle));
    };
    loop_->on_instant([this](std::uint32_t number) {
        pauses_->log_changes(number);
        if (look_at_) look_at_(number);
    });
    loop_->on_window([this] { after_window(); });
    return {};
}

// Hosts whose transfers or ranks are awaited elsewhere.
void Fabric::find_awaited() {
    awaited_.resize(switches_.size());
    bool any = false;
    for (std::size_t n = 0; n < switches_.size(); ++n)
        for (const auto& [name, host] : switches_[n].plan->config.hosts) {
            HostPort* port = switches_[n].ports->simulated(name);
            const roce::TransferList* list = port->nic().transfers().list();
            const bool has_server = std::ranges::any_of(port->nic().ranks(), [](const auto& rank) {
                return rank.settings().collective.is_hierarchical();
            });
            if ((list == nullptr || list->elsewhere.empty()) && !has_server) continue;
            awaited_[n].push_back(port);
            any = true;
        }
    if (!any) awaited_.clear();
}

// A host learns out of band that a transfer between two others has ended, or that another host of its server
// is there: after a time that no window exceeds, so that threads agree.
void Fabric::tell_others(HostPort& host) {
    const Duration notice = std::max(max_window, turn_of(plan_));
    for (const roce::Transfers::Told& told : host.told())
        loop_->actions().at(max(told.ended + notice, now()), [this, waits = told.waits] {
            simulated(plan_.hosts[waits.host]).release(waits.then, now());
        });
    host.told().clear();
    host.tell_arrivals([&](const roce::RankSettings& own, const roce::CollectiveRank::Arrival& arrival) {
        const std::uint32_t size = own.collective.group().stride, first = own.rank / size * size;
        for (std::uint32_t rank = first; rank < first + size; ++rank) {
            if (rank == own.rank) continue;
            const NodeId node = plan_.nodes.at(plan_.host_of(own.id, rank));
            loop_->actions().at(max(arrival.came + notice, now()), [this, node, id = own.id, arrival] {
                const std::string& name = plan_.topology.nodes[node].name;
                at(node).ports->simulated(name)->join_server(id, arrival, now());
            });
        }
    });
}

void Fabric::after_window() {
    if (!awaited_.empty())
        loop_->for_each_that_ran([this](std::uint32_t number) {
            for (HostPort* host : awaited_[number]) tell_others(*host);
        });
    loop_->for_each_that_ran([this](std::uint32_t number) { pauses_->gather(number); });
    pauses_->take_gathered();
    if (!pool_->keep_free(free_packets_) && !std::exchange(out_of_memory_, true))
        note("out_of_memory", "there is no memory for more packet buffers: hosts may lose what they send");
}

const HostPort& Fabric::host(NodeId node) const {
    return *switches_[plan_.switch_of[node]].ports->simulated(plan_.topology.nodes[node].name);
}

HostPort& Fabric::simulated(NodeId node) {
    return *at(node).ports->simulated(plan_.topology.nodes[node].name);
}

void Fabric::keep_results() {
    for (const NodeId host : plan_.hosts) simulated(host).keep_log();
}

std::vector<roce::MessageResult> Fabric::take_results(NodeId node) {
    return std::exchange(simulated(node).log()->ended, {});
}

std::vector<const HostPort*> Fabric::hosts() const {
    std::vector<const HostPort*> hosts;
    for (NodeId node = 0; node < plan_.topology.nodes.size(); ++node)
        if (plan_.topology.nodes[node].is_host) hosts.push_back(&host(node));
    return hosts;
}

std::array<LinkPort*, 2> Fabric::ends(LinkId link) const {
    std::array<LinkPort*, 2> found{};
    const auto& ends = plan_.topology.links[link].ends;
    if (!plan_.topology.joins_switches(plan_.topology.links[link])) return found;
    for (unsigned n = 0; n < 2; ++n)
        found[n] = switches_[plan_.switch_of[ends[n].node]].ports->link(ends[n].port);
    return found;
}

void Fabric::note(Time at, std::string kind, std::string text) {
    events_.push_back({at - Time{}, std::move(kind), std::move(text)});
}

void Fabric::move() {
    before_move_();
    moved_ = now();
}

// The state of a cable or of its ends has changed.
void Fabric::changed(LinkId id) {
    move();
    const Link& link = plan_.topology.links[id];
    const bool cut = is_cut(id);
    const auto both = ends(id);
    if (both[0] == nullptr) {
        const LinkEnd& leaf = plan_.topology.nodes[link.ends[0].node].is_host ? link.ends[1] : link.ends[0];
        const std::string error = at(leaf.node).running->set_port(leaf.port, !cut);
        if (!error.empty()) note("command_failed", error);
        return;
    }
    for (LinkPort* end : both) end->cut(cut);
    loop_->actions().at(loop_->now() + plan_.file.routing.detection, [this, id] { see(id); });
}

// Both ends see what the cable is now, which may be what it was.
void Fabric::see(LinkId id) {
    const Link& link = plan_.topology.links[id];
    const auto both = ends(id);
    const bool up = !is_cut(id);
    move();
    for (unsigned n = 0; n < 2; ++n)
        if (!down_[link.ends[n].node] && both[n]->link_up() != up)
            at(link.ends[n].node).ports->detect(link.ends[n].port, up);
    if (cables_[id].seen_down == !up) return;
    cables_[id].seen_down = !up;
    note(up ? "link_up" : "link_down", fmt::format("{} is seen {}", link.name, up ? "up" : "down"));
    loop_->actions().at(loop_->now() + plan_.file.routing.convergence, [this] { converge(); });
}

void Fabric::converge() {
    if (plan_.file.routing.policy == RoutingConfig::Policy::by_hand) return;
    std::vector<bool> links_down(cables_.size());
    for (LinkId id = 0; id < cables_.size(); ++id) links_down[id] = cables_[id].seen_down;
    auto routes = routes_without(plan_, links_down);
    move();
    std::size_t changes = 0;
    for (std::size_t n = 0; n < switches_.size(); ++n) {
        if (routes[n] == routes_[n]) continue;
        RunningSwitch& running = *switches_[n].running;
        Config config = running.config();
        for (const RouteConfig& old : routes_[n]) {
            RouteSet& all = config.routes.change();
            all.erase(all.find(old.prefix));
        }
        for (const RouteConfig& each : routes[n]) add(config, each);
        const RouteChanges change = route_changes(running.config(), config);
        if (change.empty()) continue;
        ++changes;
        if (const std::string error = running.change_routes(change); !error.empty())
            note("command_failed", fmt::format("routes of {}: {}", switches_[n].plan->name, error));
    }
    routes_ = std::move(routes);
    if (changes != 0) note("routes_changed", fmt::format("of {} of {} switches", changes, switches_.size()));
}

std::string Fabric::set_link(LinkId id, bool up) {
    if (cables_[id].cut == !up) return {};
    cables_[id].cut = !up;
    const bool was_dead = cables_[id].dead != 0;
    note(up ? "link_mended" : "link_cut", plan_.topology.links[id].name);
    if (!was_dead) changed(id);
    return {};
}

std::string Fabric::set_switch(NodeId node, bool up) {
    if (down_[node] == !up) return {};
    move();
    down_[node] = !up;
    note(up ? "switch_up" : "switch_down", plan_.topology.nodes[node].name);
    for (const LinkId id : plan_.topology.nodes[node].links) {
        up ? --cables_[id].dead : ++cables_[id].dead;
        changed(id);
        // Without power it sees nothing, and when it is back what is there.
        if (ends(id)[0] == nullptr) continue;
        const Link& link = plan_.topology.links[id];
        at(node).ports->detect(link.ends[link.end_at(node)].port, up && !is_cut(id));
    }
    return {};
}

void Fabric::follow_ports() {
    for (LinkId id = 0; id < cables_.size(); ++id) {
        if (ends(id)[0] == nullptr) continue;
        const auto& ends = plan_.topology.links[id].ends;
        const bool down = std::ranges::any_of(
            ends, [&](const LinkEnd& end) { return !at(end.node).running->is_up(end.port); });
        if (cables_[id].port_down == down) continue;
        cables_[id].port_down = down;
        changed(id);
    }
}

std::vector<std::string> Fabric::close() {
    std::vector<std::string> errors;
    // A port may still send what a fault has kept.
    for (LinkId link = 0; link < cables_.size(); ++link)
        for (LinkPort* end : ends(link))
            if (end != nullptr) end->send_through(nullptr);
    for (FabricSwitch& each : switches_)
        for (std::string& error : each.running->close())
            errors.push_back(fmt::format("switch {}: {}", each.plan->name, error));
    for (FabricSwitch& each : switches_) each.running->device().empty();
    if (const unsigned missing = pool_->in_use(); missing != 0)
        errors.push_back(fmt::format("internal error: {} packet buffers did not come back", missing));
    return errors;
}

}  // namespace sluice::fabric
