#include "dataplane/capture_file.hh"

#include <pcap/pcap.h>
#include <stdio_ext.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace sluice {
namespace {

// A capture has one reader or writer: locking its stream for every frame would cost a tenth of a run.
void without_locks(std::FILE* stream) {
    if (stream != nullptr) __fsetlocking(stream, FSETLOCKING_BYCALLER);
}

constexpr off_t pcap_file_header_bytes = 24;  // where libpcap stands in a plain capture it has opened

}  // namespace

void CaptureReader::Closer::operator()(pcap* handle) const { pcap_close(handle); }
void CaptureWriter::Closer::operator()(pcap_dumper* handle) const { pcap_dump_close(handle); }

tl::expected<CaptureReader, std::string> CaptureReader::open(const std::string& path) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap* handle =
        pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error.data());
    if (handle == nullptr) {
        std::string text = error.data();
        if (!text.starts_with(path)) text = path + ": " + text;
        return tl::unexpected(text);
    }
    CaptureReader reader(handle, path);
    without_locks(pcap_file(handle));
    const int link = pcap_datalink(handle);
    if (link != DLT_EN10MB) {
        const char* name = pcap_datalink_val_to_name(link);
        return tl::unexpected(path + ": link layer is " + (name != nullptr ? name : std::to_string(link)) +
                              ", wanted EN10MB (Ethernet)");
    }
    std::FILE* file = pcap_file(handle);
    if (ftello(file) == pcap_file_header_bytes)
        reader.usual_ = CaptureRecords::open(fileno(file), static_cast<std::uint32_t>(pcap_snapshot(handle)));
    return reader;
}

bool CaptureReader::read_any(Frame& frame) {
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
        if (result == PCAP_ERROR) error_ = path_ + ": " + pcap_geterr(handle_.get());
        return false;
    }
    // With nanosecond precision libpcap stores nanoseconds in tv_usec.
    frame.timestamp_ns = static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000U +
                         static_cast<std::uint64_t>(header->ts.tv_usec);
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
        if (summary.packets == 0) summary.first_ns = summary.last_ns = frame.timestamp_ns;
        summary.first_ns = std::min(summary.first_ns, frame.timestamp_ns);
        summary.last_ns = std::max(summary.last_ns, frame.timestamp_ns);
        summary.longest_frame_bytes = std::max(summary.longest_frame_bytes, frame.wire_length);
        ++summary.packets;
    }
    if (!reader->error().empty())
        return tl::unexpected(reader->error() + " (after " + std::to_string(summary.packets) + " frames)");
    return summary;
}

tl::expected<CaptureWriter, std::string> CaptureWriter::create(const std::string& path) {
    // Something that is there and no file, such as a pipe or /dev/null, is written as it is.
    std::error_code error;
    const bool in_place =
        std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
    std::string written = in_place ? path : path + ".part";
    // The handle only says what the file's header says; the dumper does not need it afterwards.
    pcap* format = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 262144, PCAP_TSTAMP_PRECISION_NANO);
    if (format == nullptr) return tl::unexpected(path + ": libpcap is out of memory");
    pcap_dumper* dumper = pcap_dump_open(format, written.c_str());
    pcap_close(format);
    if (dumper == nullptr) return tl::unexpected(path + ": cannot be written: " + std::strerror(errno));
    without_locks(pcap_dump_file(dumper));
    return CaptureWriter(dumper, path, std::move(written));
}

CaptureWriter::~CaptureWriter() {
    if (handle_ && written_ != path_) std::remove(written_.c_str());
}

void CaptureWriter::write(std::uint64_t timestamp_ns, std::span<const std::span<const std::uint8_t>> pieces) {
    pcap_pkthdr header{};
    header.ts.tv_sec = static_cast<decltype(header.ts.tv_sec)>(timestamp_ns / 1'000'000'000U);
    header.ts.tv_usec = static_cast<decltype(header.ts.tv_usec)>(timestamp_ns % 1'000'000'000U);
    for (const auto& piece : pieces) header.caplen += static_cast<std::uint32_t>(piece.size());
    header.len = header.caplen;
    if (pieces.size() == 1) {
        pcap_dump(reinterpret_cast<unsigned char*>(handle_.get()), &header, pieces[0].data());
        return;
    }
    std::array<std::uint8_t, 65536> joined;
    std::size_t at = 0;
    for (const auto& piece : pieces) {
        const std::size_t count = std::min(piece.size(), joined.size() - at);
        std::memcpy(joined.data() + at, piece.data(), count);
        at += count;
    }
    header.caplen = static_cast<std::uint32_t>(at);
    pcap_dump(reinterpret_cast<unsigned char*>(handle_.get()), &header, joined.data());
}

std::string CaptureWriter::close() {
    if (!handle_) return {};
    bool failed = pcap_dump_flush(handle_.get()) != 0 || std::ferror(pcap_dump_file(handle_.get())) != 0;
    handle_.reset();
    failed = failed || (written_ != path_ && std::rename(written_.c_str(), path_.c_str()) != 0);
    return failed ? path_ + ": " + std::strerror(errno) : std::string{};
}

}  // namespace sluice
