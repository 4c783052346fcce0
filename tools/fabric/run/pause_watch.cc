#include "tools/fabric/run/pause_watch.hh"

#include <algorithm>
#include <set>

#include "dataplane/path/port_context.hh"
#include "lib/class_mask.hh"
#include "lib/classify.hh"
#include "tools/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t most_flows_named = 16;
constexpr unsigned most_packets_read = 256;  // of a queue, for its flows

}  // namespace

PauseWatch::PauseWatch(const FabricPlan& plan, std::vector<Switch*> devices)
    : plan_(plan), devices_(std::move(devices)), ports_(devices_.size()) {
    for (std::uint32_t device = 0; device < devices_.size(); ++device) {
        const Config& config = plan.switches[device].config;
        ports_[device].resize(config.ports.size());
        for (const auto& [name, host] : config.hosts) hosts_[host.address] = name;
    }
    for (const Link& link : plan.topology.links)
        for (unsigned end = 0; end < 2; ++end) {
            const LinkEnd& self = link.ends[end];
            const LinkEnd& other = link.ends[1 - end];
            if (plan.topology.nodes[self.node].is_host) continue;
            Peer& peer = ports_[plan.switch_of[self.node]][plan.port_id(self)].peer;
            peer = {other.node, PauseRecord::none, 0};
            if (plan.topology.nodes[other.node].is_host) continue;
            peer.device = static_cast<std::uint32_t>(plan.switch_of[other.node]);
            peer.port = plan.port_id(other);
        }
}

std::uint8_t PauseWatch::held_queues(std::uint32_t device, PortId id, Time now) const {
    const PortContext& port = devices_[device]->port(id);
    if (port.honor.held() == 0) return 0;
    return map_classes(devices_[device]->policy().ports[id].map.pfc_priority_to_queue,
                       port.honor.paused(now));
}

void PauseWatch::look(std::span<const std::uint32_t> ran, Time now) {
    bool began = false;
    for (const std::uint32_t device : ran)
        for (PortId id = 0; id < ports_[device].size(); ++id) {
            PortState& state = ports_[device][id];
            const PortContext& port = devices_[device]->port(id);
            if ((port.groups_in_use | state.paused) != 0) {
                std::uint8_t paused = 0;
                for_each_class(port.groups_in_use, [&](ClassId n) {
                    if (port.group[n].in_xoff()) paused = static_cast<std::uint8_t>(paused | 1U << n);
                });
                if (paused != state.paused) {
                    for_each_class(state.paused & ~paused, [&](ClassId n) { end(device, id, n, now); });
                    for_each_class(paused & ~state.paused, [&](ClassId n) { begin(device, id, n, now); });
                    began = began || (paused & ~state.paused) != 0;
                    state.paused = paused;
                }
            }
            const std::uint8_t held = held_queues(device, id, now);
            began = began || (held & ~state.held) != 0;
            state.held = held;
        }
    if (!began) return;
    for (const std::uint32_t device : ran)
        for (PortId id = 0; id < ports_[device].size(); ++id)
            for_each_class(ports_[device][id].paused,
                           [&](ClassId n) { find_cycle(ports_[device][id].open[n], now); });
}

PauseWatch::Filled PauseWatch::fullest_queue(std::uint32_t device, PortId port, ClassId priority) const {
    const Switch& self = *devices_[device];
    Filled best;
    std::uint32_t all = 0;
    for (PortId egress = 0; egress < self.port_count(); ++egress)
        for_each_class(self.port(egress).backlog, [&](ClassId queue) {
            std::uint32_t cells = 0;
            self.port(egress).queue[queue].packets.for_each([&](const QueueEntry& entry) {
                if (entry.ingress_port() == port && entry.priority_group() == priority)
                    cells += entry.cells();
                return true;
            });
            all += cells;
            if (cells > best.cells) best = {egress, queue, cells, 0};
        });
    best.all = all;
    return best;
}

std::uint32_t PauseWatch::holder(std::uint32_t device, PortId port, ClassId queue) const {
    const PortState& state = ports_[device][port];
    if ((state.held >> queue & 1U) == 0 || state.peer.device == PauseRecord::none) return PauseRecord::none;
    const auto& map = devices_[device]->policy().ports[port].map.pfc_priority_to_queue;
    const PortState& other = ports_[state.peer.device][state.peer.port];
    for (ClassId n = 0; n < classes; ++n)
        if (map[n] == queue && (other.paused >> n & 1U) != 0) return other.open[n];
    return PauseRecord::none;
}

void PauseWatch::begin(std::uint32_t device, PortId port, ClassId priority, Time now) {
    PortState& state = ports_[device][port];
    state.open[priority] = PauseRecord::none;
    if (pauses_.size() >= most_records) {
        ++left_out_;
        return;
    }
    PauseRecord made{device, port, priority, now};
    const Filled filled = fullest_queue(device, port, priority);
    made.egress_port = filled.port;
    made.egress_queue = filled.queue;
    made.queue_cells = filled.cells;
    made.cells = filled.all;
    made.parent = holder(device, filled.port, filled.queue);
    made.slow_host = ports_[device][filled.port].peer.device == PauseRecord::none &&
                     (held_queues(device, filled.port, now) >> filled.queue & 1U) != 0;
    state.open[priority] = static_cast<std::uint32_t>(pauses_.size());
    pauses_.push_back(made);
}

void PauseWatch::end(std::uint32_t device, PortId port, ClassId priority, Time now) {
    const std::uint32_t open = ports_[device][port].open[priority];
    if (open == PauseRecord::none) return;
    pauses_[open].until = now;
    for (PauseCycle& cycle : cycles_)
        if (!cycle.dissolved &&
            std::find(cycle.pauses.begin(), cycle.pauses.end(), open) != cycle.pauses.end())
            cycle.dissolved = now;
}

// From pause to the pause that its fullest queue waits for, as they are now.
void PauseWatch::find_cycle(std::uint32_t from, Time now) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = from; at != PauseRecord::none;) {
        const auto seen = std::find(way.begin(), way.end(), at);
        if (seen != way.end()) {
            way.erase(way.begin(), seen);
            // Each cycle once, from its earliest pause.
            std::rotate(way.begin(), std::min_element(way.begin(), way.end()), way.end());
            const bool known = std::any_of(cycles_.begin(), cycles_.end(), [&](const PauseCycle& cycle) {
                return !cycle.dissolved && cycle.pauses == way;
            });
            if (known || cycles_.size() >= most_cycles) return;
            cycles_.push_back({now, {}, way, way.front(), flows_of(way)});
            on_cycle(cycles_.back());
            return;
        }
        way.push_back(at);
        const PauseRecord& pause = pauses_[at];
        const Filled filled = fullest_queue(pause.device, pause.port, pause.priority);
        at = filled.cells == 0 ? PauseRecord::none : holder(pause.device, filled.port, filled.queue);
    }
}

std::vector<std::string> PauseWatch::flows_of(const std::vector<std::uint32_t>& pauses) const {
    std::set<std::string> flows;
    for (const std::uint32_t each : pauses) {
        const PauseRecord& pause = pauses_[each];
        const Filled filled = fullest_queue(pause.device, pause.port, pause.priority);
        unsigned left = most_packets_read;
        const PortContext& port = devices_[pause.device]->port(filled.port);
        port.queue[filled.queue].packets.for_each([&](const QueueEntry& entry) {
            auto* packet = static_cast<Packet*>(entry.packet());
            const std::uint8_t* l3 = frame_bytes(packet) + meta(packet).l3_offset;
            const bool v6 = (l3[0] >> 4) == 6;
            const auto from = hosts_.find(source_of(v6, l3)), to = hosts_.find(destination_of(v6, l3));
            if (from != hosts_.end() && to != hosts_.end()) flows.insert(from->second + " > " + to->second);
            return --left != 0 && flows.size() < most_flows_named;
        });
    }
    return {flows.begin(), flows.end()};
}

std::uint32_t PauseWatch::root(std::uint32_t pause) const {
    // A parent began before, so this ends.
    while (pauses_[pause].parent != PauseRecord::none) pause = pauses_[pause].parent;
    return pause;
}

}  // namespace sluice::fabric
