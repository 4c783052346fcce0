// A receive queue of a port beyond its first ("RSS"), which any worker may poll.
//
// Its poller does the steps that need the frame only: parse, classify, route, rewrite. It hands every frame
// off, in order, to the worker that owns the port; only the owner admits, pauses the peer, obeys it and talks
// to control. So a priority group has one owner and is exact for any number of queues, and a PFC frame
// reaches the owner by any queue. The price: a frame waits for the owner's turn, a term of the headroom, and
// the owner touches each frame of the port once.
//
// A handed-off frame has no place in the buffer yet. A queue without room for a whole burst in `handed_off`
// is not polled, and pauses the peer.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "dataplane/ports/port.hh"
#include "dataplane/ports/port_counters.hh"
#include "lib/route/load_balance.hh"
#include "lib/threads/mailbox.hh"

namespace sluice {

// Frames of a queue under way to the port's owner, at most.
constexpr std::size_t hand_off_capacity = 1024;

// Packets are numbered by port, those of queue q from q times this on. All are below 2^53, where JSON's
// numbers are exact; a queue has enough for weeks.
constexpr std::uint64_t numbers_of_a_queue = std::uint64_t{1} << 48;
static_assert(numbers_of_a_queue * max_receive_queues <= std::uint64_t{1} << 53);

// A frame on its way to the port's owner, and its treatment there.
struct HandedOffFrame {
    enum class Kind : std::uint8_t {
        data,         // to be admitted
        mac_control,  // to be consumed
        refused,      // to be punted or dropped
    };
    Packet* packet;
    Kind kind;
    DropReason refusal;   // none unless refused
    std::uint16_t cells;  // that data wants
};

// State of the poller of any receive queue, the first of a port too, between two bursts.
struct ReceiveState {
    std::uint64_t next_sequence = 0;
    std::uint8_t full_bursts = 0;   // in a row; see watch_load
    std::span<Flowlet> flowlets{};  // set at start: a power of two of them
};

struct alignas(64) ReceiveQueue {
    ReceiveQueue(PortId of, Port* device, std::uint16_t queue, WorkerId worker)
        : io(device), port(of), number(queue), poller(worker), state{queue * numbers_of_a_queue} {}

    // Set at start.
    Port* const io;
    const PortId port;
    const std::uint16_t number;  // of the device's, from 1
    const WorkerId poller;

    // The poller's.
    ReceiveState state;
    bool open = false;         // it polls; see may_poll
    ReceiveCounters counters;  // control reads
    Counter behind;            // times that this queue paused the peer; likewise

    // Written by the poller. `is_behind`, for the port's owner, relaxed: a turn later is soon enough.
    // `polled`, for control: while it is set the device may be polled. seq_cst: see Switch::link_up.
    alignas(64) std::atomic<bool> is_behind{false};
    std::atomic<bool> polled{false};

    Mailbox<HandedOffFrame> handed_off{hand_off_capacity};  // from the poller to the port's owner
};

}  // namespace sluice
