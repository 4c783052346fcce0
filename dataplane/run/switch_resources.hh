// A switch's resources beside its ports, and the memory that it takes. Known before there is one.
#pragma once

#include <cstddef>
#include <cstdint>

struct rte_mempool;

namespace sluice {

// `packets`: mbufs of `pool`, which bounds what queues and mailboxes can ever hold. `one_thread`: all workers
// are run by one, as under the virtual clock.
struct SwitchResources {
    rte_mempool* pool;
    std::size_t packets;
    bool one_thread;
    // Events that each worker can have under way to control; 0: none of the kind.
    std::size_t decision_ring = 0;
    std::size_t microburst_ring = 0;
    std::size_t unresolved_ring = 0;
    // Frames of each port that can be under way to control, and from it.
    std::uint16_t control_slots = 0;
    std::size_t recorder_entries = 0;  // of each port; 0: none
    std::size_t flowlets = 1;          // entries of each receive queue's table; a power of two
    std::size_t wire_ends = 0;         // ports on wires, for the sum of memory alone
};

// Bytes that a switch takes beside its pool and its ports' devices, in parts.
struct SwitchMemory {
    std::uint64_t workers = 0, mailboxes = 0, ports = 0, decisions = 0, fill = 0, recorder = 0;
};
SwitchMemory switch_memory(unsigned workers, unsigned ports, const SwitchResources& resources);

}  // namespace sluice
