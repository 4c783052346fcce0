// The packet buffers of one switch: a DPDK mempool of mbufs.
//
// Every thread keeps up to some hundreds of free ones for itself (the mempool's caches). A worker that
// receives more than it sends gets the surplus of another, hundreds at a time, from a stack that all share:
// last in, first out, so that the packet freed last, in a cache still, is used first. Free packets are on it
// in batches, whose list lies in the data room of one of them (a magazine of a depot: Bonwick and Adams,
// "Magazines and Vmem", USENIX 2001). DPDK's own stack links them one by one, through lines that another core
// wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/memory.hh"
#include "dataplane/base/packet.hh"

namespace sluice {

class LockedBatches;

class PacketPool {
  public:
    // `packets` mbufs of `data_bytes` each; a thread keeps 1.5 times `cache` of them for itself at most.
    // `pool()` is null when memory did not suffice.
    PacketPool(const char* name, unsigned packets, unsigned cache,
               std::uint32_t data_bytes = packet_data_bytes);
    // A pool that makes `first` packets now and others in portions, when there is need, as buffers could hold
    // far more than they do: by `keep_free`, on one thread; or when none is free, where one thread uses the
    // pool. `pool()` is null when memory did not suffice.
    struct Growing {
        unsigned most;
        unsigned first;
        bool at_need = false;
    };
    PacketPool(const char* name, const Growing& packets, unsigned cache, std::uint32_t data_bytes);
    // Makes more until so many are free, or all have been made. False: memory did not suffice.
    bool keep_free(unsigned packets) { return free_enough(packets) || grow(packets); }

    ~PacketPool();
    PacketPool(const PacketPool&) = delete;
    PacketPool& operator=(const PacketPool&) = delete;
    rte_mempool* pool() const { return pool_; }
    unsigned in_use() const;
    // Bytes of an mbuf, and of EAL's memory for it wherever it lies (the stack of free ones), for sizing the
    // memory before EAL starts.
    static std::size_t bytes_each(std::uint32_t data_bytes = packet_data_bytes);
    static constexpr std::size_t eal_bytes_each = 64;

  private:
    bool free_enough(unsigned packets) const;
    bool grow(unsigned free);
    friend class LockedBatches;

    std::unique_ptr<LockedBatches> batches_;  // of a growing pool
    std::vector<LargePages> memory_;          // of the packets, where they are not in hugepages
    rte_mempool* pool_;
};

}  // namespace sluice
