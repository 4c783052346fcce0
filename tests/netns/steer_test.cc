// The steering program, run by the kernel on frames of ours, against what lib/frame/parse says of the same
// frames.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "dataplane/ports/bpf/steer.hh"
#include "lib/frame/checksum.hh"
#include "lib/frame/parse.hh"
#include "tests/netns/steer_program.hh"
#include "tests/traffic/support.hh"

#include "CppUTest/CommandLineTestRunner.h"
#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;
using traffic::Bytes;
using traffic::one_flow;
using traffic::sent_by;

Program& program() {
    static Program loaded;
    return loaded;
}

// The verdict that was counted for this frame; exactly one must be.
steer_verdict steered(const Bytes& frame) {
    const auto before = program().counters();
    CHECK_TRUE(program().run(frame));
    const auto after = program().counters();
    int found = -1;
    for (int n = 0; n < steer_no_socket; ++n) {
        if (after[n] == before[n]) continue;
        CHECK_EQUAL(-1, found);
        CHECK_EQUAL(before[n] + 1, after[n]);
        found = n;
    }
    CHECK(found >= 0);
    CHECK_EQUAL(steer_catalogue[found].to_switch, after[steer_no_socket] != before[steer_no_socket]);
    return static_cast<steer_verdict>(found);
}

constexpr IpPrefix own_v4{{{10, 0, 17, 254}, false}, 32};
constexpr IpPrefix own_v6{{{0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFE}, true}, 128};

Parsed parsed(const Bytes& frame) {
    const Station anyone{{}, true};
    return parse({frame.data(), std::min(frame.size(), parse_view_bytes)},
                 static_cast<std::uint32_t>(frame.size()), anyone);
}

bool is_own(const Bytes& frame, const Parsed& seen) {
    const std::uint8_t* ip = frame.data() + seen.l3_offset;
    if (seen.kind == FrameKind::ipv4) return destination_of(false, ip) == own_v4.address;
    if (seen.kind == FrameKind::ipv6) return destination_of(true, ip) == own_v6.address;
    return false;
}

// The verdicts of steering that agree with a verdict of the parser. More than one only where the program does
// not look as far: at lengths, checksums, extension headers and addresses that no host may have.
std::vector<steer_verdict> allowed(const Bytes& frame) {
    const Parsed seen = parsed(frame);
    const std::vector<steer_verdict> not_judged{steer_malformed, steer_roce,  steer_routed,    steer_expired,
                                                steer_local,     steer_group, steer_link_local};
    switch (seen.drop) {
        case DropReason::none:
            if (seen.kind == FrameKind::mac_control) return {steer_mac_control};
            if (is_own(frame, seen)) return {steer_local};
            if (!seen.roce) return {steer_routed};
            if (seen.kind == FrameKind::ipv6 && frame[seen.l3_offset + 6] != ip_protocol::udp)
                return {steer_routed};
            return {steer_roce};
        case DropReason::frame_too_short:
        case DropReason::too_many_tags:
            return {steer_malformed, steer_group};
        case DropReason::not_ip:
            return {steer_not_ip, steer_group};
        case DropReason::multicast:
            return {steer_group};
        case DropReason::ip_bad_version:
            return {steer_malformed, steer_group};
        case DropReason::ip_bad_header_length:
            if ((frame[seen.l3_offset] & 0xF) < 5) return {steer_malformed};
            return not_judged;
        case DropReason::link_local:
            return {steer_link_local};
        case DropReason::ttl_expired:
            return {is_own(frame, seen) ? steer_local : steer_expired};
        default:
            return not_judged;
    }
}

void judge(const Bytes& frame) {
    const steer_verdict said = steered(frame);
    const auto wanted = allowed(frame);
    if (std::find(wanted.begin(), wanted.end(), said) != wanted.end()) return;
    const Parsed seen = parsed(frame);
    FAIL((std::string("steered as ") + steer_catalogue[said].name + ", parsed as " +
          std::string(to_string(seen.drop)) + ": " +
          traffic::to_hex(std::span(frame).first(std::min<std::size_t>(frame.size(), 80))))
             .c_str());
}

void mend_checksum(Bytes& frame) {
    const Parsed seen = parsed(frame);
    if (seen.drop != DropReason::ip_bad_checksum) return;
    std::uint8_t* ip = frame.data() + seen.l3_offset;
    const std::size_t bytes = std::size_t{ip[0] & 0xFU} * 4;
    ip[10] = ip[11] = 0;
    store_be<std::uint16_t>(ip + 10, internet_checksum({ip, bytes}));
}

std::vector<Bytes> read_corpus() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(SLUICE_PARSE_CORPUS))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Bytes> frames;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        Bytes frame{std::istreambuf_iterator<char>(file), {}};
        if (!frame.empty()) frame.erase(frame.begin());  // the fuzzer's own byte
        if (frame.size() >= 14)
            frames.push_back(std::move(frame));  // the kernel's own test takes none shorter
    }
    return frames;
}

constexpr std::size_t v4_source = 26;
constexpr std::size_t v4_destination = 30;
constexpr std::size_t v6_source = 22;
constexpr std::size_t v6_destination = 38;

Bytes roce_frame(int version) {
    return sent_by(one_flow("kind = \"roce\"\nsize = 300\nip_version = " + std::to_string(version)))[0].bytes;
}

Bytes with(Bytes frame, std::size_t at, std::initializer_list<std::uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    mend_checksum(frame);
    return frame;
}

Bytes to_own(int version) {
    Bytes frame = roce_frame(version);
    if (version == 4)
        std::copy_n(own_v4.address.bytes.begin(), 4, frame.begin() + v4_destination);
    else
        std::copy_n(own_v6.address.bytes.begin(), 16, frame.begin() + v6_destination);
    mend_checksum(frame);
    return frame;
}

std::vector<Bytes> seeds() {
    std::vector<Bytes> frames = read_corpus();
    for (const int version : {4, 6}) frames.push_back(to_own(version));
    for (const std::size_t at : {v4_source, v4_destination})
        frames.push_back(with(roce_frame(4), at, {169, 254}));
    for (const std::size_t at : {v6_source, v6_destination})
        frames.push_back(with(roce_frame(6), at, {0xFE, 0x80}));
    for (const int version : {4, 6}) {
        const std::string family = "\nip_version = " + std::to_string(version);
        // Steering does not judge frames too long for the switch, nor does the kernel's test take them.
        for (const char* flow :
             {"kind = \"roce\"\nsize = 300\ncount = 3",
              "kind = \"malformed\"\nsize = 400\ncount = 40\nvariant = \"all\"",
              "kind = \"tcp\"\nsize = 90\ncount = 2", "kind = \"udp\"\nsize = 64\ncount = 2"})
            for (const auto& sent : sent_by(one_flow(flow + family)))
                if (sent.bytes.size() <= 1514) frames.push_back(sent.bytes);
    }
    return frames;
}

}  // namespace

TEST_GROUP(Steer){void setup() override{program().add_local(own_v4);
program().add_local(own_v6);
}
}
;

TEST(Steer, everyKindOfFrameIsSteeredAsItIsParsed) {
    const auto frames = seeds();
    CHECK(frames.size() > 60);
    for (const Bytes& frame : frames) judge(frame);
}

TEST(Steer, randomChangesOfFramesAreSteeredAsTheyAreParsed) {
    constexpr int changed_frames = 20'000;
    const auto frames = seeds();
    std::mt19937_64 draws(1);
    std::array<int, steer_counters> seen{};
    for (int n = 0; n < changed_frames; ++n) {
        Bytes frame = frames[draws() % frames.size()];
        const std::size_t judged = std::min<std::size_t>(frame.size(), 64);
        for (std::uint64_t changes = draws() % 3 + 1; changes != 0; --changes) {
            constexpr std::array<std::uint8_t, 10> telling{0, 1, 2, 17, 0x45, 0x60, 0x81, 0x88, 0xE0, 0xFF};
            const std::uint64_t draw = draws();
            frame[draw % judged] = (draw >> 32 & 1) != 0 ? telling[(draw >> 40) % telling.size()]
                                                         : static_cast<std::uint8_t>(draw >> 48);
        }
        if (draws() % 8 == 0) frame.resize(14 + draws() % (frame.size() - 13));
        frame[6] &= 0xFE;  // a group's source address is the switch's to judge
        mend_checksum(frame);
        judge(frame);
        ++seen[steered(frame)];
    }
    // A verdict that random frames do not reach would not be tested.
    for (int n = 0; n < steer_no_socket; ++n) CHECK_TRUE_TEXT(seen[n] > 20, steer_catalogue[n].name);
}

TEST(Steer, ownAddressesStayWithTheKernelWhateverTheTimeToLive) {
    for (const int version : {4, 6})
        for (const std::uint8_t ttl : {0, 1, 2, 64}) {
            const std::size_t at = version == 4 ? 22 : 21;
            CHECK_EQUAL(ttl <= 1 ? steer_expired : steer_roce, steered(with(roce_frame(version), at, {ttl})));
            CHECK_EQUAL(steer_local, steered(with(to_own(version), at, {ttl})));
        }
}

// As `ip route add local 198.18.0.0/15 dev lo` has it.
TEST(Steer, wholePrefixesStayWithTheKernel) {
    const IpPrefix v4{{{198, 18}, false}, 15}, v6{{{0x20, 1, 0x0D, 0xB8, 0xFA, 0xDE}, true}, 47};
    CHECK_TRUE(program().add_local(v4) && program().add_local(v6));
    for (const auto& [last, verdict] :
         {std::pair{17, steer_roce}, {18, steer_local}, {19, steer_local}, {20, steer_roce}})
        CHECK_EQUAL(verdict, steered(with(roce_frame(4), v4_destination,
                                          {198, static_cast<std::uint8_t>(last), 7, 7})));
    for (const auto& [last, verdict] :
         {std::pair{0xDD, steer_roce}, {0xDE, steer_local}, {0xDF, steer_local}, {0xE0, steer_roce}})
        CHECK_EQUAL(verdict, steered(with(roce_frame(6), v6_destination,
                                          {0x20, 1, 0x0D, 0xB8, 0xFA, static_cast<std::uint8_t>(last)})));
}

int main(int argc, char** argv) {
    if (const std::string& why = program().why_not(); !why.empty()) {
        std::printf("SKIP: %s\n", why.c_str());
        return 77;
    }
    return RUN_ALL_TESTS(argc, argv);
}
