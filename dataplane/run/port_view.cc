#include "dataplane/run/port_view.hh"

#include "dataplane/path/port_context.hh"

namespace sluice {

PortId PortView::id() const { return port_->id; }
Port& PortView::io() const { return *port_->io; }
const PortCounters& PortView::counters() const { return port_->counters; }
const EgressQueueUse& PortView::use(ClassId queue) const { return port_->queue[queue].use; }
const PacketQueue& PortView::packets(ClassId queue) const { return port_->queue[queue].packets; }
const MicroburstMeter& PortView::microburst(ClassId queue) const { return port_->queue[queue].microburst; }
const PriorityGroup& PortView::group(ClassId n) const { return port_->group[n]; }
const PfcHonor& PortView::honor() const { return port_->honor; }
const PfcGenerator& PortView::generator() const { return port_->generator; }
const PortWatchdog& PortView::watchdog() const { return port_->watchdog; }
std::uint8_t PortView::backlog() const { return port_->backlog; }
std::uint8_t PortView::groups_in_use() const { return port_->groups_in_use; }
const PortTrace* PortView::trace() const { return port_->trace.get(); }
const PortRecorder* PortView::recorder() const { return port_->recorder.get(); }
const WireDirection* PortView::wire() const { return port_->wire.get(); }
ControlPath* PortView::control() const { return port_->control.get(); }

unsigned PortView::receive_queues() const {
    return 1 + static_cast<unsigned>(port_->more_receive_queues.size());
}

const ReceiveCounters& PortView::received_by(unsigned queue) const {
    return queue == 0 ? port_->counters : more_receive_queue(queue).counters;
}

const ReceiveQueue& PortView::more_receive_queue(unsigned queue) const {
    return *port_->more_receive_queues[queue - 1];
}

MacAddress PortView::foreign_mac() const {
    for (unsigned queue = 0; queue < receive_queues(); ++queue)
        if (const SharedMac& mac = received_by(queue).foreign_mac; mac.is_set()) return mac.get();
    return {};
}

}  // namespace sluice
