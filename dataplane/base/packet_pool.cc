#include "dataplane/base/packet_pool.hh"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_stack.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "lib/values/lazy_array.hh"

namespace sluice {

// The batches of free packets of a growing pool, by their first packets. rte_stack links every entry at the
// start, and a growing pool may never grow to most of its size.
class LockedBatches {
  public:
    // Throws std::bad_alloc. `at_need`: makes packets when none is free; null: nobody does.
    LockedBatches(std::size_t most, PacketPool* at_need) : firsts_(most), at_need_(at_need) {}

    void push(void* first) {
        const std::scoped_lock held(lock_);
        assert(count_ < firsts_.size() && "there are no more batches than packets");
        firsts_[count_++] = first;
    }
    // Null when there is none.
    void* pop() {
        const std::scoped_lock held(lock_);
        return count_ == 0 ? nullptr : firsts_[--count_];
    }
    // True when so many are free now.
    bool make(unsigned packets) { return at_need_ != nullptr && at_need_->keep_free(packets); }

  private:
    std::mutex lock_;
    LazyArray<void*> firsts_;
    PacketPool* at_need_;
    std::size_t count_ = 0;
};

namespace {

// Free packets that go from thread to thread together. The batch lies behind the mbuf of its first packet, in
// place of a frame.
class FreeBatch {
  public:
    static FreeBatch& in(void* packet) {
        return *reinterpret_cast<FreeBatch*>(static_cast<std::uint8_t*>(packet) + sizeof(rte_mbuf));
    }
    // The most packets of a batch, where `bytes` lie behind the mbuf.
    static unsigned capacity(std::uint32_t bytes) {
        return std::min<unsigned>(most, (bytes - sizeof(FreeBatch)) / sizeof(void*));
    }

    // acquire: the thread that takes the batch sees all writes of the threads that filled it.
    unsigned count() { return std::atomic_ref(count_).load(std::memory_order_acquire); }
    void begin() { count_ = 0; }
    void append(std::span<void* const> packets) {
        std::copy(packets.begin(), packets.end(), packets_() + count_);
        set_count(count_ + packets.size());
    }
    // Takes the last ones.
    void take(std::span<void*> out) {
        const std::size_t left = count_ - out.size();
        std::copy_n(packets_() + left, out.size(), out.begin());
        set_count(left);
    }

  private:
    // PacketDemand counts each thread's cache twice, and it holds 1.5 times its size at most: a batch that a
    // thread holds here for a moment is less than the difference, so nobody finds too few.
    static constexpr unsigned most = 256;

    void** packets_() { return reinterpret_cast<void**>(this + 1); }
    void set_count(std::size_t count) {
        std::atomic_ref(count_).store(static_cast<std::uint32_t>(count), std::memory_order_release);
    }

    alignas(8) std::uint32_t count_;
};

// The free packets that the threads of a switch share.
struct Depot {
    rte_stack* batches;      // by their first packets,
    LockedBatches* growing;  // or here
    unsigned capacity;       // of a batch
    // DPDK puts the packets that it makes here one by one, on one thread, and at the end takes every packet
    // out one by one without a look at it.
    enum class Phase : std::uint8_t { fills, serves, ends } phase = Phase::fills;
    void* open = nullptr;  // the batch that is being filled
    alignas(64) std::atomic<std::uint32_t> packets{0};

    void* pop() const {
        if (growing != nullptr) return growing->pop();
        void* first = nullptr;
        return rte_stack_pop(batches, &first, 1) == 1 ? first : nullptr;
    }
    void push(void* first) const {
        if (growing != nullptr) return growing->push(first);
        [[maybe_unused]] const unsigned pushed = rte_stack_push(batches, &first, 1);
        assert(pushed == 1 && "there are no more batches than packets");
    }

    void put(std::span<void* const> free) {
        packets.fetch_add(static_cast<std::uint32_t>(free.size()), std::memory_order_relaxed);
        if (phase == Phase::fills) {
            for (void* packet : free) fill(packet);
            return;
        }
        while (!free.empty()) {
            const auto some = free.first(std::min<std::size_t>(free.size(), capacity));
            free = free.subspan(some.size());
            if (some.size() > capacity / 2 || !put_on_top(some)) put_batch(some);
        }
    }

    void fill() { phase = Phase::fills; }
    void serve() {
        if (open != nullptr) push(std::exchange(open, nullptr));
        phase = Phase::serves;
    }

    // All or none.
    bool take(std::span<void*> out) {
        std::size_t have = 0;
        while (have < out.size()) {
            void* first = pop();
            if (first == nullptr) break;
            FreeBatch& batch = FreeBatch::in(first);
            const unsigned count = batch.count();
            const auto some = out.subspan(have, std::min<std::size_t>(count, out.size() - have));
            batch.take(some);
            have += some.size();
            if (some.size() < count) push(first);
        }
        packets.fetch_sub(static_cast<std::uint32_t>(have), std::memory_order_relaxed);
        if (have == out.size()) return true;
        put(out.first(have));
        return false;
    }

  private:
    void fill(void* packet) {
        if (open != nullptr && FreeBatch::in(open).count() < capacity)
            return FreeBatch::in(open).append({&packet, 1});
        if (open != nullptr) push(open);
        open = packet;
        FreeBatch::in(open).begin();
        FreeBatch::in(open).append({&packet, 1});
    }
    void put_batch(std::span<void* const> some) const {
        FreeBatch& batch = FreeBatch::in(some[0]);
        batch.begin();
        batch.append(some);
        push(some[0]);
    }
    // A few packets go into the topmost batch, if it has room: singles would make as many batches.
    bool put_on_top(std::span<void* const> some) const {
        void* first = pop();
        if (first == nullptr) return false;
        FreeBatch& batch = FreeBatch::in(first);
        const bool fits = batch.count() + some.size() <= capacity;
        if (fits) batch.append(some);
        push(first);
        return fits;
    }
};

static_assert(std::is_trivially_destructible_v<Depot>);

Depot& depot_of(const rte_mempool* pool) { return *static_cast<Depot*>(pool->pool_data); }

int make_depot(rte_mempool* pool) {
    auto* growing = static_cast<LockedBatches*>(pool->pool_config);
    rte_stack* batches = nullptr;
    if (growing == nullptr) {
        std::array<char, RTE_STACK_NAMESIZE> name{};
        std::snprintf(name.data(), name.size(), "%s", pool->name);
        batches = rte_stack_create(name.data(), pool->size, pool->socket_id, RTE_STACK_F_LF);
        if (batches == nullptr) return -rte_errno;
    }
    // In DPDK's memory, as the pool is, where no leak checker looks for pointers.
    void* place = rte_zmalloc_socket(nullptr, sizeof(Depot), alignof(Depot), pool->socket_id);
    if (place == nullptr) {
        rte_stack_free(batches);
        return -ENOMEM;
    }
    pool->pool_data =
        new (place) Depot{batches, growing, FreeBatch::capacity(pool->elt_size - sizeof(rte_mbuf))};
    return 0;
}

// DPDK frees a pool that it cannot complete by the first operations in its table, which may be these.
void free_depot(rte_mempool* pool) {
    if (pool->pool_data == nullptr) return;
    rte_stack_free(depot_of(pool).batches);
    rte_free(pool->pool_data);
}

int put_free(rte_mempool* pool, void* const* packets, unsigned count) {
    depot_of(pool).put({packets, count});
    return 0;
}

int take_free(rte_mempool* pool, void** packets, unsigned count) {
    Depot& depot = depot_of(pool);
    if (depot.phase == Depot::Phase::ends || depot.take({packets, count})) [[likely]]
        return 0;
    const bool made = depot.growing != nullptr && depot.growing->make(count);
    return made && depot.take({packets, count}) ? 0 : -ENOBUFS;
}

unsigned count_free(const rte_mempool* pool) {
    return depot_of(pool).packets.load(std::memory_order_relaxed);
}

constexpr const char* depot_name = "sluice_depot";

bool register_depot() {
    static const bool registered = [] {
        rte_mempool_ops ops{};  // DPDK copies it
        std::snprintf(ops.name, sizeof ops.name, "%s", depot_name);
        ops.alloc = make_depot;
        ops.free = free_depot;
        ops.enqueue = put_free;
        ops.dequeue = take_free;
        ops.get_count = count_free;
        return rte_mempool_register_ops(&ops) >= 0;
    }();
    return registered;
}

std::uint32_t object_bytes(std::uint32_t data_bytes) {
    return sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM + data_bytes;
}

// Like rte_pktmbuf_pool_create, but ordinary memory need not be contiguous for a device: otherwise DPDK would
// place one packet a 4 KiB page. Without packets yet.
rte_mempool* make_empty(const char* name, unsigned packets, unsigned cache, std::uint32_t data_bytes,
                        LockedBatches* growing) {
    if (!register_depot()) return nullptr;
    const unsigned flags = rte_eal_has_hugepages() != 0 ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
    rte_mempool* pool = rte_mempool_create_empty(name, packets, object_bytes(data_bytes), cache,
                                                 sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY, flags);
    if (pool == nullptr) return nullptr;
    rte_pktmbuf_pool_private sizes{};
    sizes.mbuf_data_room_size = static_cast<std::uint16_t>(data_bytes + RTE_PKTMBUF_HEADROOM);
    rte_pktmbuf_pool_init(pool, &sizes);
    if (rte_mempool_set_ops_byname(pool, depot_name, growing) >= 0) return pool;
    rte_mempool_free(pool);
    return nullptr;
}

void init_if_new(rte_mempool* pool, void* old, void* packet, unsigned number) {
    if (number >= *static_cast<unsigned*>(old)) rte_pktmbuf_init(pool, nullptr, packet, number);
}

// In memory of the system: EAL zeroes all memory that it gets back, and without hugepages has it in pages of
// 4 KiB. The packets made are the last of the pool's list, and have not been used yet.
bool add_packets(rte_mempool* pool, unsigned most, std::vector<LargePages>& memory) {
    unsigned old = pool->populated_size;
    const std::size_t bytes = std::size_t{std::min(most, pool->size - old)} *
                              (pool->header_size + pool->elt_size + pool->trailer_size);
    LargePages& pages = memory.emplace_back(bytes);
    if (pool->pool_data != nullptr) depot_of(pool).fill();
    const bool made =
        pages.at() != nullptr && rte_mempool_populate_iova(pool, reinterpret_cast<char*>(pages.at()),
                                                           RTE_BAD_IOVA, bytes, nullptr, nullptr) > 0;
    if (pool->pool_data != nullptr) depot_of(pool).serve();
    if (!made) {
        memory.pop_back();
        return false;
    }
    rte_mempool_obj_iter(pool, init_if_new, &old);
    return true;
}

bool add_all(rte_mempool* pool, std::vector<LargePages>& memory) {
    if (rte_eal_has_hugepages() != 0) {
        if (rte_mempool_populate_default(pool) < 0) return false;
        depot_of(pool).serve();
        rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
        return true;
    }
    return add_packets(pool, pool->size, memory);
}

rte_mempool* make_pool(const char* name, unsigned packets, unsigned cache, std::uint32_t data_bytes,
                       std::vector<LargePages>& memory) {
    rte_mempool* pool = make_empty(name, packets, cache, data_bytes, nullptr);
    if (pool == nullptr || add_all(pool, memory)) return pool;
    rte_mempool_free(pool);
    return nullptr;
}

}  // namespace

PacketPool::PacketPool(const char* name, unsigned packets, unsigned cache, std::uint32_t data_bytes)
    : pool_(make_pool(name, packets, cache, data_bytes, memory_)) {}

PacketPool::PacketPool(const char* name, const Growing& packets, unsigned cache, std::uint32_t data_bytes)
    : batches_(std::make_unique<LockedBatches>(packets.most, packets.at_need ? this : nullptr)),
      pool_(make_empty(name, packets.most, cache, data_bytes, batches_.get())) {
    if (pool_ == nullptr || grow(packets.first)) return;
    rte_mempool_free(pool_);
    pool_ = nullptr;
}

// DPDK makes the depot with the first packets.
bool PacketPool::free_enough(unsigned packets) const {
    return pool_->populated_size != 0 && count_free(pool_) >= packets;
}

bool PacketPool::grow(unsigned free) {
    constexpr unsigned portion = 16'384;
    while (!free_enough(free) && pool_->populated_size < pool_->size)
        if (!add_packets(pool_, portion, memory_)) return false;
    return true;
}

PacketPool::~PacketPool() {
    if (pool_ != nullptr && pool_->pool_data != nullptr) depot_of(pool_).phase = Depot::Phase::ends;
    rte_mempool_free(pool_);
}

unsigned PacketPool::in_use() const { return pool_->populated_size - rte_mempool_avail_count(pool_); }

std::size_t PacketPool::bytes_each(std::uint32_t data_bytes) {
    rte_mempool_objsz size;
    return rte_mempool_calc_obj_size(object_bytes(data_bytes), 0, &size);
}

}  // namespace sluice
