// A capture that cannot be used is refused in one line and leaves nothing; one that can becomes a loopback
// frame by frame.
#include "tools/traffic/split.hh"

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tests/traffic/support.hh"
#include "tools/traffic/failure.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::split_test {

using namespace sluice::traffic;
using sluice::traffic::CaptureReader;
using sluice::traffic::CaptureWriter;

namespace {

struct Given {
    std::uint64_t at_ns;
    Bytes bytes;
    std::uint32_t length = 0;  // 0: as captured
};

void write_capture(const std::filesystem::path& file, const std::vector<Given>& frames) {
    CaptureWriter writer{file.string()};
    for (const Given& frame : frames) {
        writer.write({frame.at_ns,
                      frame.length != 0 ? frame.length : static_cast<std::uint32_t>(frame.bytes.size()),
                      frame.bytes});
    }
    writer.close();
}

std::vector<Given> read_capture(const std::filesystem::path& file) {
    std::vector<Given> frames;
    CaptureReader reader{file.string()};
    CapturedFrame frame;
    while (reader.next(frame))
        frames.push_back(
            {frame.timestamp_ns, Bytes(frame.bytes.begin(), frame.bytes.end()), frame.wire_length});
    return frames;
}

// An IPv4 frame of 60 bytes; MACs are 02:00:00:00:00:<n>.
Bytes packet(std::uint8_t source_mac, std::uint8_t destination_mac, std::string_view source,
             std::string_view destination) {
    Bytes frame(60);
    frame[0] = frame[6] = 2;
    frame[5] = destination_mac;
    frame[11] = source_mac;
    frame[12] = 8;
    frame[14] = 0x45;
    frame[17] = 46;
    const auto from = parse_address(source).value().bytes;
    const auto to = parse_address(destination).value().bytes;
    std::copy_n(from.begin(), 4, &frame[26]);
    std::copy_n(to.begin(), 4, &frame[30]);
    return frame;
}

Bytes pause_from_zero() {
    Bytes frame(60);
    std::ranges::copy(from_hex("0180c2000001000000000000880801010008"), frame.begin());
    return frame;
}

std::string why_refused(const std::filesystem::path& capture, const std::filesystem::path& out) {
    try {
        split({capture.string()}, {out});
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "not refused";
}

// True when the file has these neighbor lines.
bool has_neighbor(const std::string& config, std::string_view address, std::string_view port,
                  std::string_view mac) {
    return config.find("[[neighbor]]\naddress = \"" + std::string{address} + "\"\nport = \"" +
                       std::string{port} + "\"\nmac = \"" + std::string{mac} + "\"\n") != std::string::npos;
}

}  // namespace

TEST_GROUP(Split){};

TEST(Split, refusesWhatItCannotUseAndLeavesNothing) {
    const TempFolder temp;
    const auto check = [&temp](std::string_view name, std::string_view expected) {
        const std::string why = why_refused(temp / name, temp / "out/deep");
        if (why.find(expected) == std::string::npos) STRCMP_EQUAL(std::string{expected}.c_str(), why.c_str());
        CHECK_TRUE(why.find('\n') == std::string::npos);
        CHECK_FALSE(std::filesystem::exists(temp / "out"));
    };
    write_capture(temp / "good",
                  {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}, {2, packet(2, 1, "10.0.0.2", "10.0.0.1")}});
    const std::string good = contents(temp / "good");
    put(temp / "empty", "");
    put(temp / "text", "This is not a capture at all, but long enough to be one.");
    put(temp / "none", good.substr(0, 24));
    std::string long_frame = good;
    long_frame[24 + 16 + 60 + 8 + 3] = 0x7F;  // the length of the second frame
    put(temp / "long_frame", long_frame);
    std::string cooked = good;
    cooked[20] = 113;
    put(temp / "cooked", cooked);
    std::string late = good;
    late[24 + 4 + 3] = static_cast<char>(0x80);  // nanoseconds beyond two seconds
    put(temp / "late", late);

    check("absent", "absent: cannot be read: No such file");
    check("empty", "empty: is empty (0 bytes)");
    check("text", "text: is not a pcap or pcapng file");
    check("none", "none: no packets at all");
    check("long_frame", "long_frame: frame 2: ");
    check("long_frame", "do: keep what is good: editcap -r FILE GOOD 1-1");
    check("cooked", "cooked: link layer is LINUX_SLL, not Ethernet");
    check("late", "late: frame 1: a frame's timestamp");
}

TEST(Split, takesACaptureThatIsCutAndSaysSo) {
    const TempFolder temp;
    write_capture(temp / "whole",
                  {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}, {2, packet(2, 1, "10.0.0.2", "10.0.0.1")}});
    const std::string whole = contents(temp / "whole");
    for (const std::size_t bytes : {whole.size() - 1, whole.size() - 70}) {
        put(temp / "cut", whole.substr(0, bytes));
        const SplitSummary summary = split({(temp / "cut").string()}, {.folder = temp / "out"});
        LONGS_EQUAL(1, read_capture(temp / "out/in/h0.pcap").size());
        STRCMP_CONTAINS("cut: the file is cut in its last record", summary.notes.back().c_str());
    }
}

TEST(Split, refusesMoreAddressesThanItCanHold) {
    const TempFolder temp;
    std::vector<Given> frames;
    for (unsigned i = 0; i <= max_split_addresses; ++i) {
        Bytes frame = packet(1, 2, "10.0.0.0", "11.0.0.1");
        frame[27] = static_cast<std::uint8_t>(i >> 16);
        frame[28] = static_cast<std::uint8_t>(i >> 8);
        frame[29] = static_cast<std::uint8_t>(i);
        frames.push_back({i, frame});
    }
    write_capture(temp / "many", frames);
    STRCMP_EQUAL("more than 65536 IP addresses", why_refused(temp / "many", temp / "out").c_str());
    CHECK_EQUAL(1U, temp.entries());
}

TEST(Split, refusesAFolderThatADeviceStringCannotName) {
    const TempFolder temp;
    write_capture(temp / "good", {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    CHECK_TRUE(why_refused(temp / "good", temp / "a,b").find("device string") != std::string::npos);
    CHECK_EQUAL(1U, temp.entries());
}

TEST(Split, putsBackWhatWasThereWhenItFails) {
    const TempFolder temp;
    write_capture(temp / "good", {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    split({(temp / "good").string()}, {temp / "out"});
    const std::string before = contents(temp / "out/sluice.toml");
    put(temp / "bad", contents(temp / "good").substr(0, 50));
    CHECK_FALSE(why_refused(temp / "bad", temp / "out") == "not refused");
    STRCMP_EQUAL(before.c_str(), contents(temp / "out/sluice.toml").c_str());
    CHECK_EQUAL(1U, read_capture(temp / "out/in/h0.pcap").size());
}

TEST(Split, replacesNothingThatItDidNotWrite) {
    const TempFolder temp;
    std::filesystem::create_directory(temp / "in");
    write_capture(temp / "in/mine", {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    put(temp / "in/notes", "of mine");
    split({(temp / "in/mine").string()}, {temp / ""});
    CHECK_EQUAL(1U, read_capture(temp / "in/mine").size());
    STRCMP_EQUAL("of mine", contents(temp / "in/notes").c_str());
    CHECK_EQUAL(1U, read_capture(temp / "in/h0.pcap").size());
    for (const char* name : {"sluice.toml", "in/h1.pcap"}) {
        std::filesystem::create_directories(temp / "out/in");
        put(temp / "out" / name, "of mine");
        STRCMP_CONTAINS("is there, and is not as a program of Sluice wrote it",
                        why_refused(temp / "in/mine", temp / "out").c_str());
        STRCMP_EQUAL("of mine", contents(temp / "out" / name).c_str());
        std::filesystem::remove_all(temp / "out");
    }
}

TEST(Split, neverReplacesWhatItReads) {
    const TempFolder temp;
    write_capture(temp / "c",
                  {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}, {2, packet(2, 1, "10.0.0.2", "10.0.0.1")}});
    split({(temp / "c").string()}, {temp / "out"});
    const std::string before = contents(temp / "out/in/h0.pcap");
    std::filesystem::create_symlink("out/in/h0.pcap", temp / "link");
    for (const char* name : {"out/in/h0.pcap", "out/./in/h0.pcap", "link"})
        STRCMP_CONTAINS("would overwrite what it reads", why_refused(temp / name, temp / "out").c_str());
    CHECK_TRUE(before == contents(temp / "out/in/h0.pcap"));
}

TEST(Split, leavesNoPortOfAnEarlierCapture) {
    const TempFolder temp;
    write_capture(temp / "c",
                  {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}, {2, packet(3, 1, "10.0.0.3", "10.0.0.1")}});
    write_capture(temp / "d", {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    split({(temp / "c").string()}, {temp / "out"});
    CHECK_TRUE(std::filesystem::exists(temp / "out/in/h2.pcap"));
    put(temp / "out/in/h9.pcap", "of somebody else");
    split({(temp / "d").string()}, {temp / "out"});
    CHECK_FALSE(std::filesystem::exists(temp / "out/in/h2.pcap"));
    STRCMP_EQUAL("of somebody else", contents(temp / "out/in/h9.pcap").c_str());
    CHECK_EQUAL(1U, read_capture(temp / "out/in/h0.pcap").size());
}

TEST(Split, givesEveryFrameToItsSourcesPortAsItIs) {
    const TempFolder temp;
    Given cut{30, packet(1, 2, "10.0.0.1", "10.0.0.2"), 1500};
    Given early{10, packet(1, 3, "10.0.0.1", "10.0.0.3")};  // out of order: stays so
    Given other{20, packet(2, 1, "10.0.0.2", "10.0.0.1")};
    write_capture(temp / "c", {cut, early, other});
    const SplitSummary summary = split({(temp / "c").string()}, {temp / "out"});

    CHECK_EQUAL(3U, summary.ports.size());  // the third was only ever a destination
    const auto h0 = read_capture(temp / "out/in/h0.pcap");
    CHECK_EQUAL(2U, h0.size());
    CHECK_EQUAL(30U, h0[0].at_ns);
    CHECK_EQUAL(1500U, h0[0].length);
    CHECK_TRUE(h0[0].bytes == cut.bytes);
    CHECK_EQUAL(10U, h0[1].at_ns);
    CHECK_EQUAL(1U, read_capture(temp / "out/in/h1.pcap").size());
    CHECK_EQUAL(0U, read_capture(temp / "out/in/h2.pcap").size());
}

TEST(Split, mergesCapturesByTime) {
    const TempFolder temp;
    write_capture(temp / "a",
                  {{10, packet(1, 2, "10.0.0.1", "10.0.0.2")}, {30, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    write_capture(temp / "b",
                  {{5, packet(1, 2, "10.0.0.1", "10.0.0.2")}, {20, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    split({(temp / "a").string(), (temp / "b").string()}, {temp / "out"});
    const auto h0 = read_capture(temp / "out/in/h0.pcap");
    CHECK_EQUAL(4U, h0.size());
    CHECK_TRUE(std::ranges::is_sorted(h0, {}, &Given::at_ns));
}

TEST(Split, anAddressLivesWhereItSendsFromAndElseWhereItIsSentTo) {
    const TempFolder temp;
    write_capture(temp / "c",
                  {{50, packet(1, 9, "10.0.0.1", "10.0.0.2")},    // 10.0.0.2 behind :09, at first sight
                   {60, packet(2, 1, "10.0.0.2", "10.0.0.1")},    // but it sends from :02
                   {70, packet(3, 1, "10.0.0.2", "10.0.0.7")},    // later from :03: too late
                   {40, packet(4, 5, "10.0.0.4", "10.0.0.7")}});  // earlier in time: .7 is at :05
    split({(temp / "c").string()}, {temp / "out"});
    const std::string config = contents(temp / "out/sluice.toml");
    CHECK_TRUE(has_neighbor(config, "10.0.0.1", "h0", "02:00:00:00:00:01"));
    CHECK_TRUE(has_neighbor(config, "10.0.0.2", "h2", "02:00:00:00:00:02"));
    CHECK_TRUE(has_neighbor(config, "10.0.0.7", "h5", "02:00:00:00:00:05"));
}

TEST(Split, makesNoNeighborOfWhatCannotBeRouted) {
    for (const char* address :
         {"0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
          "fe80::1", "febf::1", "ff02::1", "::ffff:10.0.0.1"}) {
        CHECK_FALSE_TEXT(is_routable(parse_address(address).value()), address);
    }
    for (const char* address :
         {"10.0.0.1", "169.253.1.1", "223.255.255.255", "2001:db8::1", "fec0::1", "fd00::1", "64:ff9b::1"}) {
        CHECK_TRUE_TEXT(is_routable(parse_address(address).value()), address);
    }
}

TEST(Split, givesStationsWithAZeroMacOneThatAConfigurationMayHold) {
    const TempFolder temp;
    Bytes frame = packet(0, 0, "10.0.0.1", "10.0.0.2");
    frame[0] = frame[6] = 0;
    write_capture(temp / "c", {{1, frame}});
    const SplitSummary summary = split({(temp / "c").string()}, {temp / "out"});
    CHECK_EQUAL(1U, summary.notes.size());
    const std::string config = contents(temp / "out/sluice.toml");
    CHECK_TRUE(has_neighbor(config, "10.0.0.1", "h0", "02:00:00:00:00:00"));
    CHECK_TRUE(has_neighbor(config, "10.0.0.2", "h0", "02:00:00:00:00:00"));
}

TEST(Split, givesFramesWithoutAUsableSourceToTheFirstPort) {
    const TempFolder temp;
    Bytes group = packet(1, 2, "10.0.0.1", "10.0.0.2");
    group[6] |= 1;
    write_capture(
        temp / "c",
        {{1, pause_from_zero()}, {2, Bytes(5)}, {3, group}, {4, packet(7, 2, "10.0.0.1", "10.0.0.2")}});
    const SplitSummary summary = split({(temp / "c").string()}, {temp / "out"});
    CHECK_EQUAL(3U, summary.notes.size());
    CHECK_EQUAL(4U, summary.ports[0].frames + summary.ports[1].frames);
    CHECK_EQUAL(3U, summary.ports[0].frames);
    CHECK_EQUAL(
        2,
        summary.ports[0].mac->bytes[5]);  // the first unicast MAC seen: where the group-source frame went to
    CHECK_EQUAL(7, summary.ports[1].mac->bytes[5]);
}

TEST(Split, addressesBeyondTheLimitShareTheLastPort) {
    const TempFolder temp;
    std::vector<Given> frames;
    for (unsigned i = 0; i < 300; ++i) {
        Bytes frame = packet(0, 1, "10.0.0.1", "10.0.0.2");
        frame[10] = static_cast<std::uint8_t>(1 + i / 256);
        frame[11] = static_cast<std::uint8_t>(i);
        frames.push_back({i, frame});
    }
    write_capture(temp / "c", frames);
    const SplitSummary summary = split({(temp / "c").string()}, {temp / "out"});
    CHECK_EQUAL(max_split_ports, summary.ports.size());
    CHECK_EQUAL(301U - max_split_ports, summary.ports.back().more_macs);
    CHECK_EQUAL(300U - (max_split_ports - 2), summary.ports.back().frames);
    const std::string config = contents(temp / "out/sluice.toml");
    CHECK_TRUE(config.find("\n[buffer]  # room for the headroom of 256 ports\nsize = \"89600KB\"\n") !=
               std::string::npos);
}

TEST(Split, writesAConfigurationThatNamesItsFiles) {
    const TempFolder temp;
    write_capture(temp / "c", {{1, packet(1, 2, "10.0.0.1", "10.0.0.2")}});
    split({(temp / "c").string()}, {temp / "out", "25G", 7});
    const std::string config = contents(temp / "out/sluice.toml");
    const std::string out = (temp / "out").string();
    for (const std::string& line :
         {std::string{"clock = \"virtual\"\nseed = 7\n"}, std::string{"\n[port.h1]"},
          "device = \"net_pcap1,rx_pcap=" + out + "/in/h1.pcap,tx_pcap=" + out + "/h1.pcap\"\n",
          std::string{"speed = \"25G\"\nmtu = 9216\npromiscuous = true\npeer = \"obey\"\n"}}) {
        CHECK_TRUE_TEXT(config.find(line) != std::string::npos, line.c_str());
    }
    CHECK_TRUE(config.find("[buffer]") == std::string::npos);  // the default holds two ports
}

// RoCEv2 in an IPv4 frame: `tos` and the TTL of its header, the opcode of its BTH.
Bytes roce(std::uint8_t source_mac, std::uint8_t tos, std::uint8_t ttl, std::uint8_t opcode) {
    Bytes frame = packet(source_mac, 9, "10.0.0.1", "10.0.0.2");
    frame[15] = tos;
    frame[22] = ttl;
    frame[23] = 17;
    frame[36] = 0x12;
    frame[37] = 0xB7;
    frame[42] = opcode;
    return frame;
}

SplitSummary summary_of(const std::vector<Bytes>& frames, std::string* config = nullptr) {
    const TempFolder temp;
    std::vector<Given> given;
    for (const Bytes& frame : frames) given.push_back({given.size() + 1, frame});
    write_capture(temp / "c", given);
    SplitSummary summary = split({(temp / "c").string()}, {temp / "out"});
    if (config != nullptr) *config = contents(temp / "out/sluice.toml");
    return summary;
}

TEST(Split, makesRoceOfAnyDscpLosslessAndSaysSo) {
    constexpr std::uint8_t write = 0x0A, ack = 0x11, cnp = 0x81;
    std::string config;
    auto summary = summary_of({roce(1, 0, 64, write), roce(1, 0, 64, ack)}, &config);
    CHECK_TRUE(config.find("\n[map.default]") != std::string::npos);
    CHECK_TRUE(config.find("\nroce_tc = 3\n") != std::string::npos);
    STRCMP_EQUAL(
        "2 RoCEv2 packets came with a DSCP of no lossless class: roce_tc = 3 makes them lossless "
        "whatever their DSCP",
        summary.notes.at(0).c_str());
    for (const Bytes& frame :
         {roce(1, 26 << 2, 64, write), roce(1, 0, 64, cnp), packet(1, 9, "10.0.0.1", "10.0.0.2")}) {
        summary = summary_of({frame}, &config);
        CHECK_TRUE(config.find("roce_tc") == std::string::npos);
        LONGS_EQUAL(0, summary.notes.size());
    }
}

TEST(Split, noticesBothSidesOfARouter) {
    // From :01 to the router, and from its other side, :07, on; its ECN field changes, too.
    auto summary = summary_of({roce(1, 26 << 2, 64, 4), roce(7, 26 << 2 | 3, 63, 4)});
    STRCMP_EQUAL(
        "1 packet came twice, with another TTL from another MAC: the capture has both sides of a "
        "router, and such packets are switched twice; do: tcpdump -r CAPTURE -w ONE-SIDE 'not (ether "
        "src 02:00:00:00:00:07)'",
        summary.notes.at(0).c_str());
    // The same way back: the copy behind the router came first in the file.
    summary = summary_of({roce(7, 26 << 2, 63, 4), roce(1, 26 << 2, 64, 4)});
    STRCMP_CONTAINS("'not (ether src 02:00:00:00:00:07)'", summary.notes.at(0).c_str());
    // Sent again by its host; one MAC with two TTLs; other contents.
    Bytes other = roce(7, 26 << 2, 63, 4);
    other[50] = 1;
    for (const auto& second : {roce(1, 26 << 2, 64, 4), roce(1, 26 << 2, 63, 4), other})
        LONGS_EQUAL(0, summary_of({roce(1, 26 << 2, 64, 4), second}).notes.size());
}

}  // namespace sluice::split_test
