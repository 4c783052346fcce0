// The out-batch against a plain list of frames: the frames that a driver takes, a watchdog discards, and
// those put first.
#include "dataplane/path/out_batch.hh"

#include <map>
#include <random>
#include <vector>

#include "dataplane/base/packet_pool.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::out_batch_test {

struct Sum {
    unsigned frames = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Sum&) const = default;
};
using Sums = std::map<unsigned, Sum>;

namespace {

struct Frame {
    unsigned queue;
    Packet* packet;
    bool operator==(const Frame&) const = default;
};

Sums sums_of(const std::vector<Frame>& frames) {
    Sums sums;
    for (const Frame& frame : frames) {
        ++sums[frame.queue].frames;
        sums[frame.queue].bytes += frame.packet->pkt_len;
    }
    return sums;
}

}  // namespace

TEST_GROUP(OutBatch) {
    PacketPool pool{"out_batch", 255, 0};
    std::mt19937_64 random{7};
    OutBatch out;
    std::vector<Frame> wanted;

    Packet* make(std::uint32_t bytes) {
        Packet* packet = rte_pktmbuf_alloc(pool.pool());
        packet->pkt_len = bytes;
        return packet;
    }
    unsigned below(unsigned limit) { return static_cast<unsigned>(random() % limit); }

    void pick() {
        std::vector<Packet*> picked;
        while (picked.size() < out.room() && below(4) != 0) {
            const unsigned queue = below(8);
            const unsigned frames = 1 + below(out.room() - static_cast<unsigned>(picked.size()));
            std::uint32_t bytes = 0;
            for (unsigned n = 0; n < frames; ++n) {
                picked.push_back(make(60 + below(9000)));
                wanted.push_back({queue, picked.back()});
                bytes += picked.back()->pkt_len;
            }
            out.add_run(queue, frames, bytes);
        }
        std::ranges::copy(picked, out.extend(static_cast<unsigned>(picked.size())).begin());
    }
    void put_first() {
        if (out.room() == 0) return;
        Packet* packet = make(60);
        out.put_first(packet, 60);
        wanted.insert(wanted.begin(), {no_queue, packet});
        CHECK_TRUE(out.begins_with_ours());
    }
    void send() {
        const unsigned frames = below(out.count() + 1);
        const std::vector<Frame> gone(wanted.begin(), wanted.begin() + frames);
        const Sums right = sums_of(gone);
        for (const Frame& frame : gone) rte_pktmbuf_free(frame.packet);
        for (const Frame& frame : gone) frame.packet->pkt_len = 0;  // it is the driver's: nobody asks it
        Sums counted;
        out.sent(frames, [&](unsigned queue, unsigned count, std::uint32_t bytes) {
            counted[queue].frames += count;
            counted[queue].bytes += bytes;
        });
        CHECK_TRUE(counted == right);
        wanted.erase(wanted.begin(), wanted.begin() + frames);
    }
    void discard(unsigned queue) {
        std::vector<Packet*> dropped, right;
        for (const Frame& frame : wanted)
            if (frame.queue == queue) right.push_back(frame.packet);
        LONGS_EQUAL(right.size(), out.discard([&](Packet* packet) { dropped.push_back(packet); }, queue));
        CHECK_TRUE(dropped == right);
        std::erase_if(wanted, [&](const Frame& frame) { return frame.queue == queue; });
        for (Packet* packet : dropped) rte_pktmbuf_free(packet);
    }
    void compare() {
        LONGS_EQUAL(wanted.size(), out.count());
        CHECK_EQUAL(wanted.empty(), out.empty());
        CHECK_EQUAL(!wanted.empty() && wanted.front().queue == no_queue, out.begins_with_ours());
        for (std::size_t i = 0; i < wanted.size(); ++i) POINTERS_EQUAL(wanted[i].packet, out.packets()[i]);
    }
    void teardown() override {
        out.discard([](Packet* packet) { rte_pktmbuf_free(packet); });
        CHECK_TRUE(out.empty());
        LONGS_EQUAL(0, pool.in_use());
    }
};

TEST(OutBatch, isWhatAListWouldBe) {
    for (unsigned step = 0; step < 20'000; ++step) {
        switch (below(5)) {
            case 0:
                put_first();
                break;
            case 1:
                discard(below(4) == 0 ? no_queue : below(8));
                break;
            case 2:
                pick();
                break;
            default:
                send();
        }
        compare();
    }
}

}  // namespace sluice::out_batch_test
