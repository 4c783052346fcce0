// RoCE hosts behind the ports of a switch: messages complete, congestion control settles where it is
// published to, faults cost time and never a byte, and each misconfiguration has its symptom.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "tests/sim/host_incast.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::host_test {

using namespace sluice::sim;
using roce::CongestionControl;
using roce::ReactionParameters;
using Kind = roce::Requester::Kind;

namespace {

// A one-way flow between two hosts.
HostSetup pair(const roce::FlowSettings& flow, unsigned qps = 1) { return {{{{0}, 1, qps, flow}}}; }

}  // namespace

TEST_GROUP(Host){};

TEST(Host, anAnswerTakesFourCables) {
    for (const std::uint32_t meters : {0U, one_us}) {
        HostSwitch sim(sim_config(2, gigabits(100), meters), pair(messages_of(1000, 1)));
        sim.drain(Time{} + milliseconds(1));
        const Duration took = sim.host(0).nic().flow_statistics(0).completion_time.max();
        // A frame is with the switch when it starts; 1098 bytes there, 86 back.
        const Duration cables = microseconds(meters == 0 ? 0 : 4);
        CHECK_TRUE(took == cables + gigabits(100).byte_time() * (1098 + 86));
    }
}

TEST(Host, oneFlowTakesTheWholeLink) {
    const Config config = sim_config(2, gigabits(100));
    for (const Kind kind : {Kind::write, Kind::send, Kind::read}) {
        roce::FlowSettings flow = messages_of(1'000'000, 20);
        flow.kind = kind;
        HostSwitch sim(config, pair(flow));
        Time last{};
        sim.on_instant = [&] {
            if (last == Time{} && sim.sum().completed == 20) last = sim.now();
        };
        sim.drain(Time{} + milliseconds(10));
        const roce::QpStatistics all = sim.sum();
        LONGS_EQUAL(20, all.completed);
        LONGS_EQUAL(20, all.delivered);
        LONGS_EQUAL(0, all.failed);
        LONGS_EQUAL(20'000'000, all.completed_bytes);
        LONGS_EQUAL(20'000'000, all.delivered_bytes);
        LONGS_EQUAL(0, sim.dropped());
        const unsigned sender = kind == Kind::read ? 1 : 0;
        const roce::QpStatistics data = sim.sum(sender);
        const Duration wire = gigabits(100).byte_time() * static_cast<std::int64_t>(data.data_wire_bytes);
        // The wire is never free from the first frame to the last; the rest is one way and the ACK's.
        CHECK_TRUE(last - Time{} >= wire);
        CHECK_TRUE(last - Time{} - wire < microseconds(4));
        const roce::FlowStatistics& figures = sim.host(0).nic().flow_statistics(0);
        LONGS_EQUAL(20, figures.completion_time.count());
        // Four are outstanding, and each gets a quarter of the link.
        CHECK_TRUE(figures.slowdown.max().ps >= 3900 && figures.slowdown.max().ps <= 4200);
    }
}

TEST(Host, aRunIsTheSameTwiceAndForAnyNumberOfWorkers) {
    std::uint64_t digest = 0;
    constexpr std::array some_workers{1U, 3U, 2U, 1U};
    for (const unsigned workers : std::span(some_workers).first(is_sanitized ? 2 : some_workers.size())) {
        Config config = marked_config(4, 1);
        config.workers = workers;
        roce::FlowSettings flow = messages_of(1, 60);
        flow.sizes = roce::MessageSizes::uniform(1, 60'000);
        flow.requester.messages = 8;
        HostSetup setup{{{{0, 1, 2, 3}, 4, 3, flow}}};
        flow.kind = Kind::read;
        setup.flows.push_back({{4, 2}, 1, 2, flow});
        setup.each = [](unsigned, HostPortSpec& spec) {
            spec.nic.reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, spec.speed);
        };
        HostSwitch sim(config, setup, fmt::format("workers {}", workers), incast_packets);
        sim.drain(Time{} + milliseconds(50));
        LONGS_EQUAL(16 * 60, sim.sum().completed);
        LONGS_EQUAL(16 * 60, sim.sum().delivered);
        CHECK_TRUE(sim.sum().cnps_received > 0);
        LONGS_EQUAL(sim.sum().cnps_sent, sim.sum().cnps_received);
        if (digest == 0) digest = sim.digest();
        CHECK_TRUE(digest == sim.digest());
    }
}

namespace {

HostSetup faulty(Kind kind, unsigned retries) {
    roce::FlowSettings flow = messages_of(1, 200, 4);
    flow.sizes = roce::MessageSizes::uniform(1, 50'000);
    flow.kind = kind;
    flow.requester.timeout = microseconds(100);
    flow.requester.retry_count = retries;
    return pair(flow, 2);
}

}  // namespace

TEST(Host, underFaultsEveryMessageCompletesOnce) {
    for (const Kind kind : {Kind::write, Kind::send, Kind::read}) {
        Config config = sim_config(2, gigabits(100));
        for (unsigned id = 0; id < 2; ++id) {
            FrameFaults& faults = port_of(config, id).fault.received;
            faults.drop_chance = faults.corrupt_chance = faults.duplicate_chance =
                Chance{Chance::always / 50};
        }
        HostSwitch sim(config, faulty(kind, roce::unlimited_retries));
        sim.drain(Time{} + seconds(2));
        const roce::QpStatistics all = sim.sum();
        LONGS_EQUAL(400, all.completed);
        LONGS_EQUAL(400, all.delivered);
        LONGS_EQUAL(0, all.failed);
        LONGS_EQUAL(all.completed_bytes, all.delivered_bytes);
        CHECK_TRUE(sim.qp(0, 0).requester()->counters().retransmissions > 0);
        CHECK_TRUE(sim.host(1).nic().statistics().refused > 0);
    }
}

TEST(Host, aFrameOfSeveralBuffersIsWholeAndALinkThatFlapsLosesNoMessage) {
    roce::FlowSettings flow = messages_of(1'000'001, 40);
    flow.requester.mtu = flow.responder.mtu = roce::max_path_mtu;
    for (const Kind kind : {Kind::write, Kind::read}) {
        flow.kind = kind;
        HostSwitch sim(sim_config(2, gigabits(100)), pair(flow));
        for (const PortId port : {PortId{0}, PortId{1}}) {
            sim.run_until(sim.now() + microseconds(500));
            sim.set_port(port, false);
            sim.run_until(sim.now() + microseconds(100));
            sim.set_port(port, true);
        }
        CHECK_TRUE(sim.sum().completed < 40);
        sim.drain(Time{} + milliseconds(100));
        LONGS_EQUAL(40, sim.sum().completed);
        LONGS_EQUAL(40, sim.sum().delivered);
        LONGS_EQUAL(40 * 1'000'001, sim.sum().delivered_bytes);
        CHECK_TRUE(sim.qp(0, 0).requester()->counters().retransmissions > 0);
    }
}

TEST(Host, withRetriesExhaustedMessagesFailAndAreCounted) {
    Config config = sim_config(2, gigabits(100));
    port_of(config, 1).fault.received.drop_every = 1;  // every answer
    HostSwitch sim(config, faulty(Kind::write, 3));
    sim.drain(Time{} + milliseconds(100));
    const roce::QpStatistics all = sim.sum();
    LONGS_EQUAL(0, all.completed);
    LONGS_EQUAL(8, all.failed);  // those that were posted
    CHECK_TRUE(all.delivered >= 2);
    for (unsigned qp = 0; qp < 2; ++qp) {
        CHECK_TRUE(sim.qp(0, qp).requester()->state() == roce::Requester::State::failed);
        LONGS_EQUAL(4, sim.qp(0, qp).requester()->counters().timeouts);
    }
}

TEST(Host, sendsWithoutAReceiveBufferComeAgain) {
    HostSetup setup = faulty(Kind::send, 7);
    setup.each = [](unsigned, HostPortSpec& spec) { spec.nic.rnr_chance = 1ULL << 30; };
    HostSwitch sim(sim_config(2, gigabits(100)), setup);
    sim.drain(Time{} + milliseconds(100));
    LONGS_EQUAL(400, sim.sum().completed);
    LONGS_EQUAL(400, sim.sum().delivered);
    CHECK_TRUE(sim.qp(0, 0).requester()->counters().rnr_naks > 20);
}

namespace {

// Four senders for 3 ms; `change` misconfigures the hosts.
struct Symptom {
    double queue_bytes = 0;
    roce::QpStatistics sum;
    std::uint64_t cnp_class_packets = 0;  // into the switch from the receiver
};
Symptom symptom_of(const std::function<void(HostPortSpec&)>& change) {
    HostSetup setup = incast(4, CongestionControl::dcqcn_paper);
    const auto each = setup.each;
    setup.each = [&](unsigned id, HostPortSpec& spec) {
        each(id, spec);
        change(spec);
    };
    Config config = marked_config(4, 1);
    config.maps["default"].cnp_tc.reset();  // CNPs by their DSCP
    HostSwitch sim(config, setup, "", incast_packets);
    const Settled settled = settle(sim, 4, milliseconds(1), milliseconds(2));
    LONGS_EQUAL(0, sim.dropped());
    return {settled.queue_bytes, sim.sum(), sim.device().port(4).counters.group_rx[6].packets.get()};
}

}  // namespace

TEST(Host, eachMisconfigurationHasItsSymptom) {
    const Symptom right = symptom_of([](HostPortSpec&) {});
    CHECK_TRUE(right.queue_bytes < 200'000);
    CHECK_TRUE(right.sum.cnps_received > 0 && right.cnp_class_packets > 0);

    const Symptom deaf = symptom_of([](HostPortSpec& spec) { spec.nic.ignore_cnp = true; });
    CHECK_TRUE(deaf.queue_bytes > 5'000'000);
    CHECK_TRUE(deaf.sum.cnps_received > 0);

    const Symptom mute = symptom_of([](HostPortSpec& spec) { spec.nic.echo_ce = false; });
    CHECK_TRUE(mute.queue_bytes > 5'000'000);
    CHECK_TRUE(mute.sum.ce_received > 0);
    LONGS_EQUAL(0, mute.sum.cnps_sent);

    const Symptom elsewhere = symptom_of([](HostPortSpec& spec) { spec.nic.cnp.dscp = 26; });
    CHECK_TRUE(elsewhere.sum.cnps_received > 0);
    LONGS_EQUAL(0, elsewhere.cnp_class_packets);
}

TEST(Host, aSlowHostSendsPfcAndLosesNothing) {
    const Config config = sim_config(2, gigabits(100));
    HostSetup setup = pair(messages_of(1'000'000, 20));
    setup.each = [](unsigned id, HostPortSpec& spec) {
        if (id == 1) spec.drain = gigabits(50);
    };
    HostSwitch sim(config, setup);
    sim.drain(Time{} + milliseconds(20));
    LONGS_EQUAL(20, sim.sum().completed);
    LONGS_EQUAL(0, sim.dropped());
    LONGS_EQUAL(0, sim.qp(0, 0).requester()->counters().retransmissions);
    CHECK_TRUE(sim.host(1).pauses_sent() > 10);
    CHECK_TRUE(sim.device().port(1).honor.counters(lossless).rx_xoff.get() > 5);
    // 21.6 MB on the wire at half of 100G.
    const Duration longest = sim.host(0).nic().flow_statistics(0).completion_time.max();
    CHECK_TRUE(longest > microseconds(680) && longest < microseconds(720));  // four outstanding
    CHECK_TRUE(sim.now() > Time{} + microseconds(3'450) && sim.now() < Time{} + microseconds(3'700));
}

TEST(Host, aSenderObeysPfcOnlyIfItIsToldTo) {
    Config config = sim_config(3, gigabits(100));
    config.buffer_size_bytes = 2'000'000;
    roce::FlowSettings flow = messages_of(1'000'000, 10);
    for (const bool obeys : {true, false}) {
        HostSetup setup{{{{0, 1}, 2, 1, flow}}};
        setup.each = [&](unsigned, HostPortSpec& spec) {
            if (!obeys) spec.obeys.reset();
        };
        HostSwitch sim(config, setup, "", 0, obeys);
        sim.run_until(Time{} + milliseconds(1));
        CHECK_TRUE((sim.dropped() == 0) == obeys);
        CHECK_TRUE((sim.host(0).paused_time(lossless, sim.now()) > Duration{}) == obeys);
    }
}

TEST(Host, congestionControlChangesLive) {
    HostSwitch sim(marked_config(2, 1), incast(2, CongestionControl::none), "", incast_packets);
    sim.run_until(Time{} + milliseconds(1));
    const auto queue = [&] { return sim.device().port(2).queue[lossless].use.used_cells() * 256; };
    CHECK_TRUE(queue() > 2'000'000);
    for (unsigned id = 0; id < 3; ++id)
        sim.host(id).set_reaction(ReactionParameters::of(CongestionControl::dcqcn_paper, gigabits(40)));
    sim.run_until(Time{} + milliseconds(6));
    CHECK_TRUE(queue() < 200'000);
}

TEST(Host, tenThousandQueuePairsShareOneHost) {
    roce::FlowSettings flow = messages_of(2'000, 2, 1);
    flow.requester.messages = 2;
    flow.requester.max_reads = flow.responder.max_reads = 1;
    flow.requester.timeout = milliseconds(50);
    HostSwitch sim(sim_config(2, gigabits(100)), pair(flow, 10'000));
    sim.drain(Time{} + milliseconds(100));
    LONGS_EQUAL(20'000, sim.sum().completed);
    LONGS_EQUAL(0, sim.dropped());
    // Round robin: nobody is done before everybody has sent once, so the fastest took half of the run.
    const roce::FlowStatistics& figures = sim.host(0).nic().flow_statistics(0);
    CHECK_TRUE(figures.completion_time.quantile(1) * 4 > figures.completion_time.quantile(500));
}

}  // namespace sluice::host_test
