#include "control/fabric/run/fabric.hh"

#include "dataplane/ports/port.hh"
#include "dataplane/ports/port_counters.hh"

namespace sluice::fabric {
namespace {

// Frames between a switch's port and its peer, both ways, that a fault has touched.
struct FaultSums {
    explicit FaultSums(const FaultPort* port) {
        if (port == nullptr) return;
        const auto& [received, sent, pfc, changed, storm, stuck, slow_xoff, slow_xon, lossless] =
            port->faults();
        const std::uint64_t sent_lost = sent.dropped + sent.bad_fcs + pfc.dropped;
        sent_added = sent.duplicated + pfc.duplicated;
        sent_gone = sent_lost + sent.cut + port->leaving();
        added = received.duplicated + sent_added + storm + stuck + slow_xoff + slow_xon;
        lost = received.dropped + received.bad_fcs + sent_lost;
        cut = received.cut + sent.cut;
        kept = port->under_way();
    }
    std::uint64_t added = 0, lost = 0, cut = 0, kept = 0;
    std::uint64_t sent_added = 0, sent_gone = 0;
};

}  // namespace

Fabric::Ledger Fabric::ledger() const {
    Ledger sum;
    for (const FabricSwitch& each : switches_) {
        // They catch up with the clock, and what they send counts.
        const std::vector<const HostPort*> hosts = each.ports->hosts();
        const Switch& device = each.running->device();
        const sluice::Ledger own = device.ledger();
        sum.made += own.generated + own.injected;
        sum.consumed += own.consumed;
        sum.dropped += own.dropped;
        sum.punted += own.punted;
        sum.queued += own.queued;
        for (PortId id = 0; id < device.port_count(); ++id) {
            const PortView port = device.view(id);
            const FaultSums faults(each.running->faults().at(id));
            sum.lost_on_wire += port.counters().lost_on_wire.get() + faults.cut;
            sum.missed += port.io().account().missed;
            sum.added += faults.added;
            sum.lost_by_fault += faults.lost;
            sum.on_wire += faults.kept;
        }
        for (auto next = hosts.begin(); const auto& [name, host] : each.plan->config.hosts) {
            const HostPort& port = **next++;
            const PortId id = each.ports->id_of(host.port);
            const FaultSums faults(each.running->faults().at(id));
            sum.sent += port.nic().statistics().frames_sent + port.pauses_sent();
            const std::uint64_t under_way = port.under_way(loop_->now());
            sum.on_wire += under_way;
            sum.lost_on_wire += port.lost_on_wire();
            sum.overrun += port.overrun();
            sum.delivered += device.view(id).counters().tx.packets.get() + faults.sent_added -
                             faults.sent_gone - port.lost_on_wire() - port.overrun() - under_way;
        }
    }
    for (LinkId id = 0; id < cables_.size(); ++id)
        for (const LinkPort* end : ends(id)) {
            if (end == nullptr) continue;
            sum.lost_on_wire += end->losses().on_wire;
            sum.lost_into_cut += end->losses().into_cut;
            sum.on_wire += end->under_way();
        }
    return sum;
}

Fabric::Losses Fabric::losses() const {
    Losses losses;
    const auto add = [&](const std::string& place, std::string_view reason, std::uint64_t frames) {
        if (frames != 0) losses[place][std::string(reason)] += frames;
    };
    for (const FabricSwitch& each : switches_) {
        const Switch& device = each.running->device();
        for (PortId id = 0; id < device.port_count(); ++id) {
            for (std::size_t n = 1; n < drop_reason_count; ++n) {
                const auto reason = static_cast<DropReason>(n);
                add(each.plan->name, to_string(reason), device.dropped(id, reason));
            }
            add(each.plan->name, "receive_ring", device.view(id).io().account().missed);
        }
    }
    for (LinkId id = 0; id < cables_.size(); ++id) {
        const Link& link = plan_.topology.links[id];
        for (unsigned n = 0; n < 2; ++n) {
            const LinkEnd& end = link.ends[n];
            const std::string& name = plan_.topology.nodes[end.node].name;
            const WireLosses cut = wire_losses(id, n);
            add(link.name, "cut_on_wire", cut.on_wire);
            add(link.name, "into_cut", cut.into_cut);
            if (plan_.topology.nodes[end.node].is_host) add(name, "overrun", host(end.node).overrun());
            const FaultPort* fault = fault_of(end);
            if (fault == nullptr) continue;
            const FaultCounters& counters = fault->faults();
            add(link.name, "fault_drop", counters.received.dropped + counters.sent.dropped);
            add(link.name, "fault_pfc_lost", counters.pfc.dropped);
            add(name, "bad_fcs", counters.received.bad_fcs);
            add(plan_.topology.nodes[link.ends[1 - n].node].name, "bad_fcs", counters.sent.bad_fcs);
        }
    }
    return losses;
}

const FaultPort* Fabric::fault_of(const LinkEnd& end) const {
    if (plan_.topology.nodes[end.node].is_host) return nullptr;
    const FabricSwitch& here = switches_[plan_.switch_of[end.node]];
    return here.running->faults().at(here.ports->id_of(end.port));
}

WireLosses Fabric::wire_losses(LinkId id, unsigned to) const {
    const LinkEnd& end = plan_.topology.links[id].ends[to];
    WireLosses losses;
    if (const LinkPort* io = ends(id)[to]) losses = io->losses();
    if (plan_.topology.nodes[end.node].is_host) {
        losses.on_wire += host(end.node).lost_on_wire();
    } else {
        const FabricSwitch& here = switches_[plan_.switch_of[end.node]];
        const PortId port = here.ports->id_of(end.port);
        losses.on_wire += here.running->device().view(port).counters().lost_on_wire.get();
    }
    if (const FaultPort* fault = fault_of(end)) losses.on_wire += fault->faults().received.cut;
    if (const FaultPort* fault = fault_of(plan_.topology.links[id].ends[1 - to]))
        losses.on_wire += fault->faults().sent.cut;
    return losses;
}

std::uint64_t Fabric::lossless_lost(LinkId id) const {
    const Link& link = plan_.topology.links[id];
    std::uint64_t lost = 0;
    for (const LinkPort* end : ends(id)) lost += end == nullptr ? 0 : end->losses().lossless;
    for (const LinkEnd& end : link.ends) {
        if (plan_.topology.nodes[end.node].is_host) lost += host(end.node).lossless_lost();
        if (const FaultPort* fault = fault_of(end)) lost += fault->faults().lossless;
    }
    return lost;
}

}  // namespace sluice::fabric
