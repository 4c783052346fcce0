// What control sees of a port: the parts of its context by name, so that what reads one of them is not
// compiled again when the context changes. A handle, valid as long as its switch.
//
// While workers run, counters, watermarks and the frames from and to control may be read at any time. Other
// figures are then those of a moment that nobody has chosen; under the virtual clock they are exact.
#pragma once

#include <cstdint>

#include "lib/values/ids.hh"

namespace sluice {

class EgressQueueUse;
class MicroburstMeter;
class PacketQueue;
class PfcGenerator;
class PfcHonor;
class Port;
class PortRecorder;
class PriorityGroup;
class WireDirection;
struct ControlPath;
struct MacAddress;
struct PortContext;
struct PortCounters;
struct PortTrace;
struct PortWatchdog;
struct ReceiveCounters;
struct ReceiveQueue;

class PortView {
  public:
    explicit PortView(PortContext& port) : port_(&port) {}

    PortId id() const;
    Port& io() const;
    const PortCounters& counters() const;
    const EgressQueueUse& use(ClassId queue) const;
    const PacketQueue& packets(ClassId queue) const;
    const MicroburstMeter& microburst(ClassId queue) const;
    const PriorityGroup& group(ClassId n) const;
    const PfcHonor& honor() const;
    const PfcGenerator& generator() const;
    const PortWatchdog& watchdog() const;
    std::uint8_t backlog() const;          // bit n: queue n holds packets
    std::uint8_t groups_in_use() const;    // bit n: group n holds cells or is in XOFF
    const PortTrace* trace() const;        // null: not traced
    const PortRecorder* recorder() const;  // null: off
    const WireDirection* wire() const;     // null: the port routes
    ControlPath* control() const;          // null: control takes and sends no frames

    // Receive queues, the first included.
    unsigned receive_queues() const;
    const ReceiveCounters& received_by(unsigned queue) const;
    const ReceiveQueue& more_receive_queue(unsigned queue) const;  // from 1
    // Sums over them: figure(const ReceiveCounters&).
    template <class Figure>
    std::uint64_t received(Figure figure) const {
        std::uint64_t sum = 0;
        for (unsigned queue = 0; queue < receive_queues(); ++queue) sum += figure(received_by(queue));
        return sum;
    }
    // Of a frame that was dropped as not_for_us; zeros: of none.
    MacAddress foreign_mac() const;

  private:
    PortContext* port_;
};

}  // namespace sluice
