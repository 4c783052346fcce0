// Packets whose payload a switch has cut off: how they are read, asked for once and delivered never, packet
// by packet (rc_traces.hh; "t" is trimmed), and what the NIC makes of them.
#include "lib/frame/trim.hh"

#include "tests/unit/ip_addresses.hh"
#include "tests/unit/roce/incoming.hh"
#include "tests/unit/roce/nic_pair.hh"
#include "tests/unit/roce/rc_traces.hh"

namespace sluice::trimmed_test {
namespace {

using namespace sluice::roce;
using Refusal = Incoming::Refusal;

constexpr std::uint32_t mtu = traced_mtu;
constexpr std::uint32_t some_qp = 0x345678;
constexpr RecoverySettings patient{Recovery::selective, min_receive_window, microseconds(5), true};

Route some_way(bool is_v6, bool tagged) {
    Route route;
    route.source_mac = {{2, 0, 0, 0, 0, 1}};
    route.destination_mac = {{2, 0, 0, 0, 0, 2}};
    if (tagged) route.vlan_tci = 0x6001;
    route.source = is_v6 ? v6(1) : v4(0x0A000001);
    route.destination = is_v6 ? v6(2) : v4(0x0A000002);
    route.dscp = 26;
    return route;
}

std::vector<std::uint8_t> trimmed(const Outgoing& packet, const Route& route, std::uint16_t bytes) {
    PacketWriter writer(route, some_qp);
    std::vector<std::uint8_t> frame(writer.frame_bytes(packet));
    writer.write(packet, frame);
    const TrimPolicy policy{.trimmable = ~std::uint64_t{0}, .bytes = bytes, .dscp = 11};
    const auto stay = trim_headers(frame, static_cast<std::uint32_t>(frame.size()), policy);
    CHECK_TRUE(stay.has_value());
    frame.resize(stay.value_or(0));
    return frame;
}

Outgoing data(Opcode opcode, std::uint32_t psn) {
    Outgoing packet;
    packet.opcode = opcode;
    packet.psn = psn;
    packet.payload_bytes = 1024;
    return packet;
}

}  // namespace

TEST_GROUP(TrimmedPacket){};

TEST(TrimmedPacket, headersAreReadWithoutIcrc) {
    for (const bool is_v6 : {false, true})
        for (const bool tagged : {false, true})
            for (const std::uint16_t bytes : {94, 128, 256, 1024})
                for (const Opcode opcode : {Opcode::send_first, Opcode::write_middle, Opcode::write_only,
                                            Opcode::read_response_last}) {
                    const auto route = some_way(is_v6, tagged);
                    const Incoming in = read_packet(trimmed(data(opcode, 0xABCDEF), route, bytes));
                    CHECK_TRUE(in.refusal == Refusal::trimmed && in.opcode == opcode);
                    LONGS_EQUAL(0xABCDEF, in.psn);
                    LONGS_EQUAL(some_qp, in.qp);
                    LONGS_EQUAL(11, in.dscp);
                    CHECK_TRUE(in.ecn == Ecn::ect0 && in.source == route.source &&
                               in.destination == route.destination && in.payload.empty());
                }
}

// The BTH ends at byte 54 over IPv4, at 74 over IPv6.
TEST(TrimmedPacket, withoutItsBthItIsCut) {
    CHECK_TRUE(read_packet(trimmed(data(Opcode::send_only, 1), some_way(false, false), 64)).refusal ==
               Refusal::trimmed);
    CHECK_TRUE(read_packet(trimmed(data(Opcode::send_only, 1), some_way(true, false), 64)).refusal ==
               Refusal::cut);
}

// No byte of it is read beyond its end, and none leads to more than one of these.
TEST(TrimmedPacket, anyByteMayBeWrong) {
    const auto good = trimmed(data(Opcode::write_first, 77), some_way(false, false), 64);
    for (std::size_t at = 0; at < good.size(); ++at)
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::vector<std::uint8_t> frame = good;
            frame[at] = static_cast<std::uint8_t>(frame[at] ^ 1U << bit);
            CHECK_TRUE(read_packet(frame).refusal != Refusal::none);
            for (std::size_t size = 0; size < frame.size(); ++size)
                CHECK_TRUE(read_packet(std::span(frame).first(size)).refusal != Refusal::none);
        }
}

// Control has no payload to lose.
TEST(TrimmedPacket, othersAreNotTrimmed) {
    auto frame = trimmed(data(Opcode::send_only, 1), some_way(false, false), 128);
    for (const Opcode opcode : {Opcode::acknowledge, Opcode::read_request, Opcode::cnp}) {
        frame[42] = static_cast<std::uint8_t>(opcode);
        CHECK_TRUE(read_packet(frame).refusal == Refusal::cut);
    }
    frame[42] = 0x15;
    CHECK_TRUE(read_packet(frame).refusal == Refusal::opcode);
}

TEST_GROUP_BASE(Trimmed, sluice::roce::RcTraces){void setup() override{recovers(patient);
}  // namespace sluice::trimmed_test
void recovers(const RecoverySettings& recovery) { requester.recovery = responder.recovery = recovery; }
}
;

// It does not wait for the reorder window.
TEST(Trimmed, isAskedForAtOnceAndAlone) {
    trimmed_requests = {1};
    traces_send({"> send_first 0", "t send_middle 1", "> send_middle 2", "< nak 1-2", "> send_middle 3",
                 "> send_last 4*", "> send_middle 1*", "< ack 4"});
    LONGS_EQUAL(1, asked);
    LONGS_EQUAL(0, timeouts);
}

TEST(Trimmed, theLastNeedsNoTimeOut) {
    trimmed_requests = {4};
    traces_send(
        joined({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "t send_last 4*"},
               {"< nak 4-5", "> send_last 4*", "< ack 4"}));
    reorders(requests, 0, 0, 0);  // its headers were not behind any others
    LONGS_EQUAL(0, timeouts);
}

TEST(Trimmed, allOfThem) {
    trimmed_requests = {0, 1, 2, 3, 8};
    traces_send({"t send_first 0", "t send_middle 1",  "< nak 0-1",      "t send_middle 2",
                 "< nak 1-2",      "t send_middle 3",  "< nak 2-3",      "> send_first 0*",
                 "< nak 3-4",      "> send_middle 1*", "< ack 0",        "> send_middle 2*",
                 "< ack 1",        "> send_middle 3*", "< ack 2",        "t send_last 4*",
                 "< ack 3",        "< nak 4-5",        "> send_last 4*", "< ack 4"});
    LONGS_EQUAL(5, asked);
    LONGS_EQUAL(0, timeouts);
}

TEST(Trimmed, whatIsSentAgainIsAskedForAgain) {
    trimmed_requests = {1, 5};
    traces_send({"> send_first 0", "t send_middle 1", "> send_middle 2", "< nak 1-2", "> send_middle 3",
                 "> send_last 4*", "t send_middle 1*", "< nak 1-2", "> send_middle 1*", "< ack 4"});
    LONGS_EQUAL(2, asked);
}

// The reorder window finds packet 1, and leaves out packet 2, which is asked for.
TEST(Trimmed, aHoleBesideItIsAskedForByItself) {
    responder.recovery.reorder_window = requester.recovery.reorder_window = microseconds(3);
    lost_requests = {1};
    trimmed_requests = {2};
    late_requests = {{5, 20}};
    traces_send({"> send_first 0", "x send_middle 1", "t send_middle 2", "> send_middle 3", "< nak 2-3",
                 "> send_last 4*", "> send_middle 2*", "< nak 1-2", "> send_middle 1*", "< ack 1",
                 "< ack 4"});
    LONGS_EQUAL(0, timeouts);
}

TEST(Trimmed, isIgnoredByDefault) {
    recovers({Recovery::selective, min_receive_window, {}});
    trimmed_requests = {1};
    traces_send({"> send_first 0", "t send_middle 1", "> send_middle 2", "> send_middle 3", "< nak 1-2",
                 "> send_last 4*", "> send_middle 1*", "< ack 4"});
    LONGS_EQUAL(0, asked);
}

TEST(Trimmed, goBackNIgnoresIt) {
    recovers({Recovery::go_back_n, 1024, {}, true});
    trimmed_requests = {4};
    traces_send({"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "t send_last 4*",
                 "> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3", "> send_last 4*",
                 "< ack 4"});
    LONGS_EQUAL(0, asked);
    LONGS_EQUAL(1, timeouts);
}

TEST(Trimmed, aResponseIsAskedForByAPartialRead) {
    trimmed_answers = {2};
    traces_read({"> read_request 0", "< read_response_first 0", "< read_response_middle 1",
                 "t read_response_middle 2", "< read_response_middle 3", "< read_response_last 4",
                 "> read_request 2", "< read_response_only 2"});
    LONGS_EQUAL(1, asked);
    LONGS_EQUAL(0, timeouts);
}

// A copy that comes when the packet is there already asks for nothing but the ACK.
TEST(Trimmed, oneThatIsHereIsNotAskedFor) {
    RcResponder end(responder);
    end.receive(send_only(0));
    end.next();
    Incoming copy = send_only(0);
    copy.refusal = Refusal::trimmed;
    CHECK_FALSE(end.receive_trimmed(copy, Time{}));
    CHECK_FALSE(end.has_next());
    copy.ack_request = true;
    CHECK_FALSE(end.receive_trimmed(copy, Time{}));
    CHECK_TRUE(end.next()->aeth.syndrome == syndrome_ack);
    copy.psn = 3;
    end.receive(send_only(3));
    CHECK_FALSE(end.receive_trimmed(copy, Time{}));  // it waits for its turn
    copy.psn = 1 + min_receive_window;
    CHECK_FALSE(end.receive_trimmed(copy, Time{}));  // beyond the window
    copy.psn = min_receive_window;
    CHECK_TRUE(end.receive_trimmed(copy, Time{}));
}

// After an RNR NAK all is sent again, and a queue pair that has failed asks for nothing.
TEST(Trimmed, nobodyAsksForWhatWillComeOrCannot) {
    Incoming cut = send_only(1);
    cut.refusal = Refusal::trimmed;
    RcResponder end(responder);
    end.receive(send_only(0), std::uint8_t{1});
    CHECK_FALSE(end.receive_trimmed(cut, Time{}));
    end.receive(packet(Opcode::send_middle, 0));
    CHECK_TRUE(end.state() == RcResponder::State::failed);
    CHECK_FALSE(end.receive_trimmed(cut, Time{}));
    for (const std::uint8_t why : {std::uint8_t{syndrome_rnr | 1}, syndrome_invalid_request}) {
        Requester reader(requester);
        CHECK_TRUE(reader.post(Kind::read, 2 * mtu, 0));
        CHECK_FALSE(reader.receive_trimmed_response(0, Time{}));  // nothing was sent
        reader.next(Time{});
        reader.receive_aeth(0, {why}, Time{});
        CHECK_FALSE(reader.receive_trimmed_response(0, Time{}));
    }
}

// More wait for the reorder window or a time-out.
TEST(Trimmed, soManyNaksWait) {
    constexpr unsigned most = 256;
    responder.recovery.receive_window = 1024;
    RcResponder end(responder);
    Incoming cut = send_only(0);
    for (unsigned n = 0; n < most + 5; ++n) {
        cut.psn = n;
        CHECK_EQUAL(n < most, end.receive_trimmed(cut, Time{}));
    }
    for (unsigned n = 0; n < most; ++n) LONGS_EQUAL(n, end.next()->psn);
    CHECK_FALSE(end.has_next());
}

// What is asked for at one turn of the bitmap is a hole again at the next.
TEST(Trimmed, theWindowForgets) {
    ReceiveWindow window(patient);
    const auto at = [](std::int64_t us) { return Time{} + microseconds(us); };
    CHECK_TRUE(window.ask(100, 100, at(0)));
    window.advance(100, 101, at(1));
    const std::uint64_t next = 100 + min_receive_window;
    window.add(next + 1, 1, next, at(2));
    window.expire(next, at(9));
    CHECK_TRUE(window.has_hole());
    LONGS_EQUAL(next, window.next_hole().first);
    LONGS_EQUAL(0, window.counters().inversions);
}

// A trimmed packet counts as marked, or by its own mark alone; ignored, it does neither.
TEST(Trimmed, congestionControlHearsOfIt) {
    struct Row {
        bool naks, marks;
        Ecn ecn;
        unsigned cnps;
    };
    for (const Row& row : {Row{true, true, Ecn::ect0, 1}, Row{true, false, Ecn::ect0, 0},
                           Row{true, false, Ecn::ce, 1}, Row{false, true, Ecn::ce, 0}}) {
        nic_test::NicPair pair;
        pair.flows[0].requester.recovery =
            pair.flows[0].responder.recovery = {Recovery::selective, 1024, microseconds(100), row.naks};
        pair.settings[1].trim_marks = row.marks;
        Route route = some_way(false, false);
        route.source = pair.settings[0].address;
        route.destination = pair.settings[1].address;
        route.ecn = row.ecn;
        PacketWriter writer(route, nic_test::first_qp);
        const Outgoing packet = data(Opcode::write_middle, 0);
        std::vector<std::uint8_t> frame(writer.frame_bytes(packet));
        writer.write(packet, frame);
        const TrimPolicy policy{.trimmable = ~std::uint64_t{0}, .bytes = 128, .dscp = 11};
        frame.resize(*trim_headers(frame, static_cast<std::uint32_t>(frame.size()), policy));
        Nic& nic = pair.nic(1);
        nic.receive(frame, Time{});
        LONGS_EQUAL(1, nic.statistics().trimmed);
        LONGS_EQUAL(0, nic.statistics().refused + nic.statistics().strangers);
        LONGS_EQUAL(row.naks ? 1 : 0, nic.queue_pairs()[0].statistics.trimmed_asked);
        LONGS_EQUAL(0, nic.queue_pairs()[0].statistics.ce_received);
        unsigned cnps = 0, naks = 0;
        while (const auto sent = nic.next_frame(Time{}, 0xFF))
            ++(sent->packet.opcode == Opcode::cnp ? cnps : naks);
        LONGS_EQUAL(row.cnps, cnps);
        LONGS_EQUAL(row.naks ? 1 : 0, naks);
    }
}

}  // namespace sluice::trimmed_test
