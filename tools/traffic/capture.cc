#include "tools/traffic/capture.hh"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "dataplane/peers/capture_file.hh"
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

struct CaptureReader::Reader : sluice::CaptureReader {};

CaptureReader::CaptureReader(const std::filesystem::path& file) : file_{file} {
    auto reader = sluice::CaptureReader::open(file.string());
    if (!reader) throw Failure{reader.error()};
    reader_ = std::make_unique<Reader>(Reader{std::move(*reader)});
}

CaptureReader::~CaptureReader() = default;

std::vector<std::string> CaptureReader::notes() const { return reader_->notes(); }

bool CaptureReader::next(CapturedFrame& frame) {
    sluice::CaptureReader::Frame read;
    if (reader_->read(read)) {
        ++frames_;
        frame = {read.timestamp_ns, read.wire_length, read.bytes};
        return true;
    }
    const std::string& error = reader_->error();
    if (error.empty()) return false;
    // It begins with the file.
    fail(file_,
         fmt::format("frame {}{}{}", frames_ + 1, error.substr(file_.string().size()), keep_first(frames_)));
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
