// Whole switches in which another worker than the port's owner polls a receive queue, turn by turn by the
// test's own hand. p0 has two queues, the second polled by the worker that the test says; p1 is worker 1's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lib/values/endian.hh"
#include "lib/values/rng.hh"

#include "tests/unit/nic/on_cards.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::hand_off_test {
namespace {

constexpr ClassId lossless = 3;

unsigned number_of(Packet* packet) {
    return load_be<std::uint16_t>(rte_pktmbuf_mtod_offset(packet, std::uint8_t*, 34));
}

bool is_pfc(Packet* packet) { return rte_pktmbuf_mtod(packet, std::uint8_t*)[12] == 0x88; }

class TwoWorkers : public SwitchOnCards {
  public:
    void starts(const std::string& p0_keys = "rx_queues = 2", const std::string& top = {}) {
        STRCMP_EQUAL("", start({"workers = 2\n" + top, p0_keys, {}}).c_str());
    }
    void arrive(std::uint16_t queue, unsigned frames, std::size_t bytes = 100, unsigned first = 0) {
        for (unsigned n = 0; n < frames; ++n)
            SwitchOnCards::arrive(p0, {.bytes = bytes, .number = first + n}, queue);
    }
    Ledger ledger() const {
        const Ledger exact = running->device().ledger();
        CHECK_TRUE(exact.balanced());
        LONGS_EQUAL(exact.queued, running->device().counted().queued);
        return exact;
    }
    const PortContext& context() const { return running->device().port(0); }
};

}  // namespace

TEST_GROUP_BASE(HandOff, TwoWorkers){};

TEST(HandOff, framesAreInTheLedgerAtEveryStep) {
    starts();
    arrive(1, 20);
    worker_turn(1);
    LONGS_EQUAL(20, ledger().rx);
    LONGS_EQUAL(20, ledger().queued);
    LONGS_EQUAL(0, context().group[lossless].used_cells());  // no place in the buffer yet
    worker_turn(0);
    LONGS_EQUAL(20, ledger().queued);
    LONGS_EQUAL(20, context().group[lossless].used_cells());
    worker_turn(1);
    LONGS_EQUAL(0, ledger().queued);
    LONGS_EQUAL(20, p1.sent.size());
    for (unsigned n = 0; n < 20; ++n) LONGS_EQUAL(n, number_of(p1.sent[n]));
    worker_turn(0);
    LONGS_EQUAL(0, context().group[lossless].used_cells());
    CHECK_TRUE(
        std::equal(p1.mac.begin(), p1.mac.end(), rte_pktmbuf_mtod_offset(p1.sent[0], std::uint8_t*, 6)));
    LONGS_EQUAL(63, rte_pktmbuf_mtod(p1.sent[0], std::uint8_t*)[22]);  // once
}

TEST(HandOff, aPortIsTheSumOfItsQueues) {
    starts();
    arrive(0, 3);
    arrive(1, 20, 200);
    for (const unsigned worker : {1U, 0U, 1U}) worker_turn(worker);
    const auto port = report("p0");
    LONGS_EQUAL(23, port["rx"]["packets"].get<int>());
    LONGS_EQUAL(4300, port["rx"]["bytes"].get<int>());
    LONGS_EQUAL(23, port["priority_groups"][lossless]["packets"].get<int>());
    LONGS_EQUAL(4300, port["priority_groups"][lossless]["bytes"].get<int>());
    LONGS_EQUAL(2, port["rx_queues"].size());
    LONGS_EQUAL(3, port["rx_queues"][0]["packets"].get<int>());
    LONGS_EQUAL(0, port["rx_queues"][0]["worker"].get<int>());
    LONGS_EQUAL(20, port["rx_queues"][1]["packets"].get<int>());
    LONGS_EQUAL(4000, port["rx_queues"][1]["bytes"].get<int>());
    LONGS_EQUAL(1, port["rx_queues"][1]["worker"].get<int>());
    CHECK_FALSE(report("p1").contains("rx_queues"));
    LONGS_EQUAL(23, make_report(*running)["ledger"]["rx"].get<int>());
    const auto workers = make_report(*running)["workers"];
    LONGS_EQUAL(3, workers[0]["rx_packets"].get<int>());
    LONGS_EQUAL(20, workers[1]["rx_packets"].get<int>());
}

// A packet's number is its own among all of its port: draws and records go by it.
TEST(HandOff, packetsOfAPortHaveDifferentNumbers) {
    starts("rx_queues = 3\nrx_workers = [1, 0]");
    const auto& port = context();
    for (std::uint16_t queue = 0; queue < 3; ++queue) arrive(queue, 4);
    for (const unsigned worker : {1U, 0U}) worker_turn(worker);
    LONGS_EQUAL(4, port.receive.next_sequence);
    CHECK_TRUE(port.more_receive_queues[0]->state.next_sequence == numbers_of_a_queue + 4);
    CHECK_TRUE(port.more_receive_queues[1]->state.next_sequence == 2 * numbers_of_a_queue + 4);
    worker_turn(1);
    LONGS_EQUAL(12, p1.sent.size());
    std::vector<std::uint64_t> numbers;
    for (Packet* packet : p1.sent) numbers.push_back(meta(packet).sequence);
    std::sort(numbers.begin(), numbers.end());
    for (std::uint64_t n = 0; n < 12; ++n) CHECK_TRUE(numbers[n] == n / 4 * numbers_of_a_queue + n % 4);
}

TEST(HandOff, refusedFramesAreDroppedOnceWithTheirReason) {
    starts();
    arrive(1, 2);
    SwitchOnCards::arrive(p0, {.ttl = 1}, 1);
    std::swap(p0.more[1][1], p0.more[1][2]);
    worker_turn(1);
    LONGS_EQUAL(2, ledger().queued);
    LONGS_EQUAL(1, report("p0")["drops"]["ttl_expired"].get<int>());
    for (const unsigned worker : {0U, 1U}) worker_turn(worker);
    LONGS_EQUAL(2, p1.sent.size());
    LONGS_EQUAL(1, ledger().dropped);
}

// The owner of a port knows its punt rates.
TEST(HandOff, puntedFramesGoByTheOwner) {
    starts("rx_queues = 2\nresponder = true");
    std::vector<std::uint8_t> arp(60);
    std::fill_n(arp.begin(), 6, std::uint8_t{0xFF});
    const std::array<std::uint8_t, 10> head{8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
    std::copy(head.begin(), head.end(), arp.begin() + 12);
    arp[6] = arp[22] = 2;
    const std::array<std::uint8_t, 4> sender{10, 0, 0, 9};
    const std::array<std::uint8_t, 4> wanted{10, 0, 0, 1};
    std::copy(sender.begin(), sender.end(), arp.begin() + 28);
    std::copy(wanted.begin(), wanted.end(), arp.begin() + 38);
    p0.more[1].push_back(make_packet(p0.pool, arp, false));
    worker_turn(1);
    LONGS_EQUAL(1, ledger().queued);
    LONGS_EQUAL(0, ledger().punted);
    worker_turn(0);
    LONGS_EQUAL(1, ledger().punted);
    LONGS_EQUAL(1, report("p0")["punted"]["arp_nd"].get<int>());
    running->serve_slow_path();
    worker_turn(0);
    LONGS_EQUAL(1, p0.sent.size());  // the reply
}

// MAC control, wherever it comes.

TEST(HandOff, aPauseHoldsThePortWhateverQueueItComesBy) {
    for (const std::uint16_t queue : {std::uint16_t{0}, std::uint16_t{1}}) {
        starts();
        pause_arrives(p0, 100, queue);
        worker_turn(1);
        worker_turn(0);
        LONGS_EQUAL(1, context().honor.counters(lossless).rx_xoff.get());
        LONGS_EQUAL(1U << lossless, running->device().port(0).honor.paused(now));
        LONGS_EQUAL(1, ledger().consumed);
        LONGS_EQUAL(1, ledger().rx);
        LONGS_EQUAL(0, ledger().queued);
        stop();
    }
}

TEST(HandOff, aPauseOfALinkThatWentDownMeanwhileIsForgotten) {
    starts();
    pause_arrives(p0, 0xFFFF, 1);
    worker_turn(1);
    p0.set_link(false);
    alone->devices()->poll_links(now);
    worker_turn(0);
    LONGS_EQUAL(1, ledger().consumed);
    p0.set_link(true, 10'000);
    alone->devices()->poll_links(now);
    worker_turn(0);
    LONGS_EQUAL(0, running->device().port(0).honor.paused(now));
}

// Falling behind, by queue.

TEST(HandOff, aQueueThatFallsBehindPausesThePeer) {
    starts();
    arrive(1, 1000);
    worker_turn(1);
    LONGS_EQUAL(0, p0.sent.size());
    worker_turn(0);
    LONGS_EQUAL(1, p0.sent.size());
    CHECK_TRUE(is_pfc(p0.sent[0]));
    const auto port = report("p0");
    LONGS_EQUAL(1, port["fell_behind"].get<int>());
    LONGS_EQUAL(1, port["rx_queues"][1]["fell_behind"].get<int>());
    while (!p0.more[1].empty()) {
        now = now + microseconds(50);
        for (const unsigned worker : {1U, 0U}) worker_turn(worker);
    }
    for (unsigned n = 0; n < 100; ++n) {
        now = now + microseconds(50);
        for (const unsigned worker : {1U, 0U}) worker_turn(worker);
    }
    LONGS_EQUAL(1000, p1.sent.size());
    CHECK_FALSE(report("p0")["priority_groups"][lossless]["xoff"].get<bool>());
}

TEST(HandOff, aQueueWhoseOwnerDoesNotTakeIsNotPolled) {
    starts();
    arrive(1, hand_off_capacity + 500);
    for (unsigned n = 0; n < 100; ++n) worker_turn(1);
    LONGS_EQUAL(500, p0.more[1].size());  // they stay where they are
    LONGS_EQUAL(hand_off_capacity, ledger().queued);
    CHECK_TRUE(context().more_receive_queues[0]->is_behind.load());
    const std::uint64_t polls = p0.polls.load();
    worker_turn(1);
    LONGS_EQUAL(polls, p0.polls.load());
    for (unsigned n = 0; n < 200; ++n) {
        now = now + microseconds(50);
        for (const unsigned worker : {0U, 1U}) worker_turn(worker);
    }
    LONGS_EQUAL(hand_off_capacity + 500, p1.sent.size());
    for (unsigned n = 0; n < p1.sent.size(); ++n) LONGS_EQUAL(n, number_of(p1.sent[n]));
    CHECK_FALSE(context().more_receive_queues[0]->is_behind.load());
    LONGS_EQUAL(0, report("p0")["drops"].size());
}

// The buffer.

// For frames by any queue, the group decides as if there were one: with nothing on its way, which is when the
// owner polls both itself, every decision is the same.
TEST(HandOff, aGroupDecidesAsWithOneQueue) {
    struct Seen {
        std::uint32_t reserved, shared, headroom;
        bool xoff;
        std::uint64_t dropped;
        std::size_t paused, sent;
        bool operator==(const Seen&) const = default;
    };
    const std::string small = "\n[port.p0.priority_group.3]\nstatic_th = \"8KB\"\nxoff = \"6KB\"\n";
    const auto run = [&](bool both, std::uint64_t seed) {
        p0.sent.clear();
        p1.sent.clear();
        starts((both ? "rx_queues = 2\nrx_workers = [0]\nsmall_xoff = true" : "small_xoff = true") + small);
        std::vector<Seen> seen;
        for (std::uint64_t step = 0; step < 400; ++step) {
            const auto choose = [&](std::uint32_t what, std::uint64_t below) {
                return draw({seed, 1, what, step}) % below;
            };
            now = now + microseconds(5);
            p1.takes = static_cast<std::uint16_t>(choose(0, 3) == 0 ? choose(1, 32) : 0);
            arrive(both ? std::uint16_t{1} : std::uint16_t{0}, static_cast<unsigned>(choose(2, 12)),
                   60 + choose(3, 1400));
            for (const unsigned worker : {0U, 1U}) worker_turn(worker);
            const PriorityGroup& group = context().group[lossless];
            seen.push_back({group.reserved_cells(), group.shared_cells(), group.headroom_cells(),
                            group.in_xoff(), context().counters.group[lossless].dropped.get(), p0.sent.size(),
                            p1.sent.size()});
        }
        for (auto* sent : {&p0.sent, &p1.sent}) {
            for (Packet* packet : *sent) rte_pktmbuf_free(packet);
            sent->clear();
        }
        stop();
        return seen;
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Time at = now;
        const auto one = run(false, seed);
        now = at;
        const auto two = run(true, seed);
        LONGS_EQUAL(one.size(), two.size());
        for (std::size_t n = 0; n < one.size(); ++n)
            CHECK_TEXT(one[n] == two[n], fmt::format("seed {}, step {}", seed, n).c_str());
        CHECK_TRUE(one.back().dropped != 0 && one.back().paused != 0);  // it has been at all its limits
    }
}

// The frames that wait for the owner are a term of the headroom. The peer sends the smallest frames without a
// gap and stops when all other terms say that it does; nothing leaves. With any use of the group at that time
// nothing is lost; without the term a frame would be lost.
TEST(HandOff, headroomHoldsWhatWaitsForTheOwner) {
    constexpr Duration turn_max = microseconds(2);
    constexpr unsigned frames_a_turn = 30;  // 2500 bytes of 84 on the wire
    std::uint32_t most = 0;
    std::uint64_t headroom_cells = 0;
    std::uint64_t hand_over_bytes = 0;
    for (unsigned phase = 0; phase < frames_a_turn; ++phase) {
        starts("rx_queues = 2\n[port.p0.priority_group.3]\nstatic_th = \"8KB\"\n", "turn_max = \"2us\"\n");
        const Headroom& headroom = running->qos().ports.at("p0").headroom;
        headroom_cells = headroom.xoff_cells;
        hand_over_bytes = headroom.hand_over_bytes;
        const auto own_turn = static_cast<std::uint64_t>(turn_max.ps / gigabits(10).byte_time().ps);
        const std::uint64_t rest = headroom.wire_bytes - hand_over_bytes - own_turn;
        const auto last =
            static_cast<unsigned>(rest / wire_bytes(60)) + 1;  // from our XOFF on, and one just begun
        p1.takes = 0;
        arrive(1, phase, 60);
        unsigned since_xoff = 0;
        for (unsigned n = 0; n < 100; ++n) {
            now = now + turn_max;
            // The poller comes just before the owner: its handed-off frames have been in the ring for a turn,
            // and later ones wait there while the rest of a turn's frames are admitted.
            worker_turn(0);
            const bool is_off = !p0.sent.empty();
            const unsigned more = is_off ? std::min(frames_a_turn, last - since_xoff) : frames_a_turn;
            if (is_off) since_xoff += more;
            worker_turn(1);
            arrive(1, more, 60);
        }
        LONGS_EQUAL(last, since_xoff);
        LONGS_EQUAL(0, context().counters.group[lossless].headroom_overruns.get());
        most = std::max(most, context().group[lossless].headroom_watermark.persistent.get());
        p1.takes = 0xFFFF;
        stop();
        for (auto* sent : {&p0.sent, &p1.sent}) sent->clear();
        p0.more[1].clear();
    }
    LONGS_EQUAL(2500, hand_over_bytes);
    CHECK_TRUE(most <= headroom_cells);
    CHECK_TEXT(most > headroom_cells - hand_over_bytes / wire_bytes(60),
               fmt::format("{} of {}", most, headroom_cells).c_str());
}

// Cards that go.

TEST(HandOff, aCardIsLetGoOfWhenNobodyAsksItAnyMore) {
    starts();
    const auto look = [&] {
        now = now + milliseconds(16);
        alone->devices()->poll_links(now);
    };
    for (const unsigned worker : {0U, 1U}) worker_turn(worker);
    p0.pull();
    const std::uint64_t polls = p0.polls.load();
    worker_turn(0);
    for (unsigned n = 0; n < 3; ++n) look();
    LONGS_EQUAL(0, p0.count("rte_eth_dev_close"));  // the poller of its second queue has not seen it
    worker_turn(1);
    LONGS_EQUAL(polls, p0.polls.load());
    look();
    LONGS_EQUAL(1, p0.count("rte_eth_dev_close"));
    for (unsigned n = 0; n < 3; ++n) {
        for (const unsigned worker : {0U, 1U}) worker_turn(worker);
        look();
    }
    LONGS_EQUAL(0, p0.polls_when_gone.load());
    machine.replug("0000:03:00.0");
    for (unsigned n = 0; n < 80; ++n) {
        look();
        for (const unsigned worker : {0U, 1U}) worker_turn(worker);
    }
    CHECK_TRUE(report("p0")["link_up"].get<bool>());
    LONGS_EQUAL(2, p0.rx_queues);
    for (std::uint16_t queue = 0; queue < 2; ++queue) arrive(queue, 5);
    for (const unsigned worker : {1U, 0U, 1U}) worker_turn(worker);
    LONGS_EQUAL(10, p1.sent.size());
    p0.pull();  // the poller of its second queue sees it first, and its handed-off frames are taken
    arrive(1, 4);
    for (const unsigned worker : {0U, 1U, 0U}) worker_turn(worker);
    look();
    look();
    LONGS_EQUAL(2, p0.count("rte_eth_dev_close"));
    LONGS_EQUAL(0, p0.polls_when_gone.load());
}

// The same with workers that run: a poll of a card that is closed is a crash here.
TEST(HandOff, aCardMayGoAtAnyTimeWhileWorkersPollIt) {
    starts();
    alone->real_runner()->start();
    const auto until = [&](auto done) {
        while (!done()) {
            now = now + milliseconds(100);  // of control's; the workers have the machine's
            alone->devices()->poll_links(now);
            std::this_thread::yield();
        }
    };
    for (std::size_t round = 1; round <= 20; ++round) {
        const std::uint64_t polls = p0.polls.load();
        until([&] { return p0.polls.load() > polls + round; });
        {
            const std::lock_guard lock(p0.mutex);
            for (std::uint16_t queue = 0; queue < 2; ++queue) arrive(queue, 3);
        }
        p0.pull();
        machine.next_id = 22;  // DPDK has a table of 32
        until([&] { return p0.count("rte_eth_dev_close") == round; });
        machine.replug("0000:03:00.0");
        until([&] { return running->device().link_up(0); });
    }
    alone->real_runner()->stop();
    LONGS_EQUAL(20, report("p0")["flaps"].get<int>());
}

TEST(HandOff, framesHandedOffBeforeTheLinkWentDownGoOn) {
    starts();
    arrive(1, 6);
    worker_turn(1);
    p0.set_link(false);
    alone->devices()->poll_links(now);
    for (const unsigned worker : {0U, 1U}) worker_turn(worker);
    LONGS_EQUAL(6, p1.sent.size());
    LONGS_EQUAL(0, ledger().queued);
}

TEST(HandOff, endsWithFramesOnTheirWay) {
    starts();
    arrive(1, 6);
    worker_turn(1);
}

}  // namespace sluice::hand_off_test
