// Capture files: those that dataplane/peers/capture_file.hh reads; nanosecond pcap out. Trouble is a
// `Failure` that names the file and, where there is one, the frame (counted from 1, as tshark does).
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice::traffic {

struct CapturedFrame {
    std::uint64_t at_ns = 0;              // since the epoch, or the file's own time 0
    std::uint32_t length = 0;             // on the wire, without FCS
    std::span<const std::uint8_t> bytes;  // the captured part; at most 256 KiB
};

class CaptureReader {
  public:
    explicit CaptureReader(const std::filesystem::path& file);
    ~CaptureReader();
    // False at the end. `frame.bytes` holds until the next call.
    bool next(CapturedFrame& frame);
    std::uint64_t frames() const { return frames_; }
    const std::filesystem::path& file() const { return file_; }
    // What was left out so far, a sentence each.
    std::vector<std::string> notes() const;

  private:
    struct Reader;
    std::filesystem::path file_;
    std::unique_ptr<Reader> reader_;
    std::uint64_t frames_ = 0;
};

class CaptureWriter {
  public:
    explicit CaptureWriter(const std::filesystem::path& file);
    void write(const CapturedFrame& frame);
    // Must be called once all is written; a writer destroyed without it leaves a file of unknown worth.
    void close();

  private:
    struct Close {
        void operator()(pcap_t* handle) const { pcap_close(handle); }
        void operator()(pcap_dumper_t* dumper) const { pcap_dump_close(dumper); }
    };
    void check() const;

    std::filesystem::path file_;
    std::unique_ptr<pcap_t, Close> format_;
    std::unique_ptr<char[]> buffer_;  // of the stream; outlives it
    std::unique_ptr<pcap_dumper_t, Close> dumper_;
};

}  // namespace sluice::traffic
