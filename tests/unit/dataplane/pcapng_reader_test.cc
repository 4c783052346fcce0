// pcapng as people have it: other interfaces, resolutions, byte orders, blocks, and files that end too soon.
#include "dataplane/peers/pcap_reader.hh"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dataplane/peers/capture_file.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pcapng_reader_test {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

// The blocks of a file, in one byte order.
struct File {
    bool swapped = false;
    std::string bytes{};

    void number(std::string& out, std::uint64_t value, unsigned size) const {
        for (unsigned n = 0; n < size; ++n)
            out.push_back(static_cast<char>(value >> 8 * (swapped ? size - 1 - n : n)));
    }
    std::string numbers(std::initializer_list<std::uint64_t> values, unsigned size = 4) const {
        std::string out;
        for (const std::uint64_t value : values) number(out, value, size);
        return out;
    }
    File& block(std::uint32_t type, std::string body) {
        body.resize((body.size() + 3) / 4 * 4);
        bytes += numbers({type, body.size() + 12}) + body + numbers({body.size() + 12});
        return *this;
    }
    File& section(unsigned major = 1) {
        return block(0x0A0D0D0A,
                     numbers({0x1A2B3C4D}) + numbers({major, 0}, 2) + numbers({~std::uint64_t{0}}, 8));
    }
    File& interface(unsigned link, unsigned snap_length, const std::string& options = {}) {
        return block(1, numbers({link, 0}, 2) + numbers({snap_length}) + options);
    }
    std::string option(unsigned code, const std::string& value) const {
        std::string padded = value;
        padded.resize((value.size() + 3) / 4 * 4);
        return numbers({code, value.size()}, 2) + padded;
    }
    File& packet(unsigned interface, std::uint64_t ticks, const std::string& frame, unsigned wire = 0) {
        return block(6, numbers({interface, ticks >> 32, ticks & 0xFFFF'FFFF, frame.size(),
                                 wire != 0 ? wire : frame.size()}) +
                            frame);
    }
};

struct Result {
    std::vector<std::uint64_t> times;
    std::vector<std::string> frames;
    std::vector<std::uint32_t> lengths;
    std::string error;
    std::string notes;
};

}  // namespace

TEST_GROUP(PcapngReader) {
    std::string folder;

    void setup() override {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-pcapng-XXXXXX").string();
        CHECK_TRUE(mkdtemp(name.data()) != nullptr);
        folder = name;
    }
    void teardown() override { std::filesystem::remove_all(folder); }

    Result read(const std::string& bytes) const {
        const std::string path = folder + "/f.pcapng";
        std::ofstream(path, std::ios::binary) << bytes;
        auto reader = CaptureReader::open(path);
        CHECK_TRUE(reader.has_value());
        Result result;
        for (CaptureReader::Frame frame; reader->read(frame);) {
            result.times.push_back(frame.timestamp_ns);
            result.frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
            result.lengths.push_back(frame.wire_length);
        }
        result.error = reader->error();
        for (const std::string& note : reader->notes()) result.notes += note + "\n";
        return result;
    }
};

TEST(PcapngReader, interfacesDifferInLengthAndResolution) {
    for (const bool swapped : {false, true}) {
        File file{swapped};
        file.section()
            .interface(1, 262'144)
            .interface(1, 65'535, file.option(9, "\x09") + file.option(0, ""));
        file.interface(1, 0, file.option(2, "eth12") + file.option(9, "\x8A"));  // 2^-10 s
        file.interface(1, 96, file.option(14, file.numbers({1'700'000'000}, 8)) + file.option(9, "\x0C"));
        file.packet(0, 4'100'000'000'000'005, std::string(60, 'a'), 1500).packet(1, 7, std::string(61, 'b'));
        file.block(5, std::string(24, '\0'));  // statistics, which are skipped
        file.packet(2, 3 * 1024 + 512, std::string(120, 'c')).packet(3, 2'500, std::string(3, 'd'));
        const Result result = read(file.bytes);
        STRCMP_EQUAL("", (result.error + result.notes).c_str());
        CHECK(result.times ==
              (std::vector<std::uint64_t>{4'100'000'000 * second + 5'000, 7, 3 * second + second / 2,
                                          1'700'000'000 * second + 2}));
        CHECK(result.lengths == (std::vector<std::uint32_t>{1500, 61, 120, 3}));
        CHECK(result.frames[2] == std::string(120, 'c'));
    }
}

TEST(PcapngReader, framesThatAreNotEthernetAreLeftOutAndCounted) {
    File file;
    file.section().interface(113, 0).interface(1, 0).interface(105, 0);
    file.packet(0, 1, "cooked")
        .packet(1, 2, "ether")
        .packet(2, 3, "wifi")
        .packet(0, 4, "cooked")
        .packet(9, 5, "none");
    const Result result = read(file.bytes);
    STRCMP_EQUAL("", result.error.c_str());
    CHECK(result.frames == std::vector<std::string>{"ether"});
    STRCMP_EQUAL(
        "1 frame of link layer IEEE802_11 left out: not Ethernet\n"
        "2 frames of link layer LINUX_SLL left out: not Ethernet\n"
        "1 frame of an interface that is not described left out\n",
        result.notes.c_str());
    File cooked;
    cooked.section().interface(113, 0).packet(0, 1, "cooked");
    STRCMP_CONTAINS("link layer is LINUX_SLL, not Ethernet (EN10MB); do: ", read(cooked.bytes).error.c_str());
    File unused;
    unused.section().interface(113, 0);
    STRCMP_EQUAL("", read(unused.bytes).error.c_str());
}

TEST(PcapngReader, simpleAndOldPacketBlocks) {
    File file;
    file.section().interface(1, 4);
    file.block(2, file.numbers({0, 0}, 2) + file.numbers({0, 5, 3, 60}) + "old");
    file.block(3, file.numbers({9}) + "simp");  // cut at the snapshot length
    const Result result = read(file.bytes);
    STRCMP_EQUAL("", result.error.c_str());
    CHECK(result.frames == (std::vector<std::string>{"old", "simp"}));
    CHECK(result.lengths == (std::vector<std::uint32_t>{60, 9}));
    CHECK(result.times == (std::vector<std::uint64_t>{5'000, 5'000}));
    STRCMP_EQUAL("1 frame without a timestamp: at that of the frame before\n", result.notes.c_str());
}

TEST(PcapngReader, aSectionHasAByteOrderAndInterfacesOfItsOwn) {
    File little;
    little.section().interface(113, 0).packet(0, 1, "cooked");
    File big{true};
    big.section()
        .interface(1, 0)
        .packet(0, 2, "ether")
        .block(0x0BAD, std::string(300'000, 'x'))
        .packet(0, 3, "more");
    const Result result = read(little.bytes + big.bytes + big.bytes);
    STRCMP_EQUAL("", result.error.c_str());
    CHECK(result.frames == (std::vector<std::string>{"ether", "more", "ether", "more"}));
}

TEST(PcapngReader, aFileThatIsCutIsReadUpToItsLastWholeBlock) {
    File file;
    file.section().interface(1, 0).packet(0, 1, std::string(60, 'a'));
    const std::size_t first = file.bytes.size();
    file.packet(0, 2, std::string(60, 'b'));
    for (std::size_t bytes = first + 1; bytes < file.bytes.size(); ++bytes) {
        const Result result = read(file.bytes.substr(0, bytes));
        STRCMP_EQUAL("", result.error.c_str());
        LONGS_EQUAL(1, result.frames.size());
        STRCMP_CONTAINS("cut", result.notes.c_str());
    }
}

TEST(PcapngReader, blocksThatCannotBeEndTheReadingWithTheirPlace) {
    const auto fails = [&](const std::string& bytes, const char* why) {
        File file;
        file.section().interface(1, 0).packet(0, 1, "ether");
        const Result result = read(file.bytes + bytes);
        LONGS_EQUAL(1, result.frames.size());
        STRCMP_CONTAINS(why, result.error.c_str());
        STRCMP_CONTAINS(("at byte " + std::to_string(file.bytes.size())).c_str(), result.error.c_str());
    };
    File file;
    fails(file.numbers({6, 13, 0, 0}), "a block of 13 bytes cannot be");
    fails(file.numbers({6, 8, 0, 0}), "a block of 8 bytes cannot be");
    fails(file.numbers({6, 0xFFFF'FFF0, 0, 0}), "cannot be");
    fails(file.numbers({6, 16, 0, 12}), "two lengths");
    fails(File{}.block(6, file.numbers({0, 0, 0, 5, 5}) + "four").bytes, "longer than its block");
    fails(File{}.block(6, file.numbers({0, 0, 0})).bytes, "longer than its block");
    fails(File{}.section(2).bytes, "version");
    fails(File{}.block(0x0A0D0D0A, std::string(16, 'x')).bytes, "byte order");
    fails(File{}.packet(0, ~std::uint64_t{0}, "late").bytes, "1970 to 2106");
}

// Bytes that were damaged anywhere: frames within the file, an end, no crash.
TEST(PcapngReader, damagedFilesEnd) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        File file{seed % 2 != 0};
        file.section().interface(1, 0, file.option(9, "\x09")).interface(1, 64);
        for (unsigned n = 0; n < 6; ++n) file.packet(n % 2, n, std::string(scramble(seed + n) % 200, 'x'));
        for (unsigned n = 0; n <= seed % 4; ++n)
            file.bytes[4 + scramble(seed * 9 + n) % (file.bytes.size() - 4)] =
                static_cast<char>(scramble(seed + 7 * n));
        CHECK(read(file.bytes).frames.size() <= 7);
    }
}

}  // namespace sluice::pcapng_reader_test
