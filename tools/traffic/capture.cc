#include "tools/traffic/capture.hh"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/traffic/failure.hh"

namespace sluice::traffic {
namespace {

constexpr std::uint64_t nanoseconds_a_second = 1'000'000'000;
constexpr int snapshot_bytes = 262'144;  // libpcap's own limit for Ethernet
constexpr std::size_t stream_buffer_bytes = 128 * 1024;

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view why) {
    throw Failure{fmt::format("{}: {}", file.string(), why)};
}

}  // namespace

CaptureReader::CaptureReader(const std::filesystem::path& file) : file_{file} {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) fail(file, "is a folder, not a capture");
    std::FILE* stream = std::fopen(file.c_str(), "rb");
    if (stream == nullptr) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
    const int first = std::getc(stream);
    if (first == EOF) {
        std::fclose(stream);
        fail(file, "is empty (0 bytes)");
    }
    std::ungetc(first, stream);
    char text[PCAP_ERRBUF_SIZE];
    handle_.reset(pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, text));
    if (!handle_) {
        std::fclose(stream);
        fail(file, fmt::format("is not a pcap or pcapng file: {}", text));
    }
    const int link = pcap_datalink(handle_.get());
    if (link == DLT_EN10MB) return;
    const char* name = pcap_datalink_val_to_name(link);
    fail(file, fmt::format("link layer is {}, not Ethernet (EN10MB)",
                           name != nullptr ? std::string{name} : fmt::format("number {}", link)));
}

bool CaptureReader::next(CapturedFrame& frame) {
    pcap_pkthdr* header = nullptr;
    const std::uint8_t* bytes = nullptr;
    const int result = pcap_next_ex(handle_.get(), &header, &bytes);
    if (result == PCAP_ERROR_BREAK) return false;
    ++frames_;
    if (result != 1) fail(file_, fmt::format("frame {}: {}", frames_, pcap_geterr(handle_.get())));
    const auto second = static_cast<std::uint64_t>(header->ts.tv_sec);
    const auto fraction = static_cast<std::uint64_t>(header->ts.tv_usec);  // nanoseconds, as asked for
    if (second > UINT32_MAX || fraction >= nanoseconds_a_second) {
        fail(file_, fmt::format("frame {}: its timestamp is out of range", frames_));
    }
    frame = {second * nanoseconds_a_second + fraction, header->len, {bytes, header->caplen}};
    return true;
}

CaptureWriter::CaptureWriter(const std::filesystem::path& file) : file_{file} {
    format_.reset(
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, snapshot_bytes, PCAP_TSTAMP_PRECISION_NANO));
    if (!format_) fail(file, "out of memory");
    std::FILE* stream = std::fopen(file.c_str(), "wb");
    if (stream == nullptr) fail(file, fmt::format("cannot be written: {}", std::strerror(errno)));
    buffer_ = std::make_unique_for_overwrite<char[]>(stream_buffer_bytes);
    std::setvbuf(stream, buffer_.get(), _IOFBF, stream_buffer_bytes);
    dumper_.reset(pcap_dump_fopen(format_.get(), stream));
    if (!dumper_) {
        std::fclose(stream);
        fail(file, pcap_geterr(format_.get()));
    }
}

void CaptureWriter::check() const {
    if (std::ferror(pcap_dump_file(dumper_.get())) != 0) {
        fail(file_, fmt::format("cannot be written: {}", std::strerror(errno)));
    }
}

void CaptureWriter::write(const CapturedFrame& frame) {
    pcap_pkthdr header{};
    header.ts.tv_sec = static_cast<time_t>(frame.at_ns / nanoseconds_a_second);
    header.ts.tv_usec = static_cast<suseconds_t>(frame.at_ns % nanoseconds_a_second);
    header.caplen = static_cast<bpf_u_int32>(frame.bytes.size());
    header.len = frame.length;
    pcap_dump(reinterpret_cast<std::uint8_t*>(dumper_.get()), &header, frame.bytes.data());
    check();
}

void CaptureWriter::close() {
    if (pcap_dump_flush(dumper_.get()) != 0) {
        fail(file_, fmt::format("cannot be written: {}", std::strerror(errno)));
    }
    check();
    dumper_.reset();
}

}  // namespace sluice::traffic
