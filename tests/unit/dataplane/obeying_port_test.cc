#include "dataplane/peers/obeying_port.hh"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "dataplane/base/packet_pool.hh"
#include "lib/pfc/pfc_frame.hh"
#include "tests/unit/pauses.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::obeying_port_test {
namespace {

constexpr Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

// A driver with an endless file of frames of 1226 bytes, 100 ns each at 100G.
class Driver final : public Port {
  public:
    explicit Driver(rte_mempool* from) : pool(from) {}

    unsigned receive(std::span<Packet*> out, Time) override {
        const auto count = static_cast<unsigned>(std::min<std::size_t>(out.size(), left));
        for (Packet*& packet : out.first(count)) {
            packet = make_packet(pool, std::vector<std::uint8_t>(1226), false);
            packet->port = 7;
        }
        left -= count;
        given += count;
        return count;
    }
    unsigned transmit(std::span<Packet* const> frames) override {
        const auto count = static_cast<unsigned>(std::min<std::size_t>(frames.size(), takes));
        for (Packet* packet : frames.first(count)) rte_pktmbuf_free(packet);
        sent += count;
        ++bursts;
        return count;
    }
    std::string close() override { return "closed"; }

    rte_mempool* pool;
    std::size_t left = SIZE_MAX;
    std::size_t takes = SIZE_MAX;
    unsigned given = 0, sent = 0, bursts = 0;
};

}  // namespace

// 100G: a quantum takes 5.12 ns; a PFC frame, which takes 6.72 ns, is handed over as it starts.
TEST_GROUP(ObeyingPort) {
    PacketPool pool{"obeying", 512, 0};
    std::unique_ptr<ObeyingPort> port;
    Driver* driver = nullptr;

    void setup() override {
        auto made = std::make_unique<Driver>(pool.pool());
        driver = made.get();
        port = std::make_unique<ObeyingPort>(std::move(made), gigabits(100));
    }
    void teardown() override {
        port.reset();
        UNSIGNED_LONGS_EQUAL(0, pool.in_use());
    }

    unsigned receives(std::int64_t ns, std::size_t room = burst_size) {
        std::array<Packet*, burst_size> burst{};
        const unsigned count = port->receive(std::span(burst).first(room), at(ns));
        for (unsigned i = 0; i < count; ++i) {
            CHECK(meta(burst[i]).arrival == at(ns));
            rte_pktmbuf_free(burst[i]);
        }
        return count;
    }
    Packet* pfc(std::int64_t ns, std::uint8_t mask, std::uint16_t quanta) {
        std::array<std::uint8_t, pfc_frame_bytes> bytes{};
        build_pfc_frame(bytes, {}, pauses(mask, quanta));
        Packet* packet = make_packet(pool.pool(), bytes, false);
        meta(packet).departure = at(ns);
        return packet;
    }
    Packet* data(std::uint32_t bytes, std::uint16_t from) {
        Packet* packet = make_packet(pool.pool(), std::vector<std::uint8_t>(bytes), false);
        packet->port = from;
        return packet;
    }
    unsigned sends(const std::vector<Packet*>& frames) {
        const unsigned sent = port->transmit(frames);
        for (std::size_t i = sent; i < frames.size(); ++i) rte_pktmbuf_free(frames[i]);
        return sent;
    }
    void says(std::int64_t ns, std::uint16_t quanta, std::uint8_t mask = 0x08) {
        UNSIGNED_LONGS_EQUAL(1, sends({pfc(ns, mask, quanta)}));
    }
};

TEST(ObeyingPort, sendsNoFasterThanItsLink) {
    UNSIGNED_LONGS_EQUAL(1, receives(0));
    UNSIGNED_LONGS_EQUAL(0, receives(99));
    UNSIGNED_LONGS_EQUAL(1, receives(100));
    UNSIGNED_LONGS_EQUAL(10, receives(1199));
    UNSIGNED_LONGS_EQUAL(32, driver->given);
}

TEST(ObeyingPort, aBurstThatMustWaitIsHandedOnBeforeTheNext) {
    UNSIGNED_LONGS_EQUAL(21, receives(2000));
    UNSIGNED_LONGS_EQUAL(11, receives(9000));
    UNSIGNED_LONGS_EQUAL(32, driver->given);
    UNSIGNED_LONGS_EQUAL(3, receives(20000, 3));
    UNSIGNED_LONGS_EQUAL(29, receives(30000));
    UNSIGNED_LONGS_EQUAL(64, driver->given);
}

// No one takes frames for long: the sender does not make up for the wire time.
TEST(ObeyingPort, whatWasNotTakenWaitsInTheFile) {
    CHECK(port->falls_behind(at(0)) == false);
    UNSIGNED_LONGS_EQUAL(32, receives(1'000'000));
    UNSIGNED_LONGS_EQUAL(1, receives(1'000'001));
    UNSIGNED_LONGS_EQUAL(0, receives(1'000'002));
}

TEST(ObeyingPort, anEmptyFileStaysEmpty) {
    driver->left = 2;
    UNSIGNED_LONGS_EQUAL(2, receives(5000));
    UNSIGNED_LONGS_EQUAL(0, receives(9000));
}

TEST(ObeyingPort, aPauseHoldsUntilItsQuantaHavePassed) {
    receives(0);
    says(100, 1000);  // until 100 + 6.72 + 5120
    UNSIGNED_LONGS_EQUAL(0, receives(1000));
    UNSIGNED_LONGS_EQUAL(0, receives(5226));
    CHECK(port->account().paused_time == nanoseconds(5226));
    UNSIGNED_LONGS_EQUAL(1, receives(5227));
    CHECK(port->account().paused_time == nanoseconds(5226));
    UNSIGNED_LONGS_EQUAL(1, driver->given / burst_size);
}

TEST(ObeyingPort, xonResumesAtOnceAndWhatWasHeldIsNotMadeUpFor) {
    receives(0);
    says(100, 0xFFFF);
    UNSIGNED_LONGS_EQUAL(0, receives(10'000));
    says(10'000, 0);
    UNSIGNED_LONGS_EQUAL(1, receives(10'050));
}

TEST(ObeyingPort, aRefreshReplacesTheDeadline) {
    says(0, 1000);
    says(4000, 1000);  // until 9126
    UNSIGNED_LONGS_EQUAL(0, receives(9126));
    CHECK(receives(9127) != 0);
    says(20'000, 1000);
    says(20'100, 10);  // until 20158
    UNSIGNED_LONGS_EQUAL(0, receives(20'157));
    CHECK(receives(20'158) != 0);
}

TEST(ObeyingPort, anyClassHoldsAllAndAllMustResume) {
    says(0, 0xFFFF, 0x81);
    says(100, 0, 0x01);
    UNSIGNED_LONGS_EQUAL(0, receives(200));
    says(300, 0, 0x80);
    CHECK(receives(400) != 0);
    says(500, 0xFFFF, 0x00);  // of no class
    CHECK(receives(600) != 0);
}

TEST(ObeyingPort, whatTheDeviceDidNotTakeIsNotHeard) {
    driver->takes = 0;
    UNSIGNED_LONGS_EQUAL(0, sends({pfc(0, 0x08, 0xFFFF), data(100, 7)}));
    CHECK(receives(100) != 0);
    driver->takes = 1;
    UNSIGNED_LONGS_EQUAL(1, sends({data(100, 7), data(100, 7), pfc(200, 0x08, 0xFFFF)}));
    CHECK(receives(300) != 0);
}

TEST(ObeyingPort, hearsAPauseAmongData) {
    UNSIGNED_LONGS_EQUAL(3, sends({data(100, 7), pfc(0, 0x08, 0xFFFF), data(100, 7)}));
    UNSIGNED_LONGS_EQUAL(3, driver->sent);
    UNSIGNED_LONGS_EQUAL(0, receives(1000));
}

TEST(ObeyingPort, takesNothingElseForAPause) {
    Packet* looks_alike = pfc(0, 0x08, 0xFFFF);
    looks_alike->port = 7;  // it came in somewhere
    UNSIGNED_LONGS_EQUAL(1, sends({looks_alike}));
    UNSIGNED_LONGS_EQUAL(2, sends({data(60, RTE_MBUF_PORT_INVALID), data(61, RTE_MBUF_PORT_INVALID)}));
    CHECK(receives(1000) != 0);
    UNSIGNED_LONGS_EQUAL(2, driver->bursts);  // data alone goes in one piece
}

TEST(ObeyingPort, givesBackWhatItKeepsWhenItIsClosed) {
    receives(0);
    CHECK(pool.in_use() == 31);
    STRCMP_EQUAL("closed", port->close().c_str());
    UNSIGNED_LONGS_EQUAL(0, pool.in_use());
}

}  // namespace sluice::obeying_port_test
