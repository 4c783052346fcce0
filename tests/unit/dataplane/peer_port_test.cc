#include "dataplane/peers/peer_port.hh"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "dataplane/base/packet_pool.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::peer_port_test {
namespace {

constexpr ClassId lossless = 3;
constexpr std::uint32_t frame = 1226;  // 100 ns at 100G, with the wire's overhead

constexpr Time at(std::int64_t ns) { return Time{} + nanoseconds(ns); }

// A host as small as can be: it sends what the test gives it, answers each data frame after 500 ns in class
// 0, and has a timer.
class Host {
  public:
    struct Next {
        Time at;
        int which;  // a class; -1: the timer
    };

    explicit Host(rte_mempool* pool) : pool_(pool) {}

    std::optional<Next> next_start(const PauseSender& wire) const {
        std::optional<Next> best;
        if (timer) best = Next{*timer, -1};
        for (const int n : {0, int{lossless}}) {
            const auto& queue = ready[static_cast<std::size_t>(n)];
            if (queue.empty()) continue;
            const Time start = max(queue.front(), wire.earliest_start(static_cast<ClassId>(n)));
            if (!best || start < best->at) best = Next{start, n};
        }
        return best;
    }
    Started start(const Next& next, PauseSender& wire) {
        if (next.which < 0) {
            timer.reset();
            rang = next.at;
            return {};
        }
        ready[static_cast<std::size_t>(next.which)].pop_front();
        wire.started(static_cast<ClassId>(next.which), wire_bytes(frame));
        Packet* packet = make_packet(pool_, std::vector<std::uint8_t>(frame), false);
        if (packet == nullptr) return {nullptr, true};
        meta(packet).arrival = next.at;
        if (!at_end) return {packet, false};
        under_way.emplace_back(packet, wire.free_at());
        return {};
    }
    bool expects_frames(const PauseSender&) const { return !ready[0].empty() || !ready[lossless].empty(); }
    bool deliver(Packet* packet, Time departure) {
        ++delivered;
        if (packet->pkt_len == pfc_frame_bytes) return false;
        ready[0].push_back(departure + nanoseconds(500));
        return true;
    }
    std::optional<Time> next_under_way() const {
        return under_way.empty() ? std::nullopt : std::optional(under_way.front().second);
    }
    Packet* arrived(Time now) {
        if (under_way.empty() || under_way.front().second > now) return nullptr;
        Packet* packet = under_way.front().first;
        under_way.pop_front();
        return packet;
    }
    std::uint64_t lose_under_way(Time now) {
        std::uint64_t lost = 0;
        for (Packet* packet = arrived(now); packet != nullptr; packet = arrived(now), ++lost)
            rte_pktmbuf_free(packet);
        return lost;
    }
    static void link_lost(Time) {}
    void add_to(PortAccount& account) const { account.waiting = ready[0].size() + ready[lossless].size(); }
    std::string close() { return "closed"; }

    std::array<std::deque<Time>, classes> ready;
    std::optional<Time> timer;
    Time rang{};
    bool at_end = false;
    std::deque<std::pair<Packet*, Time>> under_way;
    unsigned delivered = 0;

  private:
    rte_mempool* pool_;
};

class HostPort final : public PeerPort<Host> {
  public:
    HostPort(const PeerSpec& spec, rte_mempool* pool) : PeerPort(spec, pool) {}
    Duration paused(Time now) const { return wire_.paused_time(lossless, now); }
    Host& host() {
        forget_arrival();
        return source_;
    }
};

}  // namespace

// 100G: a quantum takes 5.12 ns, a PFC frame 6.72 ns. The cable takes 10 ns, the reaction 30.
TEST_GROUP(PeerPort) {
    PacketPool pool{"peer", 64, 0};
    std::unique_ptr<HostPort> port;

    void setup() override { make({gigabits(100), PeerDelay{nanoseconds(10), nanoseconds(30)}, 8}); }
    void teardown() override {
        port.reset();
        UNSIGNED_LONGS_EQUAL(0, pool.in_use());
    }
    void make(const PeerSpec& spec) { port = std::make_unique<HostPort>(spec, pool.pool()); }
    void sends(ClassId n, std::initializer_list<std::int64_t> when) {
        for (const std::int64_t ns : when) port->host().ready[n].push_back(at(ns));
    }
    // When the frames that the port gives at `ns` have begun to arrive.
    std::vector<std::int64_t> arrivals(std::int64_t ns) {
        std::array<Packet*, burst_size> burst{};
        std::vector<std::int64_t> begun;
        for (Packet* packet : std::span(burst).first(port->receive(burst, at(ns)))) {
            begun.push_back((meta(packet).arrival - Time{}).ps / 1000);
            rte_pktmbuf_free(packet);
        }
        return begun;
    }
    void gives(std::int64_t ns, const std::vector<std::int64_t>& wanted) { CHECK(wanted == arrivals(ns)); }
    void next_at(std::int64_t ns) {
        CHECK_TRUE(port->next_arrival() != nullptr);
        LONGS_EQUAL(nanoseconds(ns).ps, (*port->next_arrival() - Time{}).ps);
    }
    void transmit(std::int64_t ns, std::span<const std::uint8_t> bytes) {
        Packet* packet = make_packet(pool.pool(), bytes, false);
        meta(packet).departure = at(ns);
        UNSIGNED_LONGS_EQUAL(1, port->transmit({&packet, 1}));
    }
    // Its last bit leaves at `ns`, rounded to a nanosecond.
    void pauses(std::int64_t ns, std::uint16_t quanta) {
        PauseMap map;
        map.class_enable = 1U << lossless;
        map.quanta.fill(quanta);
        std::array<std::uint8_t, pfc_frame_bytes> bytes{};
        build_pfc_frame(bytes, {}, map);
        Packet* packet = make_packet(pool.pool(), bytes, false);
        meta(packet).departure = at(ns) - picoseconds(6720);
        UNSIGNED_LONGS_EQUAL(1, port->transmit({&packet, 1}));
    }
};

TEST(PeerPort, aPeerWithNothingToSendIsSilent) {
    CHECK_TRUE(port->next_arrival() == nullptr);
    gives(1000, {});
    CHECK_FALSE(port->expects_frames());
}

TEST(PeerPort, oneFrameFollowsTheOtherAtTheSpeedOfTheLink) {
    sends(0, {10, 20, 300});
    next_at(10);
    gives(9, {});
    gives(10, {10});
    next_at(110);
    gives(400, {110, 300});
    CHECK_TRUE(port->next_arrival() == nullptr);
}

// A host makes its answer when the switch delivers: the port looks anew, and tells the clock.
TEST(PeerPort, aDeliveryMayBringAFrame) {
    AwakePorts awake;
    std::vector<std::uint32_t> woken;
    awake.report_to(&woken, 7);
    port->wake_in(awake, 5);
    CHECK_TRUE(port->next_arrival() == nullptr);
    transmit(100, std::vector<std::uint8_t>(64));
    CHECK_TRUE(awake.ports.contains(5));
    UNSIGNED_LONGS_EQUAL(1, woken.size());
    UNSIGNED_LONGS_EQUAL(7, woken[0]);
    next_at(600);
    gives(600, {600});
    UNSIGNED_LONGS_EQUAL(1, port->host().delivered);
}

// The switch sees nothing before the wire is free, so the clock goes on to then; a reader sees the step.
TEST(PeerPort, theClockDoesNotStopForAStepDuringAFrame) {
    sends(0, {10});
    gives(10, {10});
    port->host().timer = at(60);
    next_at(110);
    port->catch_up_before(at(60));
    CHECK_TRUE(port->host().rang == Time{});
    port->catch_up(at(60));
    CHECK_TRUE(port->host().rang == at(60));
    sends(0, {70});
    port->catch_up(at(109));
    next_at(110);
    gives(110, {110});
}

// The link forgets a pause as of the last step before it went down.
TEST(PeerPort, aStepDuringAFrameComesBeforeTheLossOfTheLink) {
    pauses(0, 100);  // from 50 to 532
    sends(0, {10});
    gives(10, {10});
    gives(50, {});
    port->host().timer = at(60);
    UNSIGNED_LONGS_EQUAL(0, port->lose_until(at(80)));
    CHECK_TRUE(port->host().rang == at(60));
    CHECK_TRUE(port->paused(at(80)) == nanoseconds(10));
}

TEST(PeerPort, aPausedClassWaitsAndAnotherGoesPastIt) {
    pauses(0, 100);  // from 50 to 532
    sends(lossless, {40, 60});
    sends(0, {200});
    next_at(40);
    gives(40, {40});
    gives(300, {200});
    next_at(532);
    gives(600, {532});
    UNSIGNED_LONGS_EQUAL(1, port->host().delivered);  // PFC is shown, too
}

TEST(PeerPort, whoIgnoresPfcGoesOn) {
    make({gigabits(100), std::nullopt, 8});
    pauses(0, 100);
    sends(lossless, {60});
    gives(60, {60});
}

TEST(PeerPort, aTimerTakesNoTimeOnTheWire) {
    port->host().timer = at(50);
    next_at(50);
    sends(0, {50});
    gives(50, {50});
    CHECK(port->host().rang == at(50));
}

TEST(PeerPort, aFullRingMissesFramesAndIsEmptyAtTheNextTurn) {
    sends(0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    UNSIGNED_LONGS_EQUAL(8, arrivals(2000).size());
    UNSIGNED_LONGS_EQUAL(2, port->account().missed);
    CHECK_TRUE(port->falls_behind(at(2000)).value());
    CHECK_FALSE(port->falls_behind(at(2001)).value());
    sends(0, {2000});
    gives(2001, {2000});
}

TEST(PeerPort, moreThanHalfARingFallsBehind) {
    sends(0, {0, 0, 0, 0});
    UNSIGNED_LONGS_EQUAL(4, arrivals(500).size());
    CHECK_FALSE(port->falls_behind(at(500)).value());
    sends(0, {0});
    UNSIGNED_LONGS_EQUAL(1, arrivals(500).size());
    CHECK_TRUE(port->falls_behind(at(500)).value());
}

TEST(PeerPort, aFrameWithoutAPacketBufferIsMissed) {
    std::vector<Packet*> all;
    while (Packet* packet = rte_pktmbuf_alloc(pool.pool())) all.push_back(packet);
    sends(0, {0, 200});
    gives(0, {});
    UNSIGNED_LONGS_EQUAL(1, port->account().missed);
    for (Packet* packet : all) rte_pktmbuf_free(packet);
    gives(200, {200});
}

TEST(PeerPort, aCutLinkLosesFramesAndPauses) {
    pauses(0, 60000);
    sends(lossless, {60, 60, 5000});
    gives(100, {});
    UNSIGNED_LONGS_EQUAL(2, port->lose_until(at(300)));
    UNSIGNED_LONGS_EQUAL(0, port->account().missed);
    next_at(5000);
    gives(5000, {5000});
}

TEST(PeerPort, aFrameThatIsUnderWayArrivesAtItsTime) {
    port->host().at_end = true;
    sends(0, {0, 0, 0});
    next_at(0);
    gives(0, {});
    next_at(100);
    gives(100, {0});
    gives(200, {100});
    UNSIGNED_LONGS_EQUAL(1, port->lose_until(at(300)));
}

TEST(PeerPort, theSourceTellsItsFiguresAndIsClosed) {
    sends(lossless, {60, 60});
    UNSIGNED_LONGS_EQUAL(2, port->account().waiting);
    STRCMP_EQUAL("closed", port->close().c_str());
}

}  // namespace sluice::peer_port_test
