// What is counted of a port. Written by the worker that owns the port, read by control.
#pragma once

#include <array>

#include "lib/counters.hh"
#include "lib/ids.hh"

namespace sluice {

struct QueueCounters {
    Traffic tx;
    Counter dropped;  // any reason, at this queue
    Counter ect;      // sent with ECT or CE
    Counter non_ect;
};

struct GroupCounters {
    Traffic rx;
    Counter dropped;            // refused by the buffer
    Counter headroom_overruns;  // lossless ones among them
    Counter xoff;               // times it went into XOFF
};

struct PfcCounters {
    // PFC itself is counted by PfcHonor and PfcGenerator.
    Counter rx_pause_global;
    Counter rx_unknown;  // MAC control with an opcode that is neither
};

struct alignas(64) PortCounters {
    Traffic rx, tx;
    Counter consumed;      // MAC control frames taken in
    Counter generated;     // frames we made
    Counter lost_on_wire;  // arrived while the link was down
    Counter flaps;         // times the link went down
    Counter cnp;           // CNPs received
    Counter ce_arrived;    // received with CE set
    Counter roce;
    Counter behind;  // times we fell behind and paused the peer
    std::array<QueueCounters, classes> queue;
    std::array<GroupCounters, classes> group;
    PfcCounters pfc;
};

}  // namespace sluice
