#include "dataplane/peers/link_port.hh"

#include <vector>

#include "dataplane/base/packet_pool.hh"
#include "lib/pfc/pfc_frame.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::link_port_test {
namespace {

constexpr Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }
constexpr Duration cable = nanoseconds(200);
constexpr Duration reaction = nanoseconds(1000);

}  // namespace

// 100G: a PFC frame, 84 bytes on the wire, takes 6.72 ns.
TEST_GROUP(LinkPort) {
    PacketPool pool{"link", 256, 0};
    LinkPort left{{cable, reaction, gigabits(100), 4}}, right{{cable, Duration{}, gigabits(100), 4}};
    std::vector<Packet*> got;

    void setup() override { LinkPort::join(left, right); }
    void teardown() override {
        for (Packet* packet : got) rte_pktmbuf_free(packet);
        left.close();
        right.close();
        LONGS_EQUAL(0, pool.in_use());
    }
    static void send(LinkPort & from, Packet * packet, Time departure, bool lossless = false) {
        meta(packet).departure = departure;
        meta(packet).treatment.lossless = lossless;
        LONGS_EQUAL(1, from.transmit({&packet, 1}));
    }
    Packet* data() const { return make_packet(pool.pool(), std::vector<std::uint8_t>(60), false); }
    Packet* pause() const {
        PauseMap map;
        map.class_enable = 8;
        map.quanta[3] = 0xFFFF;
        std::array<std::uint8_t, pfc_frame_bytes> frame;
        build_pfc_frame(frame, MacAddress{}, map);
        return make_packet(pool.pool(), frame, false);
    }
    std::size_t receive(LinkPort & to, Time now) {
        std::array<Packet*, 8> burst;
        const unsigned count = to.receive(burst, now);
        got.insert(got.end(), burst.begin(), burst.begin() + count);
        return count;
    }
};

TEST(LinkPort, AFrameArrivesACableLaterAndIsThePacketThatWasSent) {
    Packet* packet = data();
    send(left, packet, at(1000));
    CHECK_TRUE(right.next_arrival() != nullptr && *right.next_arrival() == at(1200));
    CHECK_TRUE(right.expects_frames());
    CHECK_FALSE(left.expects_frames());
    LONGS_EQUAL(0, receive(right, at(1199)));
    LONGS_EQUAL(1, receive(right, at(1200)));
    POINTERS_EQUAL(packet, got.front());
    CHECK_TRUE(meta(packet).arrival == at(1200));
    CHECK_TRUE(right.next_arrival() == nullptr);
}

TEST(LinkPort, APauseTakesEffectAfterThePeersReactionAndDataOvertakesIt) {
    send(left, pause(), at(1000));
    send(left, data(), at(1007));
    const Time effect = at(1000) + cable + gigabits(100).byte_time() * 84 + reaction;
    LONGS_EQUAL(1, receive(right, effect - picoseconds(1)));
    LONGS_EQUAL(60, got.back()->pkt_len);
    CHECK_TRUE(*right.next_arrival() == effect);
    LONGS_EQUAL(1, receive(right, effect));
    CHECK_TRUE(meta(got.back()).arrival == at(1200));  // from which its quanta count
}

TEST(LinkPort, ACutLosesWhatIsUnderWayAndWhatIsSentUntilTheEndKnows) {
    send(left, data(), at(0));
    send(left, pause(), at(7));
    LONGS_EQUAL(2, right.under_way());
    right.cut(true);
    right.cut(true);
    LONGS_EQUAL(2, right.losses().on_wire);
    send(left, data(), at(100));
    LONGS_EQUAL(1, right.losses().into_cut);
    CHECK_TRUE(left.link_up());
    left.detect(false);
    CHECK_FALSE(left.link_up());
    CHECK_TRUE(right.next_arrival() == nullptr);
    right.cut(false);
    left.detect(true);
    send(left, data(), at(500));
    LONGS_EQUAL(1, receive(right, at(700)));
    LONGS_EQUAL(2, right.losses().on_wire);
    LONGS_EQUAL(1, right.losses().into_cut);
}

TEST(LinkPort, ACutCountsTheLosslessAmongWhatItLoses) {
    send(left, data(), at(0), true);
    send(left, data(), at(7));
    right.cut(true);
    LONGS_EQUAL(1, right.losses().lossless);
    send(left, data(), at(100), true);
    send(left, data(), at(107));
    LONGS_EQUAL(2, right.losses().into_cut);
    LONGS_EQUAL(2, right.losses().lossless);
}

TEST(LinkPort, APauseComesBeforeDataOfItsInstant) {
    Packet* const first = pause();
    send(left, first, at(0));
    const Time effect = *right.next_arrival();
    send(left, data(), effect - cable);
    LONGS_EQUAL(2, receive(right, effect));
    POINTERS_EQUAL(first, got.front());
}

TEST(LinkPort, APortThatIsDownLosesWhatArrivesAtThatInstantAndPauses) {
    send(left, data(), at(0));
    LONGS_EQUAL(1, right.lose_until(at(200)));
    send(left, pause(), at(1000));
    LONGS_EQUAL(1, right.lose_until(at(9000)));
    CHECK_TRUE(right.next_arrival() == nullptr);
}

TEST(LinkPort, APortThatIsDownLosesWhatArrivesMeanwhile) {
    send(left, data(), at(0));
    send(left, data(), at(100));
    LONGS_EQUAL(1, right.lose_until(at(250)));
    LONGS_EQUAL(1, receive(right, at(300)));
}

TEST(LinkPort, ItFallsBehindWithMoreThanHalfOfItsRing) {
    for (int i = 0; i < 5; ++i) send(left, data(), at(10 * i));
    LONGS_EQUAL(2, receive(right, at(210)));
    CHECK_FALSE(right.falls_behind(at(210)).value());
    LONGS_EQUAL(3, receive(right, at(1000)));
    CHECK_TRUE(right.falls_behind(at(1000)).value());
}

TEST(LinkPort, ItsRingIsBoundedBetweenTurns) {
    for (int i = 0; i < 6; ++i) send(left, data(), at(10 * i));
    LONGS_EQUAL(4, receive(right, at(1000)));
    LONGS_EQUAL(2, right.account().missed);
    CHECK_TRUE(right.falls_behind(at(1000)).value());
    CHECK_TRUE(right.next_arrival() == nullptr);
}

}  // namespace sluice::link_port_test
