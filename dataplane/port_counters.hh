// What is counted of a port. Written by the worker that owns the port, unless it says another, read by
// control.
#pragma once

#include <array>

#include "lib/counters.hh"
#include "lib/histogram.hh"
#include "lib/ids.hh"
#include "lib/punt.hh"
#include "lib/wred.hh"

namespace sluice {

struct QueueCounters {
    Traffic tx;
    Counter dropped;  // any reason, at this queue
    // Taken from the queue to be sent, by colour and ECN on arrival (EcnBits::bits & 15): one store says it
    // all.
    std::array<Counter, ecn_kinds> taken;
    std::array<Counter, colours> marked;        // ECT made CE
    std::array<Counter, colours> wred_dropped;  // among `dropped`
    Histogram latency;                          // from enqueue to dequeue

    template <class Wanted>
    std::uint64_t taken_if(Wanted wanted) const {
        std::uint64_t sum = 0;
        for (unsigned bits = 0; bits < ecn_kinds; ++bits)
            if (wanted(EcnBits{static_cast<std::uint8_t>(bits)})) sum += taken[bits].get();
        return sum;
    }
};

struct GroupCounters {
    Counter dropped;            // refused by the buffer
    Counter headroom_overruns;  // lossless ones among them
    Counter xoff;               // times it went into XOFF
};

struct PfcCounters {
    // PFC itself is counted by PfcHonor and PfcGenerator.
    Counter rx_pause_global;
    Counter rx_unknown;  // MAC control with an opcode that is neither
};

// Of one receive queue. Written by the worker that polls it, read by control.
struct ReceiveCounters {
    Traffic rx;
    Counter cnp;         // CNPs received
    Counter ce_arrived;  // received with CE set
    Counter roce;
    std::array<Traffic, classes> group_rx;  // data, by priority group
};

struct alignas(64) PortCounters : ReceiveCounters {  // those of its first queue
    Traffic tx;
    Counter consumed;       // MAC control frames taken in
    Counter generated;      // frames the worker made: PFC
    Counter lost_on_wire;   // arrived while the link was down
    Counter flaps;          // times the link went down
    Histogram cnp_latency;  // of those sent, from enqueue to dequeue
    Counter behind;         // times we fell behind and paused the peer
    std::array<QueueCounters, classes> queue;
    std::array<GroupCounters, classes> group;
    PfcCounters pfc;
    std::array<Counter, punt_class_count> punted;  // handed to control
    Counter injected;                              // frames of control's, sent out of this port
    Counter replied;                               // frames that control made, likewise
    Counter returned;                              // frames that control had kept, to be routed again
};

}  // namespace sluice
