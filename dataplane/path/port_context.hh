// The state of a port: of its queues, groups, PFC and link. Plain data: the stages work on it. Control asks
// PortView (run/switch.hh).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/base/packet.hh"
#include "dataplane/path/control_path.hh"
#include "dataplane/path/out_batch.hh"
#include "dataplane/path/port_trace.hh"
#include "dataplane/path/port_watchdog.hh"
#include "dataplane/path/turn_counters.hh"
#include "dataplane/path/wire.hh"
#include "dataplane/ports/port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/ports/receive_queue.hh"
#include "lib/buffer/buffer_use.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/clock/link.hh"
#include "lib/pfc/pfc_generator.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/queue/packet_queue.hh"
#include "lib/queue/scheduler.hh"
#include "lib/queue/wred.hh"
#include "lib/record/microburst.hh"
#include "lib/record/port_recorder.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

// Packets of one queue, added up in one number.
class QueueSum {
  public:
    void add(std::uint32_t frame_bytes, std::uint32_t cells, EcnBits ecn) {
        sum_ += std::uint64_t{frame_bytes} | std::uint64_t{cells} << 24 | std::uint64_t{1} << 48;
        ecn_kinds_ |= 1U << ecn.bits;
    }
    unsigned packets() const { return static_cast<unsigned>(sum_ >> 48); }
    std::uint32_t cells() const { return sum_ >> 24 & 0xFFFFFF; }
    std::uint32_t frame_bytes() const { return sum_ & 0xFFFFFF; }
    std::uint32_t wire_bytes() const { return frame_bytes() + packets() * wire_overhead_bytes; }
    // Bit n: one with EcnBits::bits n.
    std::uint32_t ecn_kinds() const { return ecn_kinds_; }
    static EcnBits first_of(std::uint32_t kinds) {
        return {static_cast<std::uint8_t>(std::countr_zero(kinds))};
    }

  private:
    std::uint64_t sum_ = 0;  // packets, cells and bytes: 32 of each at most fit 24 bits
    std::uint32_t ecn_kinds_ = 0;
};
static_assert(EcnBits::values <= 32 && std::uint64_t{burst_size} * 0xFFFF < 1 << 24);

// Packets admitted this turn that may skip their queue: see egress_pass.hh. Empty between turns.
class Aside {
  public:
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == burst_size; }
    std::span<Packet* const> packets() const { return std::span(packet_).first(count_); }
    const QueueSum& sum(unsigned queue) const { return sum_[queue]; }

    void set_aside(Packet* packet, const PacketMeta& info) {
        packet_[count_++] = packet;
        sum_[info.queue].add(info.frame_bytes, info.cells, info.treatment.ecn);
    }
    void clear() {
        count_ = 0;
        sum_ = {};
    }

  private:
    unsigned count_ = 0;
    std::array<QueueSum, classes> sum_;
    std::array<Packet*, burst_size> packet_;
};

// A queue of a port as its owner sees it; the fields that every packet reads come first.
struct alignas(64) EgressQueue {
    PacketQueue packets;
    EgressQueueUse use;
    MicroburstMeter microburst;
    WredQueue wred;

    // The queue's use of the buffer is the sum of its packets; only where invariants are checked.
    bool holds_its_packets() const { return use.used_cells() == packets.cells(); }
};

// A port as its owner sees it. Other threads read `counters` and nothing else while workers run.
struct alignas(64) PortContext {
    Port* io = nullptr;
    PortId id = 0;
    bool link_up = true;
    std::uint8_t backlog = 0;           // bit n: queue n holds packets, or has some aside
    std::uint8_t groups_in_use = 0;     // bit n: group n holds cells or is in XOFF
    std::uint8_t groups_judged = 0xFF;  // bit n: group n may have to send XOFF or XON
    std::uint8_t want_xoff = 0;         // decided by the groups since the last PFC frame
    std::uint8_t want_xon = 0;
    std::uint8_t bursts_by_packet = 0;    // so many bursts more skip admission by sums
    bool pause_peer = false;              // falling behind: all lossless classes are to be paused
    std::unique_ptr<WireDirection> wire;  // the port is an end of a wire; null: it routes
    std::int32_t until_sample = 0;        // packets that come in before the next one that the recorder counts
    ReceiveState receive;                 // of its first queue
    PortWatchdog watchdog;                // the fields that each packet reads come first
    LinkTransmitter link;
    OutBatch out;
    Aside aside;
    std::array<EgressQueue, classes> queue;
    std::array<PriorityGroup, classes> group;
    Scheduler scheduler;
    PfcHonor honor;
    PfcGenerator generator;
    PortCounters counters;
    PendingReactions reactions;
    std::unique_ptr<PortTrace> trace;        // null: not traced
    std::unique_ptr<PortRecorder> recorder;  // null: off
    std::uint32_t sample_draw = 0;           // of the recorder's intervals
    std::unique_ptr<ControlPath> control;    // null: control takes and sends no frames
    // Set at start. Their pollers write them; the owner takes the frames that they hand off.
    std::vector<std::unique_ptr<ReceiveQueue>> more_receive_queues;
};

}  // namespace sluice
