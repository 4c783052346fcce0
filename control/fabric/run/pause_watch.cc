#include "control/fabric/run/pause_watch.hh"

#include <algorithm>
#include <set>
#include <utility>

#include "control/fabric/plan/fabric_plan.hh"
#include "dataplane/ports/port_counters.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/frame/classify.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/queue/packet_queue.hh"
#include "lib/values/class_mask.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_flows_named = 16;
constexpr unsigned max_packets_read = 256;  // of a queue, for its flows

// A queue that was held and is held again before it has run free for this many times as long is limited by
// its holder, not by its link; one that is held less than a ninth of the time is limited by its link.
constexpr std::int64_t blame_factor = 8;
constexpr Duration max_blame = microseconds(200);

constexpr std::uint32_t not_open = UINT32_MAX;  // in PauseLog
constexpr std::uint32_t lead = 8;               // another queue leads by 1 / lead of the group

}  // namespace

PauseLog::PauseLog(Switch& device, std::uint32_t cell_bytes)
    : device_(device),
      cell_bytes_(cell_bytes),
      ports_(device.port_count()),
      open_at_(device.port_count() * classes, not_open) {}

std::uint8_t PauseLog::held_queues(PortId id, Time now) const {
    const PortView port = device_.view(id);
    if (port.honor().unexpired() == 0) return 0;
    return map_classes(device_.policy().ports[id].map.pfc_priority_to_queue, port.honor().paused(now));
}

void PauseLog::log(const InstantChanges& changes) {
    const Time now = changes.at;
    changes.pauses.for_each([&](PortId id) {
        const std::uint8_t held = held_queues(id, now);
        if (held == ports_[id].held) return;
        ports_[id].held = held;
        changes_.push_back({now, PauseChange::Kind::held, id, 0, held});
    });
    bool any_new = false;
    changes.pauses.for_each([&](PortId id) { any_new |= look_at(id, now); });
    if (any_new || (!open_.empty() && may_have_moved(changes.cells))) count(now);
}

bool PauseLog::look_at(PortId id, Time now) {
    const PortView port = device_.view(id);
    unsigned paused = 0;
    for_each_class(port.groups_in_use(), [&](ClassId n) {
        if (port.group(n).in_xoff()) paused |= 1U << n;
    });
    const unsigned was = ports_[id].paused;
    ports_[id].paused = static_cast<std::uint8_t>(paused);
    for_each_class(was & ~paused, [&](ClassId n) {
        std::uint32_t& at = open_at_[id * classes + n];
        open_at_[open_.back().port * classes + open_.back().priority] = at;
        open_[at] = open_.back();
        open_.pop_back();
        at = not_open;
        changes_.push_back({now, PauseChange::Kind::ended, id, n});
    });
    for_each_class(paused & ~was, [&](ClassId n) {
        open_at_[id * classes + n] = static_cast<std::uint32_t>(open_.size());
        open_.push_back({id, n});
    });
    return (paused & ~was) != 0;
}

// At least as many as have been admitted to the group.
std::uint64_t PauseLog::came_cells(PortId id, ClassId priority) const {
    const PortView port = device_.view(id);
    const auto bytes =
        port.received([&](const ReceiveCounters& queue) { return queue.group_rx[priority].bytes.get(); });
    const auto packets =
        port.received([&](const ReceiveCounters& queue) { return queue.group_rx[priority].packets.get(); });
    return bytes / cell_bytes_ + 2 * packets;  // the last cell of each, and its FCS
}

bool PauseLog::may_have_moved(const PortSet& ports) const {
    bool any = false;
    ports.for_each([&](PortId id) {
        for_each_class(ports_[id].paused,
                       [&](ClassId n) { any |= may_have_moved(open_[open_at_[id * classes + n]]); });
    });
    return any;
}

// Each cell that came to another queue, and each that left the fullest one, brings them one nearer.
bool PauseLog::may_have_moved(const Open& open) const {
    const std::uint64_t came = came_cells(open.port, open.priority) - open.came_cells;
    const std::uint64_t left =
        open.used_cells + came - device_.view(open.port).group(open.priority).used_cells();
    // The lead that it needs shrinks with the group.
    return came + left != 0 && (came + left) * (lead + 1) >= std::uint64_t{open.margin_cells} * lead;
}

void PauseLog::count(Time now) {
    for (Open& open : open_) {
        open.own = open.all = 0;
        open.best = open.second = {};
    }
    for (PortId egress = 0; egress < device_.port_count(); ++egress) {
        const PortView port = device_.view(egress);
        for_each_class(port.backlog(), [&](ClassId queue) {
            for (Open& open : open_) open.here = 0;
            port.packets(queue).for_each([&](const QueueEntry& entry) {
                const std::uint32_t at = open_at_[entry.ingress_port() * classes + entry.priority_group()];
                if (at != not_open) open_[at].here += entry.cells();
                return true;
            });
            for (Open& open : open_) {
                open.all += open.here;
                if (open.fullest.port == egress && open.fullest.queue == queue) open.own = open.here;
                const FullestQueue one{egress, queue, open.here, 0};
                if (open.here > open.best.cells)
                    open.second = std::exchange(open.best, one);
                else if (open.here > open.second.cells)
                    open.second = one;
            }
        });
    }
    for (Open& open : open_) {
        const bool moves = open.is_new || open.best.cells > open.own + open.all / lead;
        if (moves) {
            open.fullest = open.best;
            open.own = open.best.cells;
            open.fullest.group_cells = open.all;
            changes_.push_back({now, open.is_new ? PauseChange::Kind::began : PauseChange::Kind::moved,
                                open.port, open.priority, 0, open.fullest});
            open.is_new = false;
        }
        const bool is_best = open.best.port == open.fullest.port && open.best.queue == open.fullest.queue;
        const std::uint32_t next = is_best ? open.second.cells : open.best.cells;
        open.margin_cells = open.own + open.all / lead - next;
        open.used_cells = device_.view(open.port).group(open.priority).used_cells();
        open.came_cells = came_cells(open.port, open.priority);
    }
}

const PauseCause& PauseRecord::cause_at(Time time) const {
    auto found = causes.begin();
    for (auto next = found + 1; next != causes.end() && next->from <= time; ++next) found = next;
    return *found;
}

PauseWatch::PauseWatch(const FabricPlan& plan, std::vector<Switch*> devices)
    : plan_(plan), devices_(std::move(devices)), ports_(devices_.size()), opens_(devices_.size()) {
    for (std::uint32_t device = 0; device < devices_.size(); ++device) {
        const Config& config = plan.switches[device].config;
        logs_.emplace_back(*devices_[device], config.cell_bytes);
        ports_[device].resize(config.ports.size());
        for (PortState& port : ports_[device]) port.last.fill(PauseRecord::none);
        for (const auto& [name, host] : config.hosts) hosts_[host.address] = name;
    }
    for (const Link& link : plan.topology.links)
        for (const LinkEnd& self : link.ends) {
            if (plan.topology.nodes[self.node].is_host) continue;
            const LinkEnd& other = link.beyond(self.node);
            Peer& peer = ports_[plan.switch_of[self.node]][plan.port_id(self)].peer;
            peer = {other.node, PauseRecord::none, 0};
            if (plan.topology.nodes[other.node].is_host) continue;
            peer.device = static_cast<std::uint32_t>(plan.switch_of[other.node]);
            peer.port = plan.port_id(other);
        }
}

void PauseWatch::gather(std::uint32_t device) {
    PauseLog& log = logs_[device];
    for (const PauseChange& change : log.changes()) gathered_.push_back({device, change});
    log.clear();
}

void PauseWatch::take_gathered() {
    if (gathered_.empty()) return;
    // Those of one switch and instant stay in their order.
    std::ranges::stable_sort(gathered_, [](const Gathered& a, const Gathered& b) {
        return a.change.at != b.change.at ? a.change.at < b.change.at : a.device < b.device;
    });
    for (const Gathered& each : gathered_) follow(each.device, each.change);
    gathered_.clear();
}

void PauseWatch::follow(std::uint32_t device, const PauseChange& change) {
    const std::uint32_t last = ports_[device][change.port].last[change.priority];
    switch (change.kind) {
        case PauseChange::Kind::held:
            return hold(device, change);
        case PauseChange::Kind::began:
            return begin(device, change);
        case PauseChange::Kind::moved:
            if (last != PauseRecord::none) judge(last, change.fullest.port, change.fullest.queue, change.at);
            return;
        case PauseChange::Kind::ended:
            return end(device, change);
    }
}

void PauseWatch::hold(std::uint32_t device, const PauseChange& change) {
    PortState& state = ports_[device][change.port];
    const unsigned changed = state.held ^ change.mask;
    state.held = change.mask;
    for_each_class(changed, [&](ClassId queue) {
        QueueHold& hold = state.hold[queue];
        if ((change.mask >> queue & 1U) != 0)
            hold.since = change.at;
        else
            hold.blamed_until = change.at + std::min((change.at - hold.since) * blame_factor, max_blame);
        hold.is_known = true;
    });
    judge_waiting(device, change.port, changed, change.at);
}

void PauseWatch::begin(std::uint32_t device, const PauseChange& change) {
    PortState& state = ports_[device][change.port];
    state.last[change.priority] = PauseRecord::none;
    if (pauses_.size() >= max_records) {
        ++left_out_;
        return;
    }
    const auto made = static_cast<std::uint32_t>(pauses_.size());
    pauses_.push_back({device, change.port, change.priority, change.at});
    pauses_[made].cells = change.fullest.group_cells;
    pauses_[made].queue_cells = change.fullest.cells;
    state.last[change.priority] = made;
    opens_[device].push_back(made);
    ++open_;
    judge(made, change.fullest.port, change.fullest.queue, change.at);
    // The peer may still be held by the pause before.
    if (state.peer.device == PauseRecord::none) return;
    const ClassId queue = devices_[state.peer.device]
                              ->policy()
                              .ports[state.peer.port]
                              .map.pfc_priority_to_queue[change.priority];
    judge_waiting(state.peer.device, state.peer.port,
                  ports_[state.peer.device][state.peer.port].held & 1U << queue, change.at);
}

void PauseWatch::end(std::uint32_t device, const PauseChange& change) {
    const std::uint32_t last = ports_[device][change.port].last[change.priority];
    if (last == PauseRecord::none) return;
    PauseRecord& pause = pauses_[last];
    pause.until = change.at;
    while (pause.causes.size() > 1 && pause.causes.back().from >= change.at) {
        pause.causes.pop_back();
        --causes_;
    }
    auto& opens = opens_[device];
    opens.erase(std::ranges::find(opens, last));
    --open_;
    for (PauseCycle& cycle : cycles_)
        if (!cycle.dissolved && std::ranges::find(cycle.pauses, last) != cycle.pauses.end())
            cycle.dissolved = change.at;
}

void PauseWatch::judge_waiting(std::uint32_t device, PortId port, unsigned queues, Time now) {
    if (queues == 0) return;
    for (const std::uint32_t each : opens_[device]) {
        const PauseCause& cause = pauses_[each].cause_at(now);
        if (cause.egress_port == port && (queues >> cause.egress_queue & 1U) != 0)
            judge(each, port, cause.egress_queue, now);
    }
}

// The pause is due to the present holder of the queue.
void PauseWatch::judge(std::uint32_t id, PortId egress_port, ClassId queue, Time now) {
    PauseRecord& pause = pauses_[id];
    const PortState& egress = ports_[pause.device][egress_port];
    const QueueHold& hold = egress.hold[queue];
    const bool is_held = (egress.held >> queue & 1U) != 0;
    const bool is_blamed = hold.is_known && !is_held && now < hold.blamed_until;
    PauseCause cause{now, egress_port, queue, PauseCause::Kind::link, is_held, PauseRecord::none};
    if (is_held || is_blamed) {
        if (egress.peer.device == PauseRecord::none)
            cause.kind = PauseCause::Kind::host;
        else if (cause.parent = holder(pause.device, egress_port, queue); cause.parent != PauseRecord::none)
            cause.kind = PauseCause::Kind::pause;
    }
    // Causes that were foreseen are judged anew.
    while (!pause.causes.empty() && pause.causes.back().from > now) {
        pause.causes.pop_back();
        --causes_;
    }
    add(pause, cause);
    if (is_blamed && cause.kind != PauseCause::Kind::link)
        add(pause, {hold.blamed_until, egress_port, queue, PauseCause::Kind::link, false, PauseRecord::none});
    if (is_held && cause.kind == PauseCause::Kind::pause) find_cycle(id, now);
}

void PauseWatch::add(PauseRecord& pause, const PauseCause& cause) {
    if (!pause.causes.empty()) {
        PauseCause& last = pause.causes.back();
        const bool is_same = last.kind == cause.kind && last.egress_port == cause.egress_port &&
                             last.egress_queue == cause.egress_queue && last.parent == cause.parent;
        if (is_same || last.from == cause.from) {
            const Time from = last.from;
            last = cause;
            last.from = from;
            return;
        }
        if (causes_ >= max_causes) return;
    }
    pause.causes.push_back(cause);
    ++causes_;
}

std::uint32_t PauseWatch::holder(std::uint32_t device, PortId port, ClassId queue) const {
    const Peer& peer = ports_[device][port].peer;
    const auto& map = devices_[device]->policy().ports[port].map.pfc_priority_to_queue;
    const PortState& other = ports_[peer.device][peer.port];
    std::uint32_t latest = PauseRecord::none;
    for_each_class(classes_that_map_to(map, queue), [&](ClassId n) {
        const std::uint32_t last = other.last[n];
        if (last == PauseRecord::none) return;
        const bool goes_on = !pauses_[last].until;
        if (latest == PauseRecord::none || (goes_on && pauses_[latest].until)) latest = last;
    });
    return latest;
}

// From pause to the pause that holds its fullest queue.
void PauseWatch::find_cycle(std::uint32_t from, Time now) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = from; at != PauseRecord::none && !pauses_[at].until;) {
        if (!way.empty() && at == from) {
            // Each cycle once, from its earliest pause.
            std::rotate(way.begin(), std::ranges::min_element(way), way.end());
            const bool known = std::ranges::any_of(
                cycles_, [&](const PauseCycle& cycle) { return !cycle.dissolved && cycle.pauses == way; });
            if (known || cycles_.size() >= max_cycles) return;
            cycles_.push_back({now, {}, way, way.front(), flows_of(way)});
            on_cycle(cycles_.back());
            return;
        }
        // A circle that `from` only leads to was found when it closed.
        if (std::ranges::find(way, at) != way.end()) return;
        way.push_back(at);
        const PauseCause& cause = pauses_[at].causes.back();
        if (!cause.is_held) return;
        at = cause.parent;
    }
}

std::vector<std::string> PauseWatch::flows_of(const std::vector<std::uint32_t>& pauses) const {
    std::set<std::string> flows;
    for (const std::uint32_t each : pauses) {
        const PauseRecord& pause = pauses_[each];
        const PauseCause& cause = pause.causes.back();
        unsigned left = max_packets_read;
        const PortView port = devices_[pause.device]->view(cause.egress_port);
        port.packets(cause.egress_queue).for_each([&](const QueueEntry& entry) {
            auto* packet = static_cast<Packet*>(entry.packet());
            const std::uint8_t* l3 = frame_bytes(packet) + meta(packet).l3_offset;
            const bool v6 = (l3[0] >> 4) == 6;
            const auto from = hosts_.find(source_of(v6, l3)), to = hosts_.find(destination_of(v6, l3));
            if (from != hosts_.end() && to != hosts_.end()) flows.insert(from->second + " > " + to->second);
            return --left != 0 && flows.size() < max_flows_named;
        });
    }
    return {flows.begin(), flows.end()};
}

}  // namespace sluice::fabric
