// sluice-peer as a RoCE host, without its socket: its options, its pauses, its lines.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "control/config/schema/values.hh"
#include "tests/traffic/support.hh"
#include "tools/traffic/host_options.hh"
#include "tools/traffic/host_watch.hh"
#include "tools/traffic/port_accounts.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::traffic::host_peer_test {
namespace {

const Words enough{"host",      "--interface", "eth0",      "--hosts",          "10.0.1.2,10.0.2.2,10.0.3.2",
                   "--address", "10.0.2.2",    "--gateway", "02:00:00:00:00:01"};

// The options, and what is wrong with them.
std::pair<HostOptions, std::string> read(const Words& more, Words words = enough) {
    words.insert(words.end(), more.begin(), more.end());
    std::pair<HostOptions, std::string> made;
    const auto line = parse(peer_program(made.first, nullptr), words);
    made.second = line ? wrong_with(made.first) : line.error();
    return made;
}
HostOptions parsed(const Words& more) { return read(more).first; }

// Without the program's name and where its help is.
std::string refusal(const Words& more, const Words& words = enough) {
    const std::string text = read(more, words).second;
    constexpr std::string_view first = "sluice-peer: ";
    return text.starts_with(first) ? text.substr(first.size(), text.rfind("; see: ") - first.size()) : text;
}

std::vector<std::uint8_t> pfc(std::initializer_list<std::pair<unsigned, std::uint16_t>> quanta) {
    Frame frame;
    std::array<std::optional<std::uint16_t>, 8> map;
    for (const auto& [n, count] : quanta) map[n] = count;
    build_pfc(frame, {}, map);
    return {frame.all().begin(), frame.all().end()};
}

std::vector<std::vector<std::uint8_t>> data_frames(std::uint32_t count, Ecn ecn = Ecn::ect0) {
    roce::Route route;
    route.source = *parse_address("10.0.1.2");
    route.destination = *parse_address("10.0.2.2");
    route.ecn = ecn;
    roce::PacketWriter writer(route, first_host_qp);
    std::vector<std::vector<std::uint8_t>> made;
    for (roce::Outgoing packet{.payload_bytes = 64}; packet.psn < count; ++packet.psn)
        writer.write(packet, made.emplace_back(writer.frame_bytes(packet)));
    return made;
}

}  // namespace

TEST_GROUP(HostOptions){};

TEST(HostOptions, mistakesAreRefusedInWords) {
    const std::vector<std::pair<Words, std::string>> mistakes{
        {{"--flows", "2"}, "\"--flows\" is not an option"},
        {{"mtu", "512"}, "unexpected argument \"mtu\""},
        {{"--mtu"}, "--mtu wants a value: BYTES"},
        {{"--mtu", "1000"}, "--mtu \"1000\" is none of: 256, 512, 1024, 2048, 4096"},
        {{"--cc", "timely"}, "--cc \"timely\" is none of: dcqcn, dcqcn-paper, dcqcn-timer, none"},
        {{"--dscp", "64"}, "--dscp \"64\" is not from 0 to 63"},
        {{"--qps", "1025"}, "--qps \"1025\" is not from 1 to 1024"},
        {{"--pfc", "no"}, "--pfc \"no\" is none of: obey, ignore"},
        {{"--answers", "no", "--kind", "read"}, "--kind read needs --answers yes"},
        {{"--depth", "0"}, "--depth \"0\" is not from 1 to 65536"},
        {{"--message", "0"}, "--message \"0\" is not from 1B to 1GiB"},
        {{"--message", "5XB"}, "--message \"5XB\" has the unknown unit \"XB\""},
        {{"--timeout", "4"}, "--timeout \"4\" has no unit"},
        {{"--retry_count", "-1"}, "--retry_count \"-1\" is negative"},
        {{"--to", "10.0.1.2,10.0.1.2"}, "--to \"10.0.1.2,10.0.1.2\" names 10.0.1.2 twice"},
        {{"--to", "10.0.1.2,"}, "--to \"10.0.1.2,\" holds \"\", which is not an IP address"},
        {{"--to", "10.0.2.2"}, "--to names the host itself"},
        {{"--to", "10.0.4.2"}, "--to 10.0.4.2 is none of --hosts"},
        {{"--address", "10.0.4.2"}, "--address 10.0.4.2 is none of --hosts"},
        {{"--hosts", "10.0.2.2,2001:db8::1"}, "--hosts are not of one family"},
        {{"--rate", "10M", "--scale", "1"},
         "--rate 10M times --scale 1 is a line of 10M; wanted: from 1G to 800G"},
        {{"--rate", "100G", "--scale", "1000"},
         "--rate 100G times --scale 1000 is a line of 100T; wanted: from 1G to 800G"},
    };
    for (const auto& [words, wanted] : mistakes) STRCMP_EQUAL(wanted.c_str(), refusal(words).c_str());
    for (std::size_t n = 1; n < enough.size(); n += 2) {
        Words words = enough;
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(n),
                    words.begin() + static_cast<std::ptrdiff_t>(n) + 2);
        STRCMP_EQUAL((enough[n] + " is missing").c_str(), refusal({}, words).c_str());
    }
    std::string hosts = "10.0.2.2";
    for (unsigned n = 0; n < max_hosts; ++n) hosts += fmt::format(",10.1.{}.2", n);
    CHECK_TRUE(refusal({"--hosts", hosts}).ends_with("names more than 16 hosts"));
}

TEST(HostOptions, everyOptionIsInTheUsageAndTakesItsValue) {
    const HostOptions options = parsed({"--to",          "10.0.1.2",  "--cc",           "dcqcn-timer",
                                        "--mtu",         "512",       "--dscp",         "3",
                                        "--cnp_dscp",    "56",        "--cnp_interval", "4us",
                                        "--window",      "100KB",     "--timeout",      "1ms",
                                        "--retry_count", "unlimited", "--qps",          "2",
                                        "--kind",        "read",      "--message",      "64KiB",
                                        "--depth",       "3",         "--messages",     "9",
                                        "--stop",        "2s",        "--rate",         "20M",
                                        "--scale",       "500",       "--speed",        "10G",
                                        "--reaction",    "1us",       "--events",       "f"});
    const HostNic nic = make_host_nic(options, {});
    CHECK_TRUE(nic.settings.reaction ==
               roce::ReactionParameters::of(roce::CongestionControl::dcqcn_timer, gigabits(10)));
    LONGS_EQUAL(3, nic.settings.ack.priority);
    LONGS_EQUAL(3, nic.settings.ack.dscp);
    LONGS_EQUAL(56, nic.settings.cnp.dscp);
    LONGS_EQUAL(7, nic.settings.cnp.priority);
    CHECK_TRUE(nic.settings.cnp_interval == microseconds(4));
    const roce::FlowSettings& flow = nic.flows[0];
    LONGS_EQUAL(512, flow.requester.mtu);
    LONGS_EQUAL(512, flow.responder.mtu);
    LONGS_EQUAL(100'000, flow.requester.window_bytes);
    CHECK_TRUE(flow.requester.timeout == milliseconds(1));
    LONGS_EQUAL(roce::unlimited_retries, flow.requester.retry_count);
    CHECK_TRUE(flow.kind == roce::Requester::Kind::read);
    LONGS_EQUAL(65'536, flow.sizes.max_bytes());
    LONGS_EQUAL(3, flow.arrivals.depth);
    LONGS_EQUAL(9, flow.messages);
    CHECK_TRUE(*flow.stop == Time{} + milliseconds(4));  // 2 s of the clock
    LONGS_EQUAL(0, nic.flows[1].messages);
    CHECK_TRUE(options.speed == gigabits(10));
    CHECK_TRUE(options.reaction == microseconds(1));
    STRCMP_EQUAL("f", options.events.c_str());
    CHECK_TRUE(options.obeys_pfc && options.answers && !options.waits);
    const HostOptions plain = parsed({"--pfc", "ignore", "--answers", "no", "--start", "told", "--pps", "9",
                                      "--scale", "1", "--rate", "10M", "--cc", "none"});
    CHECK_FALSE(plain.obeys_pfc || plain.answers || !plain.waits);
    LONGS_EQUAL(9, plain.per_second);
    CHECK_TRUE(plain.nic_rate() == Rate{10'000'000});
    // However long a pause holds a frame, it isn't sent again.
    CHECK_TRUE(make_host_nic(plain, {}).flows[0].requester.timeout > seconds(100'000));
    const std::string usage = [] {
        HostOptions any;
        return help_text(peer_program(any, nullptr));
    }();
    std::size_t rows = 0;
    for (std::size_t at = 0; (at = usage.find("\n  --", at)) != usage.npos; ++at) ++rows;
    LONGS_EQUAL(28 + 3, rows);
}

// Each end's number of the other is the number that the other has itself, and their kinds fit.
TEST(HostOptions, twoHostsAgreeOnTheirQueuePairs) {
    const Words addresses{"10.0.1.2", "10.0.2.2", "10.0.3.2"};
    std::vector<HostNic> nics;
    for (const std::string& own : addresses)
        nics.push_back(make_host_nic(parsed({"--address", own, "--qps", "3", "--to",
                                             own == addresses[0] ? addresses[1] : addresses[0]}),
                                     {}));
    for (std::size_t own = 0; own < nics.size(); ++own) {
        LONGS_EQUAL(2 * 3 * 3, nics[own].queue_pairs.size());
        unsigned sending = 0;
        for (std::uint32_t n = 0; n < nics[own].queue_pairs.size(); ++n) {
            const roce::QpSettings& qp = nics[own].queue_pairs[n];
            sending += qp.flow == 0 ? 1 : 0;
            const auto peer = static_cast<std::size_t>(
                std::ranges::find(nics, qp.peer, [](const HostNic& nic) { return nic.settings.address; }) -
                nics.begin());
            const roce::QpSettings& other = nics[peer].queue_pairs[qp.peer_qp - first_host_qp];
            LONGS_EQUAL(first_host_qp + n, other.peer_qp);
            CHECK_TRUE(other.peer == nics[own].settings.address);
            CHECK_TRUE(other.requests != qp.requests);
            CHECK_TRUE(qp.flow != 0 || qp.requests);
        }
        LONGS_EQUAL(3, sending);
    }
}

TEST_GROUP(ClassPauses){};

TEST(ClassPauses, holdsEachClassByItself) {
    ClassPauses pauses(1'000'000'000, 0);
    CHECK_FALSE(pauses.receive(std::vector<std::uint8_t>(60), 0));
    const auto cut = pfc({{3, 1}});
    CHECK_FALSE(pauses.receive(std::span(cut).first(ClassPauses::pfc_bytes - 1), 0));
    CHECK_EQUAL(0U, pauses.paused(0));
    CHECK_TRUE(pauses.receive(pfc({{3, 1000}, {5, 10}}), 100));
    CHECK_EQUAL(0x28U, pauses.paused(100));
    CHECK_EQUAL(100U + 512'000U, pauses.until_ns(3));
    CHECK_EQUAL(0x08U, pauses.paused(100 + 5120));
    CHECK_TRUE(pauses.receive(pfc({{3, 0}}), 10'000));
    CHECK_EQUAL(0U, pauses.paused(10'000));
    const auto total = pauses.counters();
    CHECK_EQUAL(2U, total.xoff);
    CHECK_EQUAL(1U, total.xon);
    CHECK_EQUAL(1U, total.expired);
    CHECK_EQUAL(9'900U + 5'120U, total.paused_ns);
}

TEST(ClassPauses, aLaterFrameReplacesWhatIsLeft) {
    ClassPauses pauses(1'000'000'000, 0);
    pauses.receive(pfc({{3, 1000}}), 0);
    pauses.receive(pfc({{4, 1}, {3, 10}}), 1000);
    CHECK_EQUAL(0x18U, pauses.paused(1000));
    CHECK_EQUAL(6120U, pauses.until_ns(3));
    CHECK_EQUAL(8U, pauses.paused(6119));
    CHECK_EQUAL(0U, pauses.paused(6120));
    CHECK_EQUAL(3U, pauses.counters().xoff);
    CHECK_EQUAL(2U, pauses.counters().expired);
    CHECK_EQUAL(6120U + 512U, pauses.counters().paused_ns);
}

TEST(ClassPauses, reactsLaterAndInOrder) {
    ClassPauses pauses(1'000'000'000, 500);
    pauses.receive(pfc({{3, 1000}}), 1000);
    pauses.receive(pfc({{3, 0}}), 1300);
    CHECK_EQUAL(1500U, *pauses.next_heard_ns());
    CHECK_EQUAL(0U, pauses.paused(1499));
    CHECK_EQUAL(8U, pauses.paused(1500));
    CHECK_EQUAL(1800U, *pauses.next_heard_ns());
    CHECK_EQUAL(0U, pauses.paused(1800));
    CHECK_FALSE(pauses.next_heard_ns().has_value());
    CHECK_EQUAL(300U, pauses.counters().paused_ns);
    // Asked late, it knows when it was to react.
    pauses.receive(pfc({{3, 10}}), 2000);
    CHECK_EQUAL(8U, pauses.paused(2600));
    CHECK_EQUAL(2500U + 5120U, pauses.until_ns(3));
}

TEST_GROUP(ArrivedFlows){};

TEST(ArrivedFlows, aGapIsALossUntilItComesAfterAll) {
    ArrivedFlows arrived;
    const auto made = data_frames(5);
    for (const std::size_t n : {0, 3, 4}) arrived.receive(made[n]);
    LONGS_EQUAL(2, arrived.total().lost);
    arrived.receive(made[1]);
    LONGS_EQUAL(1, arrived.total().lost);
    LONGS_EQUAL(1, arrived.total().late);
    LONGS_EQUAL(4, arrived.total().received);
    LONGS_EQUAL(1, arrived.count());
    LONGS_EQUAL(0, arrived.total().marked);
}

TEST(ArrivedFlows, aBrokenFrameIsNoneOfTheFlow) {
    ArrivedFlows arrived;
    auto made = data_frames(2, Ecn::ce);
    made[1].back() ^= 1;
    for (const auto& frame : made) arrived.receive(frame);
    LONGS_EQUAL(1, arrived.bad_icrc());
    LONGS_EQUAL(1, arrived.total().received);
    LONGS_EQUAL(1, arrived.total().marked);
    arrived.receive(pfc({{3, 1}}));
    arrived.receive(std::span(made[0]).first(20));
    LONGS_EQUAL(1, arrived.total().received);
    LONGS_EQUAL(0, arrived.total().lost);
}

TEST_GROUP(HostWatch){// Lines that a watch has written, without "at_ns".
                      static std::vector<std::string> lines(std::FILE * file){std::vector<std::string> found;
std::rewind(file);
for (char line[512]; std::fgets(line, sizeof line, file) != nullptr;) {
    const std::string text = line;
    found.push_back(text.substr(text.find("\"event\"")));
}
return found;
}  // namespace sluice::traffic::host_peer_test
}
;

TEST(HostWatch, tellsWhatHappensOnceAndInItsOrder) {
    const HostOptions options =
        parsed({"--to", "10.0.1.2", "--messages", "1", "--message", "1KB", "--rate", "10M"});
    const HostNic made = make_host_nic(options, {});
    roce::Nic nic(made.settings, made.flows, made.queue_pairs);
    std::FILE* file = std::tmpfile();
    HostWatch watch(options, nic, file);
    watch.tell_changes(0);
    LONGS_EQUAL(1, lines(file).size());  // the start

    const auto receive = [&](const roce::Outgoing& packet, std::uint32_t qp, Ecn ecn, Time now) {
        roce::Route route;
        route.source = *parse_address("10.0.1.2");
        route.destination = *options.address;
        route.ecn = ecn;
        roce::PacketWriter writer(route, qp);
        std::vector<std::uint8_t> frame(writer.frame_bytes(packet));
        writer.write(packet, frame);
        nic.receive(frame, now);
        watch.tell_changes(1);
        watch.tell_changes(1);  // nothing new
    };
    nic.expire(Time{} + microseconds(1));
    CHECK_TRUE(nic.next_frame(Time{} + microseconds(1), 0xFF).has_value());
    CHECK_TRUE(watch.account("\"more\": 1").find("\"sending\": true") != std::string::npos);
    roce::Outgoing packet;
    packet.opcode = roce::Opcode::cnp;
    receive(packet, first_host_qp, Ecn::not_ect, Time{} + microseconds(2));
    packet.opcode = roce::Opcode::acknowledge;
    packet.aeth = {roce::syndrome_ack, 1};
    receive(packet, first_host_qp, Ecn::ect0, Time{} + microseconds(3));
    CHECK_TRUE(watch.account("\"more\": 1").find("\"sending\": false") != std::string::npos);
    CHECK_TRUE(watch.account("\"more\": 1").ends_with(", \"more\": 1}\n"));
    // A CNP goes for the first of three marks.
    packet = {};
    packet.payload_bytes = 100;
    for (; packet.psn < 3; ++packet.psn) {
        receive(packet, first_host_qp + 1, Ecn::ce, Time{} + microseconds(4));
        static_cast<void>(nic.next_frame(Time{} + microseconds(4), 1U << nic.settings().cnp.priority));
        watch.tell_changes(1);
    }
    watch.look_at_pauses(8, 1);
    watch.look_at_pauses(8, 1);
    watch.look_at_pauses(2, 1);

    const std::vector<std::string> wanted{
        R"("event": "cnp", "qp": 256, "count": 1, "total": 1})",
        R"("event": "rate_falls", "qp": 256, "from": 10000000, "to": 5000000})",
        R"("event": "completed", "qp": 256, "count": 1, "total": 1})",
        R"("event": "marked", "qp": 257, "count": 1, "total": 1})",
        R"("event": "delivered", "qp": 257, "count": 1, "total": 1})",
        R"("event": "cnp_sent", "qp": 257, "count": 1, "total": 1})",
        R"("event": "marked", "qp": 257, "count": 1, "total": 2})",
        R"("event": "delivered", "qp": 257, "count": 1, "total": 2})",
        R"("event": "delivered", "qp": 257, "count": 1, "total": 3})",
        R"("event": "paused", "class": 3})",
        R"("event": "paused", "class": 1})",
        R"("event": "resumed", "class": 3})"};
    const auto told = lines(file);
    static_cast<void>(std::fclose(file));
    LONGS_EQUAL(wanted.size() + 1, told.size());
    CHECK_TRUE(told[0].find("times are scaled") != std::string::npos);
    for (std::size_t n = 0; n < wanted.size(); ++n)
        STRCMP_EQUAL((wanted[n] + "\n").c_str(), told[n + 1].c_str());
}

}  // namespace sluice::traffic::host_peer_test
