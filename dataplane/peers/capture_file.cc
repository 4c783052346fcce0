#include "dataplane/peers/capture_file.hh"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio_ext.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace sluice {
namespace {

constexpr int plain_major_version = 2;        // of pcapng: 1
constexpr off_t pcap_file_header_bytes = 24;  // where libpcap stands in a plain capture it has opened

// The header that libpcap writes, in the byte order of this machine.
struct FileHeader {
    std::uint32_t magic = 0xA1B2'3C4D;  // nanoseconds
    std::uint16_t major = 2;
    std::uint16_t minor = 4;
    std::uint32_t zone = 0;
    std::uint32_t accuracy = 0;
    std::uint32_t snap_length = 262'144;
    std::uint32_t link = DLT_EN10MB;
};
static_assert(sizeof(FileHeader) == pcap_file_header_bytes);

struct RecordHeader {
    std::uint32_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    std::uint32_t captured = 0;
    std::uint32_t length = 0;
};
static_assert(sizeof(RecordHeader) == 16);

template <class Header>
std::string_view bytes_of(const Header& header) {
    return {reinterpret_cast<const char*>(&header), sizeof header};
}

// A plain capture has 32 bits of seconds, unsigned, of which libpcap makes a signed number; pcapng has 64.
// With nanosecond precision libpcap stores nanoseconds in tv_usec.
std::optional<std::uint64_t> stamp_of(pcap* handle, const pcap_pkthdr& header) {
    const bool plain = pcap_major_version(handle) == plain_major_version;
    const std::int64_t seconds =
        plain ? static_cast<std::uint32_t>(header.ts.tv_sec) : std::int64_t{header.ts.tv_sec};
    if (seconds < 0 || seconds > UINT32_MAX || header.ts.tv_usec < 0) return std::nullopt;
    return static_cast<std::uint64_t>(seconds) * 1'000'000'000U +
           static_cast<std::uint64_t>(header.ts.tv_usec);
}

}  // namespace

std::string keep_first(std::uint64_t frames) {
    return frames == 0 ? "" : "; do: keep what is good: editcap -r FILE GOOD 1-" + std::to_string(frames);
}

void CaptureReader::Closer::operator()(pcap* handle) const { pcap_close(handle); }

tl::expected<CaptureReader, std::string> CaptureReader::open(const std::string& path) {
    const auto refuse = [&](const std::string& why) { return tl::unexpected(path + ": " + why); };
    CaptureReader reader(path);
    reader.file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!reader.file_) return refuse(std::string("cannot be read: ") + std::strerror(errno));
    struct stat state {};
    if (fstat(reader.file_.get(), &state) != 0) return refuse(std::strerror(errno));
    if (S_ISDIR(state.st_mode)) return refuse("is a folder, not a capture");
    if (S_ISREG(state.st_mode) && state.st_size == 0) return refuse("is empty (0 bytes)");
    if (reader.blocks_ = PcapngReader::open(reader.file_.get()); reader.blocks_) return reader;
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    reader.handle_.reset(
        pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error.data()));
    if (!reader.handle_)
        return refuse(std::string("is not a pcap or pcapng file: ") + error.data() +
                      "; do: unpack it (gunzip), or let editcap -F pcap rewrite it");
    std::FILE* file = pcap_file(reader.handle_.get());
    // It has one reader: locking the stream for every frame would cost a tenth of a run.
    __fsetlocking(file, FSETLOCKING_BYCALLER);
    if (const int link = pcap_datalink(reader.handle_.get()); link != DLT_EN10MB)
        return refuse(no_ethernet(static_cast<std::uint32_t>(link)));
    reader.file_ = {};
    if (ftello(file) == pcap_file_header_bytes)
        reader.usual_ =
            PcapReader::open(fileno(file), static_cast<std::uint32_t>(pcap_snapshot(reader.handle_.get())));
    return reader;
}

std::vector<std::string> CaptureReader::notes() const {
    if (blocks_) return blocks_->notes();
    return cut_ ? std::vector<std::string>{cut_note} : std::vector<std::string>{};
}

bool CaptureReader::read_any(Frame& frame) {
    if (blocks_) {
        if (blocks_->next(frame)) return true;
        if (!blocks_->error().empty()) error_ = path_ + ": " + blocks_->error();
        return false;
    }
    if (usual_) {
        const auto offset = static_cast<off_t>(usual_->offset());
        usual_.reset();
        if (fseeko(pcap_file(handle_.get()), offset, SEEK_SET) != 0) {
            error_ = path_ + ": " + std::strerror(errno);
            return false;
        }
    }
    pcap_pkthdr* header = nullptr;
    const unsigned char* bytes = nullptr;
    const int result = pcap_next_ex(handle_.get(), &header, &bytes);
    if (result != 1) {
        const std::string_view why = pcap_geterr(handle_.get());
        cut_ = result == PCAP_ERROR && why.starts_with("truncated dump file");
        if (result == PCAP_ERROR && !cut_) error_ = path_ + ": " + std::string(why);
        return false;
    }
    const auto stamp_ns = stamp_of(handle_.get(), *header);
    if (!stamp_ns) {
        error_ = path_ + ": a frame's timestamp is not within 1970 to 2106";
        return false;
    }
    frame.timestamp_ns = *stamp_ns;
    frame.wire_length = std::max(header->len, header->caplen);
    frame.bytes = {bytes, header->caplen};
    return true;
}

tl::expected<CaptureSummary, std::string> CaptureReader::scan(const std::string& path) {
    auto reader = open(path);
    if (!reader) return tl::unexpected(reader.error());
    CaptureSummary summary;
    Frame frame;
    while (reader->read(frame)) {
        summary.stamps.add(frame.timestamp_ns);
        summary.longest_frame_bytes = std::max(summary.longest_frame_bytes, frame.wire_length);
        ++summary.packets;
    }
    if (!reader->error().empty())
        return tl::unexpected(reader->error() + " (after " + frames_text(summary.packets) + ")" +
                              keep_first(summary.packets));
    summary.notes = reader->notes();
    return summary;
}

tl::expected<CaptureWriter, std::string> CaptureWriter::create(const std::string& path) {
    auto file = OutputFile::create(path);
    if (!file) return tl::unexpected(file.error());
    (*file)->write(bytes_of(FileHeader{}));
    return CaptureWriter(std::move(*file));
}

void CaptureWriter::write(std::uint64_t timestamp_ns, std::span<const std::span<const std::uint8_t>> pieces,
                          std::optional<std::uint32_t> wire_length) {
    RecordHeader header;
    header.seconds = static_cast<std::uint32_t>(timestamp_ns / 1'000'000'000U);
    header.nanoseconds = static_cast<std::uint32_t>(timestamp_ns % 1'000'000'000U);
    for (const auto& piece : pieces) header.captured += static_cast<std::uint32_t>(piece.size());
    header.length = wire_length.value_or(header.captured);
    file_->write(bytes_of(header));
    for (const auto& piece : pieces)
        file_->write({reinterpret_cast<const char*>(piece.data()), piece.size()});
}

std::string CaptureWriter::close() { return file_->close(); }

}  // namespace sluice
