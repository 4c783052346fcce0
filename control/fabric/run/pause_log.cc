#include "control/fabric/run/pause_log.hh"

#include <algorithm>
#include <utility>

#include "dataplane/ports/port_counters.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/queue/packet_queue.hh"
#include "lib/values/class_mask.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint32_t not_open = UINT32_MAX;
constexpr std::uint32_t lead = 8;  // another queue leads by 1 / lead of the group

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

void PauseLog::log_changes(Time now) {
    // What a port that sleeps pauses, or is held from, has not changed.
    const PortMask& awake = device_.awake().ports;
    awake.for_each([&](PortId id) {
        const std::uint8_t held = held_queues(id, now);
        if (held == ports_[id].held) return;
        ports_[id].held = held;
        changes_.push_back({now, PauseChange::Kind::held, id, 0, held});
    });
    awake.for_each([&](PortId id) {
        if ((device_.view(id).groups_in_use() | ports_[id].paused) != 0) look_at(id, now);
    });
    if (std::any_of(open_.begin(), open_.end(),
                    [&](const Open& open) { return open.is_new || may_have_moved(open); }))
        count(now);
}

void PauseLog::look_at(PortId id, Time now) {
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

}  // namespace sluice::fabric
