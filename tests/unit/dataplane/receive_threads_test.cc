// Ports with several receive queues, polled by workers that run: the state that pollers, owners and control
// share. Also under TSan, which sees code compiled here and not DPDK's libraries: a packet buffer is
// therefore never used twice (those that are freed stay in the cache of the thread that freed them).
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "dataplane/base/packet_pool.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/path/port_context.hh"
#include "dataplane/run/real_runner.hh"
#include "dataplane/run/switch.hh"
#include "lib/frame/checksum.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/endian.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::receive_threads_test {
namespace {

constexpr unsigned workers = 3;
constexpr unsigned ports = 2;
constexpr std::uint16_t queues = 4;  // of each port
constexpr unsigned frames = 3000;    // of each queue
constexpr std::uint8_t lossless = 0x01;
constexpr std::array<MacAddress, ports> macs{{{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}}};

// To the other port's subnet; source port and identification say by which queue it came, and as which.
std::array<std::uint8_t, 64> frame_of(PortId port, std::uint16_t queue, unsigned number) {
    std::array<std::uint8_t, 64> frame{};
    std::copy_n(macs[port].bytes.begin(), 6, frame.begin());
    frame[6] = 2;
    frame[12] = 8;
    frame[14] = 0x45;
    store_be<std::uint16_t>(frame.data() + 16, 50);
    store_be<std::uint16_t>(frame.data() + 18, static_cast<std::uint16_t>(number));
    frame[22] = 64;
    frame[23] = 17;
    frame[26] = frame[30] = 10;
    frame[32] = port == 0 ? 1 : 0;
    frame[29] = frame[33] = 2;
    store_be<std::uint16_t>(frame.data() + 24, internet_checksum(std::span(frame).subspan(14, 20)));
    store_be<std::uint16_t>(frame.data() + 34, queue);
    store_be<std::uint16_t>(frame.data() + 38, 30);
    return frame;
}

// A pause of no length: it ends before the next turn.
std::array<std::uint8_t, pfc_frame_bytes> pause() {
    std::array<std::uint8_t, pfc_frame_bytes> frame{};
    PauseMap map;
    map.class_enable = lossless;
    map.quanta[0] = 1;
    build_pfc_frame(frame, {{2, 0, 0, 0, 0, 9}}, map);
    return frame;
}

// A device whose queues are full from the start. Once it has gone control replaces it, and nobody may ask it
// meanwhile: nothing of it but its link is atomic.
class Device final : public Port {
  public:
    ~Device() override {
        for (const Queue& queue : queue_)
            for (std::size_t n = queue.next; n < queue.packets.size(); ++n)
                rte_pktmbuf_free(queue.packets[n]);
        for (Packet* packet : sent) rte_pktmbuf_free(packet);
    }
    unsigned receive(std::span<Packet*> out, Time now) override { return receive_from(0, out, now); }
    unsigned receive_from(std::uint16_t number, std::span<Packet*> out, Time now) override {
        Queue& queue = queue_[number];
        // Full bursts for a while, then small ones: it falls behind, and does no more.
        const std::size_t most = queue.polls++ % 16 < 12 ? out.size() : 1 + queue.polls % 8;
        unsigned count = 0;
        for (; count < most && queue.next < queue.packets.size() && queue.left != 0; ++count) {
            --queue.left;
            out[count] = queue.packets[queue.next++];
            meta(out[count]).arrival = now;
        }
        return count;
    }
    unsigned transmit(std::span<Packet* const> packets) override {
        if (!is_there_) return 0;
        sent.insert(sent.end(), packets.begin(), packets.end());
        return static_cast<unsigned>(packets.size());
    }
    bool link_up() const override { return up.load(std::memory_order_acquire); }

    void fill(rte_mempool* pool, PortId port, unsigned pauses) {
        for (std::uint16_t queue = 0; queue < queues; ++queue)
            for (unsigned n = 0; n < frames; ++n) {
                if (pauses != 0 && n % (frames / pauses) == 0) add(queue, make_packet(pool, pause(), false));
                add(queue, make_packet(pool, frame_of(port, queue, n), false));
            }
    }

    // Another one, of which each queue gives so many frames at most.
    void replace(std::size_t left) {
        is_there_ = false;
        std::this_thread::yield();
        for (Queue& queue : queue_) queue.left = left;
        is_there_ = true;
    }

    std::atomic<bool> up{true};
    std::vector<Packet*> sent;  // its owner's

  private:
    struct alignas(64) Queue {
        std::vector<Packet*> packets;
        std::size_t next = 0;
        std::size_t left = SIZE_MAX;
        unsigned polls = 0;
    };
    void add(std::uint16_t queue, Packet* packet) { queue_[queue].packets.push_back(packet); }
    std::array<Queue, queues> queue_;
    bool is_there_ = true;
};

}  // namespace

TEST_GROUP(ReceiveThreads) {
    PacketPool pool{"receive_threads", 2 * ports * queues * frames, 256, 256};
    std::unique_ptr<Fib> fib = Fib::create({{false, 16}, {false, 16}});
    std::vector<NextHopGroup> groups = std::vector<NextHopGroup>(first_next_hop_group + ports);
    std::vector<std::uint32_t> buckets{0, 1};
    std::vector<NextHop> next_hops{ports};
    std::array<Device*, ports> devices{};
    std::unique_ptr<Switch> made;

    // `turn`: which of many policies that do the same.
    std::unique_ptr<Policy> policy(unsigned turn, bool pauses) const {
        auto next = std::make_unique<Policy>();
        next->seed = turn;
        next->ingress_pools[0].shared_cells = next->egress_pools[0].shared_cells = 100'000 + turn;
        next->fib = fib.get();
        next->next_hop_groups = groups;
        next->buckets = buckets;
        next->next_hops = next_hops;
        for (unsigned id = 0; id < ports; ++id) {
            PortPolicy& port = next->ports.emplace_back();
            port.station.mac = macs[id];
            port.ways = std::make_shared<ClassTable>(port.map, std::uint8_t{0});
            port.group[0] = {
                .threshold = Threshold::fixed(50'000), .headroom_cells = 50'000, .lossless = true};
            port.queue[0].lossless = true;
            port.pfc_honors = lossless;
            if (pauses) port.pfc_send = {.lossless = lossless, .may_send = lossless};
        }
        return next;
    }
    void make(unsigned pauses) {
        for (std::uint32_t id = 0; id < ports; ++id) {
            const std::array<std::uint8_t, 4> prefix{10, 0, static_cast<std::uint8_t>(id), 0};
            CHECK_TRUE(fib->set(false, prefix.data(), 24, first_next_hop_group + id));
            groups[first_next_hop_group + id].first_bucket = id;
            next_hops[id].port = static_cast<PortId>(id);
        }
        std::vector<PortSpec> specs(ports);
        for (unsigned id = 0; id < ports; ++id) {
            auto device = std::make_unique<Device>();
            device->fill(pool.pool(), static_cast<PortId>(id), pauses);
            devices[id] = device.get();
            specs[id].io = std::move(device);
            specs[id].owner = static_cast<WorkerId>(id);
            // Two of them by the third worker, one by the other port's owner.
            specs[id].pollers = {2, static_cast<WorkerId>(1 - id), 2};
        }
        made = std::make_unique<Switch>(workers, policy(0, pauses != 0), std::move(specs),
                                        Switch::Resources{pool.pool(), 2 * ports * queues * frames, false});
    }
    void teardown() override {
        if (made) made->empty();
        made.reset();
        UNSIGNED_LONGS_EQUAL(0, pool.in_use());
    }
    // The frames that have left, as control sees them.
    std::uint64_t gone() const {
        const Ledger ledger = made->counted();
        return ledger.tx + ledger.dropped - ledger.generated;
    }
    void is_balanced() const {
        CHECK_TRUE(made->ledger().balanced());
        UNSIGNED_LONGS_EQUAL(0, made->ledger().queued);
        UNSIGNED_LONGS_EQUAL(static_cast<std::uint64_t>(ports) * queues * frames, gone());
    }
    // The number of frames that have left, each queue's in order.
    std::uint64_t in_order() const {
        std::uint64_t count = 0;
        for (unsigned id = 0; id < ports; ++id) {
            std::array<int, queues> last;
            last.fill(-1);
            for (Packet* packet : devices[id]->sent) {
                const std::uint8_t* bytes = frame_bytes(packet);
                if (load_be<std::uint16_t>(bytes + 12) == 0x8808) continue;
                const int number = load_be<std::uint16_t>(bytes + 18);
                int& before = last[load_be<std::uint16_t>(bytes + 34)];
                CHECK_TRUE(number > before);
                before = number;
                ++count;
            }
        }
        return count;
    }
};

TEST(ReceiveThreads, everyFrameLeavesInTheOrderOfItsQueueWhilePoliciesChange) {
    constexpr unsigned pauses = 20;
    make(pauses);
    RealRunner runner(*made, {}, microseconds(10));
    runner.start();
    for (unsigned turn = 1; gone() != static_cast<std::uint64_t>(ports) * queues * frames; ++turn) {
        const std::uint64_t generation = made->publish(policy(turn, true));
        while (!made->acknowledged(generation)) std::this_thread::yield();
    }
    runner.stop();
    is_balanced();
    UNSIGNED_LONGS_EQUAL(0, made->ledger().dropped);
    UNSIGNED_LONGS_EQUAL(static_cast<std::uint64_t>(ports) * queues * frames, in_order());
    std::uint64_t behind = 0;
    for (PortId id = 0; id < ports; ++id) {
        UNSIGNED_LONGS_EQUAL(queues * pauses, made->port(id).honor.counters(0).rx_xoff.get());
        for (const auto& queue : made->port(id).more_receive_queues) behind += queue->behind.get();
    }
    CHECK_TRUE(behind != 0);
}

// A device is control's once all its users have released it, and theirs when its link is up again.
TEST(ReceiveThreads, nobodyAsksADeviceThatControlHas) {
    constexpr std::uint64_t of_a_port = std::uint64_t{queues} * frames;
    constexpr std::size_t of_a_device = 300;  // and queue
    make(0);
    for (Device* device : devices) device->replace(of_a_device);
    const auto received = [&](PortId id) {
        return made->view(id).received([](const ReceiveCounters& queue) { return queue.rx.packets.get(); });
    };
    RealRunner runner(*made, {}, microseconds(10));
    runner.start();
    std::array<std::uint64_t, ports> flaps{};
    for (PortId id = 0; received(0) + received(1) != ports * of_a_port; id = static_cast<PortId>(1 - id)) {
        if (received(id) == of_a_port) continue;
        devices[id]->up.store(false, std::memory_order_release);
        while (made->link_up(id)) std::this_thread::yield();
        // The count of the device that has gone: a later frame proves that the next one was seen up.
        const std::uint64_t before = received(id);
        devices[id]->replace(of_a_device);
        devices[id]->up.store(true, std::memory_order_release);
        while (received(id) < std::min(before + of_a_device, of_a_port)) std::this_thread::yield();
        ++flaps[id];
    }
    while (gone() != ports * of_a_port) std::this_thread::yield();
    runner.stop();
    is_balanced();
    UNSIGNED_LONGS_EQUAL(made->ledger().tx, in_order());
    for (PortId id = 0; id < ports; ++id) {
        UNSIGNED_LONGS_EQUAL(flaps[id], made->port(id).counters.flaps.get());
        CHECK_TRUE(flaps[id] >= of_a_port / (queues * of_a_device) - 1);
    }
}

}  // namespace sluice::receive_threads_test
