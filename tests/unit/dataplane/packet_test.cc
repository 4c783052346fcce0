#include "dataplane/base/packet.hh"

#include <rte_mbuf_dyn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "dataplane/base/described.hh"
#include "dataplane/base/packet_pool.hh"
#include "lib/values/rng.hh"
#include "tests/unit/ip_addresses.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::packet_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes contents(const Packet* packet) {
    Bytes bytes;
    for (const Packet* segment = packet; segment != nullptr; segment = segment->next) {
        const auto* data = rte_pktmbuf_mtod(segment, const std::uint8_t*);
        bytes.insert(bytes.end(), data, data + segment->data_len);
    }
    return bytes;
}

unsigned segments(const Packet* packet) {
    unsigned count = 0;
    for (; packet != nullptr; packet = packet->next) ++count;
    return count;
}

std::string check(const Packet* packet) {
    const char* reason = nullptr;
    return rte_mbuf_check(packet, 1, &reason) == 0 ? "" : reason;
}

}  // namespace

TEST_GROUP(PacketSegments) {
    PacketPool pool{"packet_test", 1000, 0};

    // A packet whose bytes count up, in segments of these sizes.
    Packet* make(const std::vector<unsigned>& sizes) {
        Packet* head = nullptr;
        Packet* last = nullptr;
        std::uint8_t next = 0;
        for (const unsigned size : sizes) {
            Packet* segment = rte_pktmbuf_alloc(pool.pool());
            CHECK_TRUE(segment != nullptr);
            segment->data_len = static_cast<std::uint16_t>(size);
            for (unsigned i = 0; i < size; ++i) frame_bytes(segment)[i] = next++;
            if (head == nullptr)
                head = segment;
            else
                last->next = segment;
            last = segment;
        }
        head->nb_segs = static_cast<std::uint16_t>(sizes.size());
        head->pkt_len = std::accumulate(sizes.begin(), sizes.end(), 0U);
        return head;
    }

    void teardown() override { LONGS_EQUAL(0, pool.in_use()); }  // every segment came back
};

TEST(PacketSegments, makeContiguousRefusesWhatIsNotThereAndChangesNothing) {
    Packet* packet = make({1, 2, 3});
    const Bytes before = contents(packet);
    CHECK_FALSE(make_contiguous(packet, 7));
    CHECK_TRUE(contents(packet) == before);
    LONGS_EQUAL(3, segments(packet));
    rte_pktmbuf_free(packet);
}

TEST(PacketSegments, makeContiguousRefusesMoreThanASegmentHolds) {
    Packet* packet = make({2000, 2000});
    const std::uint32_t room = 2000U + rte_pktmbuf_tailroom(packet);
    CHECK_FALSE(make_contiguous(packet, room + 1));
    CHECK_TRUE(make_contiguous(packet, room));
    LONGS_EQUAL(room, packet->data_len);
    STRCMP_EQUAL("", check(packet).c_str());
    rte_pktmbuf_free(packet);
}

TEST(PacketSegments, makeContiguousLeavesAloneWhatIsInOnePiece) {
    Packet* packet = make({100, 50});
    CHECK_TRUE(make_contiguous(packet, 100));
    LONGS_EQUAL(100, packet->data_len);
    LONGS_EQUAL(2, segments(packet));
    rte_pktmbuf_free(packet);
}

TEST(PacketSegments, makeContiguousOfTinySegments) {
    for (const auto& sizes : std::vector<std::vector<unsigned>>{{1, 1, 1, 1, 1, 1, 1, 60},
                                                                {1, 200},
                                                                {14, 20, 8, 12, 500},
                                                                {0, 64},
                                                                {3, 0, 0, 90, 0},
                                                                {40, 40, 40}}) {
        const unsigned total = std::accumulate(sizes.begin(), sizes.end(), 0U);
        for (unsigned wanted = 0; wanted <= total; ++wanted) {
            Packet* packet = make(sizes);
            const Bytes before = contents(packet);
            CHECK_TRUE(make_contiguous(packet, wanted));
            CHECK_TRUE(packet->data_len >= wanted);
            CHECK_TRUE(contents(packet) == before);
            LONGS_EQUAL(total, packet->pkt_len);
            LONGS_EQUAL(segments(packet), packet->nb_segs);
            STRCMP_EQUAL("", check(packet).c_str());
            rte_pktmbuf_free(packet);
        }
    }
}

TEST(PacketSegments, makeContiguousOfAnythingAtRandom) {
    for (std::uint64_t n = 0; n < 2000; ++n) {
        std::vector<unsigned> sizes;
        const auto drawn = [&](std::uint64_t what) { return draw({n, 0, 0, what}); };
        for (unsigned i = 0; i < 1 + drawn(0) % 8; ++i)
            sizes.push_back(static_cast<unsigned>(drawn(10 + i) % (drawn(30 + i) % 2 == 0 ? 5 : 2048)));
        Packet* packet = make(sizes);
        const Bytes before = contents(packet);
        const auto wanted = static_cast<std::uint32_t>(drawn(1) % 400);
        const bool possible =
            wanted <= packet->data_len ||
            (wanted <= before.size() && wanted <= packet->data_len + rte_pktmbuf_tailroom(packet));
        LONGS_EQUAL(possible, make_contiguous(packet, wanted));
        CHECK_TRUE(contents(packet) == before);
        LONGS_EQUAL(segments(packet), packet->nb_segs);
        STRCMP_EQUAL("", check(packet).c_str());
        rte_pktmbuf_free(packet);
    }
}

TEST(PacketSegments, cutPacketFreesWhatIsBehind) {
    for (const auto& sizes :
         std::vector<std::vector<unsigned>>{{200}, {60, 60, 80}, {1, 0, 199}, {768, 768, 1}}) {
        const unsigned total = std::accumulate(sizes.begin(), sizes.end(), 0U);
        for (unsigned wanted = 1; wanted <= total; ++wanted) {
            Packet* packet = make(sizes);
            Bytes before = contents(packet);
            before.resize(wanted);
            cut_packet(packet, wanted);
            CHECK_TRUE(contents(packet) == before);
            LONGS_EQUAL(wanted, packet->pkt_len);
            LONGS_EQUAL(segments(packet), packet->nb_segs);
            LONGS_EQUAL(packet->nb_segs, pool.in_use());
            STRCMP_EQUAL("", check(packet).c_str());
            rte_pktmbuf_free(packet);
        }
    }
}

TEST(PacketSegments, theFirstBytesAreInOnePieceWhateverTheSegments) {
    for (const auto& sizes : std::vector<std::vector<unsigned>>{
             {60}, {1, 59}, {256}, {255, 1, 40}, {10, 10, 10}, {100, 2000, 2000}, {0}}) {
        Packet* packet = make(sizes);
        const Bytes whole = contents(packet);
        std::array<std::uint8_t, parse_view_bytes> copy;
        const auto view = first_bytes(packet, copy);
        LONGS_EQUAL(std::min<std::size_t>(whole.size(), parse_view_bytes), view.size());
        CHECK_TRUE(std::equal(view.begin(), view.end(), whole.begin()));
        rte_pktmbuf_free(packet);
    }
}

TEST(PacketSegments, metaIsTheirOwn) {
    Packet* one = make({60});
    Packet* other = make({60});
    std::memset(static_cast<void*>(&meta(one)), 0xAA, sizeof(PacketMeta));
    std::memset(static_cast<void*>(&meta(other)), 0x55, sizeof(PacketMeta));
    LONGS_EQUAL(0xAAAA, meta(one).ingress_port);
    LONGS_EQUAL(0x5555, meta(other).ingress_port);
    LONGS_EQUAL(0, frame_bytes(one)[0]);
    LONGS_EQUAL(59, frame_bytes(other)[59]);
    rte_pktmbuf_free(one);
    rte_pktmbuf_free(other);
}

TEST(PacketSegments, metaTakesNothingOfWhatDpdkKnows) {
    Packet* packet = make({60});
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(packet);
    const Bytes before(bytes, bytes + packet_meta_offset);
    std::memset(static_cast<void*>(&meta(packet)), 0xAA, sizeof(PacketMeta));
    CHECK_TRUE(std::equal(before.begin(), before.end(), bytes));
    rte_pktmbuf_free(packet);
}

TEST(PacketSegments, metaIsReservedAndItsFirstFieldIsADriversTimestamp) {
    STRCMP_EQUAL("", reserve_packet_meta().c_str());  // once more: it is ours
    int timestamp = 0;
    std::uint64_t flag = 0;
    LONGS_EQUAL(0, rte_mbuf_dyn_rx_timestamp_register(&timestamp, &flag));  // as net_pcap does
    LONGS_EQUAL(packet_meta_offset, timestamp);
    rte_mbuf_dynfield other{"packet_test", 8, 8, 0};
    LONGS_EQUAL(-1, rte_mbuf_dynfield_register(&other));  // has no room but where we are
}

TEST(PacketSegments, aFrameTakesAsManyBuffersAsItNeeds) {
    const Bytes frame(9000, 0xAB);
    const PacketPool large("packet_test_large", 100, 0, 16'384);
    LONGS_EQUAL(16'384, data_bytes_of(large.pool()));
    for (const auto& [from, wanted] : {std::pair{pool.pool(), 5U}, std::pair{large.pool(), 1U}}) {
        Packet* packet = make_packet(from, frame, false);
        LONGS_EQUAL(wanted, segments(packet));
        CHECK(contents(packet) == frame);
        STRCMP_EQUAL("", check(packet).c_str());
        rte_pktmbuf_free(packet);
    }
}

// A described one, too, whose tag a switch has taken off, or put on.
TEST(PacketSegments, areCopiedWhole) {
    using namespace roce;
    Packet* carried = make({7, 100, 1, 300});
    Bytes copy(carried->pkt_len);
    copy_frame(carried, copy.data());
    CHECK_TRUE(copy == contents(carried));
    rte_pktmbuf_free(carried);

    const Outgoing data{.opcode = Opcode::write_only, .psn = 5, .payload_bytes = 4093, .offset = 77};
    const auto route_of = [](std::optional<std::uint16_t> tci) {
        Route route{};
        route.vlan_tci = tci;
        route.source = v4(1);
        route.destination = v4(2);
        return route;
    };
    for (const bool tagged : {false, true}) {
        PacketWriter other(route_of(tagged ? std::nullopt : std::optional<std::uint16_t>(3)), 7);
        Bytes wanted(other.frame_bytes(data));
        other.write(data, wanted);
        PacketWriter own(route_of(tagged ? std::optional<std::uint16_t>(3) : std::nullopt), 7);
        Packet* packet = rte_pktmbuf_alloc(pool.pool());
        const FrameTail tail = own.write_head(data, {frame_bytes(packet), described_bytes});
        describe_rest(packet, described_bytes, own.frame_bytes(data), tail);
        CHECK_TRUE(is_described(packet));
        if (tagged)
            rte_pktmbuf_adj(packet, sizeof(VlanTag));
        else
            rte_pktmbuf_prepend(packet, sizeof(VlanTag));
        CHECK_TRUE(packet->data_len >= parse_view_bytes);
        std::copy_n(wanted.begin(), 18, frame_bytes(packet));
        LONGS_EQUAL(wanted.size(), packet->pkt_len);
        copy.assign(wanted.size(), 0);
        copy_frame(packet, copy.data());
        CHECK_TRUE(copy == wanted);
        rte_pktmbuf_free(packet);
    }
}

}  // namespace sluice::packet_test
