#include "dataplane/path/turn_counters.hh"

#include <memory>
#include <vector>

#include "dataplane/base/packet_pool.hh"
#include "dataplane/path/egress.hh"
#include "dataplane/path/ingress.hh"
#include "dataplane/path/worker_context.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/worker.hh"
#include "lib/pfc/pfc_frame.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::reactions_test {
namespace {

constexpr std::uint8_t priority = 0x08;

class Wire final : public Port {
  public:
    unsigned receive(std::span<Packet*> out, Time now) override {
        if (arrived == nullptr) return 0;
        out[0] = std::exchange(arrived, nullptr);
        meta(out[0]).arrival = now;
        return 1;
    }
    unsigned transmit(std::span<Packet* const> frames) override {
        const auto count = static_cast<unsigned>(std::min(frames.size(), takes));
        for (Packet* packet : frames.first(count)) rte_pktmbuf_free(packet);
        return count;
    }
    bool link_up() const override { return up; }

    Packet* arrived = nullptr;
    std::size_t takes = SIZE_MAX;
    bool up = true;
};

}  // namespace

// A port of a worker whose turns the test begins.
TEST_GROUP(Reactions) {
    PacketPool pool{"reactions", 256, 0};
    std::unique_ptr<Switch> device;
    Wire* wire = nullptr;

    void setup() override {
        auto policy = std::make_unique<Policy>();
        policy->ingress_pools[0].shared_cells = 100;
        policy->ports.resize(1);
        PortPolicy& port = policy->ports[0];
        port.ways = std::make_shared<ClassTable>(port.map, std::uint8_t{0});
        port.pfc_send = {.lossless = priority, .may_send = priority};
        port.pfc_honors = priority;
        port.group[3] = {.threshold = Threshold::fixed(10), .headroom_cells = 50, .lossless = true};
        port.map.pfc_priority_to_queue[3] = 3;
        port.queue[3].reserved_cells = 10;
        port.no_wred_at_enqueue.fill(0xFF);
        auto io = std::make_unique<Wire>();
        wire = io.get();
        std::vector<PortSpec> ports;
        ports.emplace_back().io = std::move(io);
        device = std::make_unique<Switch>(1, std::move(policy), std::move(ports),
                                          Switch::Resources{pool.pool(), 256, false});
    }
    void teardown() override {
        device->empty();
        device.reset();
        UNSIGNED_LONGS_EQUAL(0, pool.in_use());
    }

    WorkerContext& worker() { return device->worker(0); }
    PortContext& port() { return device->port(0); }
    void turn_at(std::int64_t ns) { turn(worker(), Time{} + nanoseconds(ns)); }
    void pause_arrives(std::uint16_t quanta = 0xFFFF) {
        PauseMap map;
        map.class_enable = priority;
        map.quanta.fill(quanta);
        std::array<std::uint8_t, pfc_frame_bytes> bytes{};
        build_pfc_frame(bytes, {}, map);
        wire->arrived = make_packet(pool.pool(), bytes, false);
    }
    void group_takes(std::uint32_t cells) {
        PoolBurst burst(device->shared().ingress_use[0], device->policy().ingress_pools[0], cells);
        CHECK(is_admitted(port().group[3].admit(device->policy().ports[0].group[3], burst, cells)));
        port().groups_in_use = priority;
    }
    void group_gives(std::uint32_t cells) {
        PoolBurst burst(device->shared().ingress_use[0], device->policy().ingress_pools[0], 0);
        port().group[3].release(burst, cells);
    }
    void frame_waits_for_the_device() {
        OutBatch& out = port().out;
        Packet* packet = rte_pktmbuf_alloc(pool.pool());
        meta(packet) = {};
        packet->pkt_len = 60;
        out.add_run(3, 1, 60);
        out.extend(1)[0] = packet;
    }
    void took(const Histogram& histogram, std::uint64_t times, std::int64_t longest_ns) {
        UNSIGNED_LONGS_EQUAL(times, histogram.count());
        LONGS_EQUAL(nanoseconds(longest_ns).ps, histogram.max().ps);
    }
    void obeyed(std::uint64_t times, std::int64_t longest_ns) {
        took(worker().reactions->pause_obeyed, times, longest_ns);
    }
    void sent(std::uint64_t times, std::int64_t longest_ns) {
        took(worker().reactions->xoff_sent, times, longest_ns);
    }
};

TEST(Reactions, aPauseIsObeyedFromTheTurnBeforeItWasReceived) {
    turn_at(1000);
    pause_arrives();
    turn_at(4000);
    obeyed(1, 3000);
    turn_at(9000);
    obeyed(1, 3000);
}

TEST(Reactions, whereABurstHasLeftInTheTurnAPauseIsObeyedAtItsEnd) {
    turn_at(1000);
    pause_arrives();
    port().reactions.sent_early = Time{} + nanoseconds(4000);
    turn_at(4000);
    obeyed(0, 0);
    turn_at(9000);
    obeyed(1, 8000);
}

// A burst that came for the port was put aside, to pass by its queue, before the port was looked at.
TEST(Reactions, aPauseHoldsWhatWasToPassByItsQueue) {
    turn_at(1000);
    NoLaps unmetered;
    const Time now = Time{} + nanoseconds(2000);
    for (const bool pauses : {false, true}) {
        group_takes(1);
        Packet* packet = rte_pktmbuf_alloc(pool.pool());
        packet->pkt_len = packet->data_len = 60;
        meta(packet) = {};
        meta(packet).arrive(60, 0, 3);
        meta(packet).cells = 1;
        meta(packet).queue = 3;
        enqueue(worker(), {&packet, 1}, now);
        CHECK_FALSE(port().aside.empty());
        if (pauses) pause_arrives();
        ingress(worker(), port(), now, unmetered);
        LONGS_EQUAL(pauses ? 0 : 1, egress(worker(), port(), now, unmetered));
        CHECK(port().aside.empty());
        LONGS_EQUAL(pauses ? 1 : 0, port().queue[3].packets.packets());
    }
}

TEST(Reactions, onlyAPauseThatBeginsCounts) {
    turn_at(1000);
    pause_arrives();
    turn_at(2000);
    pause_arrives();  // a refresh
    turn_at(5000);
    pause_arrives(0);
    turn_at(8000);
    obeyed(1, 1000);
    pause_arrives();
    turn_at(12'000);
    obeyed(2, 4000);
}

TEST(Reactions, framesOnTheirWayToTheDeviceMustHaveLeft) {
    turn_at(1000);
    frame_waits_for_the_device();
    wire->takes = 0;
    pause_arrives();
    turn_at(3000);
    turn_at(4000);
    obeyed(0, 0);
    wire->takes = SIZE_MAX;
    turn_at(6000);
    obeyed(0, 0);
    turn_at(9000);
    obeyed(1, 8000);
}

TEST(Reactions, anXoffIsSentInTheTurnThatFindsItsGroupOver) {
    turn_at(1000);
    group_takes(11);
    turn_at(2000);
    UNSIGNED_LONGS_EQUAL(priority, port().generator.asserted());
    sent(0, 0);
    turn_at(7000);
    sent(1, 5000);
    turn_at(20'000);
    sent(1, 5000);
    group_gives(11);
    turn_at(21'000);  // XON
    turn_at(29'000);
    sent(1, 5000);
}

TEST(Reactions, anXoffThatTheDeviceRefusesIsNotSentYet) {
    turn_at(1000);
    wire->takes = 0;
    group_takes(11);
    turn_at(2000);
    turn_at(3000);
    sent(0, 0);
    wire->takes = SIZE_MAX;
    turn_at(4000);
    turn_at(6000);
    sent(1, 4000);
}

TEST(Reactions, aLinkThatGoesDownOwesNothing) {
    turn_at(1000);
    frame_waits_for_the_device();
    wire->takes = 0;
    pause_arrives();
    group_takes(11);
    turn_at(2000);
    wire->up = false;
    turn_at(3000);
    wire->up = true;
    wire->takes = SIZE_MAX;
    group_gives(11);
    turn_at(4000);
    turn_at(5000);
    obeyed(0, 0);
    sent(0, 0);
}

TEST(Reactions, underTheVirtualClockThereAreNone) {
    auto policy = std::make_unique<Policy>();
    Switch virtual_switch(2, std::move(policy), {}, Switch::Resources{pool.pool(), 16, true});
    CHECK_FALSE(static_cast<bool>(virtual_switch.worker(1).reactions));
}

TEST_GROUP(TurnLengths){};

TEST(TurnLengths, onlyTurnsThatFoundPacketsAreInTheHistogram) {
    const auto turns = std::make_unique<TurnCounters>();
    turns->add(0, microseconds(9));
    turns->add(3, microseconds(2));
    turns->add(1, microseconds(4));
    UNSIGNED_LONGS_EQUAL(2, turns->busy_lengths.count());
    LONGS_EQUAL(microseconds(4).ps, turns->busy_lengths.max().ps);
    UNSIGNED_LONGS_EQUAL(3, turns->turns.get());
}

}  // namespace sluice::reactions_test
