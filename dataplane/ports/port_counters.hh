// The counters of a port. Written by the worker that owns the port, unless a comment names another; read by
// control.
#pragma once

#include <array>
#include <cstring>

#include "lib/frame/headers.hh"
#include "lib/punt/punt.hh"
#include "lib/queue/wred.hh"
#include "lib/threads/counters.hh"
#include "lib/threads/histogram.hh"
#include "lib/values/ids.hh"

namespace sluice {

struct QueueCounters {
    Traffic tx;
    Counter dropped;  // any reason, at this queue
    // Taken from the queue to be sent, by color and ECN on arrival (EcnBits::bits & 15), in one store.
    std::array<Counter, ecn_kinds> taken;
    std::array<Counter, colors> marked;        // ECT made CE
    std::array<Counter, colors> wred_dropped;  // among `dropped`
    Histogram latency;                         // from enqueue to dequeue

    template <class Wanted>
    std::uint64_t taken_if(Wanted wanted) const {
        std::uint64_t sum = 0;
        for (unsigned bits = 0; bits < ecn_kinds; ++bits)
            if (wanted(EcnBits{static_cast<std::uint8_t>(bits)})) sum += taken[bits].get();
        return sum;
    }
};

// Packets that a queue refused and trimmed, by what became of their short forms.
struct TrimCounters {
    Counter sent;     // the queue of trimmed packets took them
    Counter dropped;  // it refused them, too
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

// A MAC address that one thread writes and others read.
class SharedMac {
  public:
    bool is_set() const { return number_.get() != 0; }
    void set(const std::uint8_t* bytes) {
        std::uint64_t number = 0;
        std::memcpy(&number, bytes, sizeof(MacAddress));
        number_.set(number);
    }
    MacAddress get() const {
        MacAddress mac;
        const std::uint64_t number = number_.get();
        std::memcpy(mac.bytes.data(), &number, sizeof mac);
        return mac;
    }

  private:
    Counter number_;  // the address's bytes, and zeros; 0: none
};

// The counters of a receive queue. Written by the worker that polls it, read by control.
struct ReceiveCounters {
    Traffic rx;
    Counter cnp;         // CNPs received
    Counter ce_arrived;  // received with CE set
    Counter roce;
    Counter lossy_roce;                     // data and ACKs among them that came in a lossy group
    std::array<Traffic, classes> group_rx;  // data, by priority group
    SharedMac foreign_mac;                  // destination of the first frame that was dropped as not_for_us

    // Packets that came while their group was lossless; `lossless`: whether it is now.
    std::uint64_t lossless_packets(unsigned group, bool lossless) const {
        return lossless_offset[group].get() + (lossless ? group_rx[group].packets.get() : 0);
    }
    // Between two packets: the group becomes lossless, or lossy.
    void change_losslessness(unsigned group, bool lossless) {
        const std::uint64_t packets = group_rx[group].packets.get();
        lossless_offset[group].add(lossless ? -packets : packets);
    }

  private:
    // Modulo 2^64: while a group is lossless, minus the packets that came while it was not. So no packet
    // costs an addition.
    std::array<Counter, classes> lossless_offset;
};

struct alignas(64) PortCounters : ReceiveCounters {  // those of its first queue
    Traffic tx;
    Counter consumed;       // MAC control frames taken in
    Counter generated;      // frames the worker made: PFC. Those that it trimmed are in `trim`
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
    Counter mirrored;                              // frames of mirrors, sent out of this port
    std::array<TrimCounters, classes> trim;        // by the queue that refused the packet first
};

}  // namespace sluice
