#include "dataplane/peers/capture_file.hh"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/unit/dataplane/two_readers.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::capture_file_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

void add32(std::string& out, std::uint32_t value, bool swapped = false) {
    for (unsigned i = 0; i < 4; ++i)
        out.push_back(static_cast<char>(value >> (swapped ? 24 - 8 * i : 8 * i)));
}

struct FileKind {
    bool nanoseconds = true;
    bool swapped = false;  // big endian
    std::uint32_t link = 1;
    std::uint32_t snap_length = 262144;
    std::uint32_t minor = 4;  // version 2.minor
};

std::string header(const FileKind& kind = {}) {
    std::string out;
    add32(out, kind.nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4, kind.swapped);
    add32(out, kind.swapped ? 2U << 16 | kind.minor : kind.minor << 16 | 2U, kind.swapped);
    for (const std::uint32_t value : {0U, 0U, kind.snap_length, kind.link}) add32(out, value, kind.swapped);
    return out;
}

std::string record(std::uint32_t seconds, std::uint32_t fraction, const Bytes& bytes, std::uint32_t wire = 0,
                   bool swapped = false) {
    std::string out;
    for (const std::uint32_t value : {seconds, fraction, static_cast<std::uint32_t>(bytes.size()),
                                      wire != 0 ? wire : static_cast<std::uint32_t>(bytes.size())})
        add32(out, value, swapped);
    out.append(bytes.begin(), bytes.end());
    return out;
}

// `frames` of at most `longest` bytes each.
std::string some_capture(std::uint64_t seed, const FileKind& kind, unsigned frames, std::uint64_t longest) {
    std::string out = header(kind);
    for (unsigned n = 0; n < frames; ++n) {
        const std::uint64_t draw = scramble(seed * 1000 + n);
        out += record(static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(draw >> 40) % 1'000'000,
                      Bytes(draw % (longest + 1), static_cast<std::uint8_t>(n)), 0, kind.swapped);
    }
    return out;
}

FileKind kind_of(std::uint64_t seed) { return {(seed & 1) != 0, (seed & 2) != 0, 1}; }

}  // namespace

TEST_GROUP(CaptureFile) {
    std::string folder;

    void setup() override {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-capture-XXXXXX").string();
        CHECK_TRUE(mkdtemp(name.data()) != nullptr);
        folder = name;
    }
    void teardown() override { std::filesystem::remove_all(folder); }

    std::string write(const std::string& bytes) const {
        const std::string path = folder + "/test.pcap";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    void refuses(const std::string& bytes, const char* word) const {
        const std::string path = write(bytes);
        const auto summary = CaptureReader::scan(path);
        CHECK_FALSE(summary.has_value());
        if (summary) return;
        STRCMP_CONTAINS(path.c_str(), summary.error().c_str());
        STRCMP_CONTAINS(word, summary.error().c_str());
        CHECK_TRUE(summary.error().find('\n') == std::string::npos);
    }
};

TEST(CaptureFile, refusesWhatIsNoCapture) {
    refuses("", "");
    refuses("\n", "");
    refuses(std::string(24, '\0'), "unknown file format");
    refuses("not a capture, but long enough to be a header", "unknown file format");
    refuses(header().substr(0, 23), "truncated");
}

TEST(CaptureFile, refusesOtherLinkLayersByName) {
    refuses(header({.link = 113}), "LINUX_SLL");
    refuses(header({.link = 105}), "IEEE802_11");
    refuses(header({.link = 60000}), "60000");  // without a name: its number
}

TEST(CaptureFile, readsOneThatIsCutUpToItsLastWholeFrame) {
    const std::string whole = header() + record(1, 2, Bytes(60)) + record(1, 3, Bytes(100));
    for (std::size_t bytes = 25; bytes < whole.size(); ++bytes) {
        if (bytes == 24 + 16 + 60) continue;  // a whole record
        const auto summary = CaptureReader::scan(write(whole.substr(0, bytes)));
        CHECK_TRUE(summary.has_value());
        LONGS_EQUAL(bytes > 24 + 16 + 60 ? 1 : 0, summary->packets);
        LONGS_EQUAL(1, summary->notes.size());
    }
}

TEST(CaptureFile, refusesARecordThatIsTooLong) {
    std::string out = header();
    for (const std::uint32_t value : {0U, 0U, 0x7FFFFFFFU, 60U}) add32(out, value);
    refuses(out + std::string(1000, 'x'), "after 0 frames");
}

TEST(CaptureFile, refusesAFileThatIsNotThere) {
    const auto reader = CaptureReader::open(folder + "/nowhere.pcap");
    CHECK_FALSE(reader.has_value());
    STRCMP_CONTAINS("nowhere.pcap", reader.error().c_str());
    CHECK_FALSE(CaptureReader::open(folder).has_value());
    CHECK_FALSE(CaptureWriter::create(folder + "/no/where.pcap").has_value());
}

TEST(CaptureFile, readsNanosecondsAndMicrosecondsOfEitherByteOrder) {
    for (const bool nanoseconds : {false, true}) {
        for (const bool swapped : {false, true}) {
            const std::string path = write(header({nanoseconds, swapped, 1}) +
                                           record(1'700'000'000, 123'456, Bytes(60, 7), 0, swapped) +
                                           record(5, 999'999, Bytes(3, 9), 1500, swapped));
            auto reader = CaptureReader::open(path);
            CHECK_TRUE(reader.has_value());
            CaptureReader::Frame frame;
            CHECK_TRUE(reader->read(frame));
            const std::uint64_t unit = nanoseconds ? 1 : 1000;
            UNSIGNED_LONGLONGS_EQUAL(1'700'000'000'000'000'000 + 123'456 * unit, frame.timestamp_ns);
            LONGS_EQUAL(60, frame.bytes.size());
            LONGS_EQUAL(7, frame.bytes[59]);
            CHECK_TRUE(reader->read(frame));
            UNSIGNED_LONGLONGS_EQUAL(5'000'000'000 + 999'999 * unit, frame.timestamp_ns);
            LONGS_EQUAL(3, frame.bytes.size());
            LONGS_EQUAL(1500, frame.wire_length);
            CHECK_FALSE(reader->read(frame));
            STRCMP_EQUAL("", reader->error().c_str());
        }
    }
}

TEST(CaptureFile, readsLongCapturesAsLibpcapDoes) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {  // pieces end within headers and within frames
        const std::string path = write(some_capture(seed, kind_of(seed), 300, 9000));
        const std::string wanted = by_libpcap(path);
        CHECK(std::count(wanted.begin(), wanted.end(), '\n') == 300);
        STRCMP_EQUAL(wanted.c_str(), by_reader(path).c_str());
    }
}

TEST(CaptureFile, readsFramesOfAnyLengthAsLibpcapDoes) {
    for (const std::size_t bytes : {0U, 65'535U, 65'536U, 65'537U, 262'144U, 262'145U}) {
        const std::string path = write(header() + record(1, 2, Bytes(60)) + record(3, 4, Bytes(bytes, 5)) +
                                       record(6, 7, Bytes(61)));
        STRCMP_EQUAL(by_libpcap(path).c_str(), by_reader(path).c_str());
    }
}

TEST(CaptureFile, readsFramesBeyondTheSnapLengthAsLibpcapDoes) {
    for (const std::uint32_t snap_length : {0U, 59U, 60U, 100U, 0xFFFF'FFFFU}) {
        const std::string path = write(header({.snap_length = snap_length}) + record(1, 2, Bytes(60)) +
                                       record(3, 4, Bytes(200, 5)));
        STRCMP_EQUAL(by_libpcap(path).c_str(), by_reader(path).c_str());
    }
}

TEST(CaptureFile, readsOldVersionsAsLibpcapDoes) {
    for (const std::uint32_t minor : {0U, 2U, 3U, 4U, 5U, 543U}) {  // up to 2.3 both lengths may be swapped
        const std::string path =
            write(header({.minor = minor}) + record(1, 2, Bytes(60), 20) + record(3, 4, Bytes(20), 60));
        STRCMP_EQUAL(by_libpcap(path).c_str(), by_reader(path).c_str());
    }
}

// libpcap judges hostile bytes, however far we have come without it.
TEST(CaptureFile, readsDamagedCapturesAsLibpcapDoes) {
    unsigned refused = 0;
    unsigned broken = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        std::string bytes = some_capture(seed, kind_of(seed), 6, 200);
        for (unsigned n = 0; n <= seed % 3; ++n) {
            const std::uint64_t draw = scramble(seed * 7 + n);
            // Mostly where it matters: the file's header and the first records'.
            const std::size_t among = draw % 4 == 0 ? bytes.size() : 56;
            bytes[(draw >> 8) % among] =
                draw % 3 == 0 ? static_cast<char>(0xFF) : static_cast<char>(draw >> 40);
        }
        if (seed % 5 == 0) bytes.resize(scramble(seed) % bytes.size());
        const std::string path = write(bytes);
        const std::string wanted = by_libpcap(path);
        STRCMP_EQUAL(wanted.c_str(), by_reader(path).c_str());
        refused += wanted == "refused" ? 1U : 0U;
        broken += wanted.find(path) != std::string::npos ? 1U : 0U;
    }
    CHECK(refused > 30);
    CHECK(broken > 30);
    CHECK(refused + broken < 850);
}

TEST(CaptureFile, scanKnowsTheEarliestWhateverTheOrder) {
    const auto summary = CaptureReader::scan(write(header() + record(10, 5, Bytes(60)) +
                                                   record(9, 999'999'999, Bytes(60), 2000) +
                                                   record(11, 0, Bytes(100)) + record(10, 6, Bytes(60))));
    CHECK_TRUE(summary.has_value());
    LONGS_EQUAL(4, summary->packets);
    LONGS_EQUAL(1, summary->stamps.all().size());
    UNSIGNED_LONGLONGS_EQUAL(9'999'999'999, summary->stamps.all().begin()->first);
    UNSIGNED_LONGLONGS_EQUAL(11'000'000'000, summary->stamps.all().begin()->second);
    LONGS_EQUAL(2000, summary->longest_frame_bytes);
}

// 2038 ends what a signed number of 32 bits can say; a capture's seconds are unsigned.
TEST(CaptureFile, secondsAreUnsignedOnBothWays) {
    for (const bool nanoseconds : {false, true})
        for (const bool swapped : {false, true}) {
            std::string bytes = header({.nanoseconds = nanoseconds, .swapped = swapped});
            for (const std::uint32_t seconds : {0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU})
                bytes += record(seconds, 5, Bytes(60), 0, swapped);
            // A record that only libpcap reads comes first, the second time: libpcap then reads them all.
            for (const std::uint32_t fraction : {6U, 0x80000000U}) {
                auto reader = CaptureReader::open(write(bytes + record(9, fraction, Bytes(60), 0, swapped)));
                CaptureReader::Frame frame;
                const std::uint64_t unit = nanoseconds ? 1 : 1000;
                for (const std::uint64_t seconds : {0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
                    CHECK_TRUE(reader->read(frame));
                    UNSIGNED_LONGLONGS_EQUAL(seconds * 1'000'000'000 + 5 * unit, frame.timestamp_ns);
                }
            }
        }
    const std::string path = folder + "/out.pcap";
    auto writer = CaptureWriter::create(path);
    const Bytes bytes(60);
    const std::array<std::span<const std::uint8_t>, 1> one{std::span<const std::uint8_t>(bytes)};
    for (const std::uint64_t seconds : {0x7FFFFFFFU, 0x80000000U})
        writer->write(seconds * 1'000'000'000 + 7, one);
    STRCMP_EQUAL("", writer->close().c_str());
    const auto summary = CaptureReader::scan(path);
    LONGS_EQUAL(2, summary->packets);
    UNSIGNED_LONGLONGS_EQUAL(0x7FFFFFFFULL * 1'000'000'000 + 7, summary->stamps.all().begin()->first);
    UNSIGNED_LONGLONGS_EQUAL(0x80000000ULL * 1'000'000'000 + 7, summary->stamps.all().begin()->second);
}

TEST(CaptureFile, aCaptureWithoutFramesIsRead) {
    const auto summary = CaptureReader::scan(write(header()));
    CHECK_TRUE(summary.has_value());
    LONGS_EQUAL(0, summary->packets);
}

TEST(CaptureFile, whatIsWrittenIsRead) {
    const std::string path = folder + "/out.pcap";
    {
        auto writer = CaptureWriter::create(path);
        CHECK_TRUE(writer.has_value());
        Bytes bytes(9000);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
        const std::span<const std::uint8_t> all(bytes);
        const std::array<std::span<const std::uint8_t>, 1> one{all.first(60)};
        const std::array<std::span<const std::uint8_t>, 4> pieces{all.first(1), all.subspan(1, 2048),
                                                                  all.subspan(2049, 0), all.subspan(2049)};
        writer->write(1'700'000'000'123'456'789, one);
        writer->write(0, pieces);
        STRCMP_EQUAL("", writer->close().c_str());
        STRCMP_EQUAL("", writer->close().c_str());  // a second time does no harm
    }
    auto reader = CaptureReader::open(path);
    CHECK_TRUE(reader.has_value());
    CaptureReader::Frame frame;
    CHECK_TRUE(reader->read(frame));
    UNSIGNED_LONGLONGS_EQUAL(1'700'000'000'123'456'789, frame.timestamp_ns);
    LONGS_EQUAL(60, frame.wire_length);
    CHECK_TRUE(reader->read(frame));
    UNSIGNED_LONGLONGS_EQUAL(0, frame.timestamp_ns);
    LONGS_EQUAL(9000, frame.bytes.size());
    for (std::size_t i = 0; i < frame.bytes.size(); ++i)
        LONGS_EQUAL(static_cast<std::uint8_t>(i * 7), frame.bytes[i]);
    CHECK_FALSE(reader->read(frame));
}

TEST(CaptureFile, anOutputAppearsWholeOrNotAtAll) {
    const std::string path = write("what was there before");
    const Bytes bytes(100);
    const std::array<std::span<const std::uint8_t>, 1> one{std::span<const std::uint8_t>(bytes)};
    {
        auto writer = CaptureWriter::create(path);
        CHECK_TRUE(writer.has_value());
        writer->write(1, one);
    }  // never closed: a run that failed
    LONGS_EQUAL(21, std::filesystem::file_size(path));
    auto writer = CaptureWriter::create(path);
    writer->write(1, one);
    LONGS_EQUAL(21, std::filesystem::file_size(path));
    STRCMP_EQUAL("", writer->close().c_str());
    LONGS_EQUAL(24 + 16 + 100, std::filesystem::file_size(path));
    LONGS_EQUAL(1,
                std::distance(std::filesystem::directory_iterator(folder), {}));  // and nothing else is left
}

TEST(CaptureFile, aFullDiskIsToldAtTheClose) {
    if (access("/dev/full", W_OK) != 0) {
        UtestShell::getCurrent()->print("SKIP: no /dev/full here", __FILE__, __LINE__);
        return;
    }
    auto writer = CaptureWriter::create("/dev/full");
    if (!writer) return;  // refused at once is as good
    const Bytes bytes(1500);
    const std::array<std::span<const std::uint8_t>, 1> one{std::span<const std::uint8_t>(bytes)};
    for (unsigned n = 0; n < 100; ++n) writer->write(n, one);
    STRCMP_CONTAINS("/dev/full", writer->close().c_str());
}

}  // namespace sluice::capture_file_test
