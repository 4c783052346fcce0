// Capture files with nanosecond timestamps: usual records and pcapng by pcap_reader.hh, other files through
// libpcap. The driver net_pcap cuts timestamps to microseconds and stamps wall clock, so under the virtual
// clock Sluice reads and writes the files itself. Needs no DPDK.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/base/output_file.hh"
#include "dataplane/peers/pcap_reader.hh"
#include "lib/clock/capture_timeline.hh"

struct pcap;

namespace sluice {

// The result of one pass over a whole file, before anything is started.
struct CaptureSummary {
    std::uint64_t packets = 0;
    StampRanges stamps;
    std::uint32_t longest_frame_bytes = 0;
    std::vector<std::string> notes;  // about frames that were left out
};

// The remedy for a file that is damaged behind its first frames.
std::string keep_first(std::uint64_t frames);

class CaptureReader {
  public:
    using Frame = PcapReader::Frame;

    // Errors are one line that names the file. Refuses a link layer other than Ethernet by its name.
    static tl::expected<CaptureReader, std::string> open(const std::string& path);
    // Reads the whole file and refuses a damaged capture, but not one whose end is missing.
    static tl::expected<CaptureSummary, std::string> scan(const std::string& path);

    // False at the end of the file or at an error, whose text is then in `error`.
    bool read(Frame& frame) { return (usual_ && usual_->next(frame)) || read_any(frame); }
    const std::string& error() const { return error_; }
    // Sentences about frames that were left out so far.
    std::vector<std::string> notes() const;

  private:
    struct Closer {
        void operator()(pcap* handle) const;
    };
    explicit CaptureReader(std::string path) : path_(std::move(path)) {}
    bool read_any(Frame& frame);

    std::unique_ptr<pcap, Closer> handle_;  // nothing: of pcapng
    FileDescriptor file_;                   // of pcapng
    std::optional<PcapngReader> blocks_;    // likewise
    std::string path_;
    std::string error_;
    std::optional<PcapReader> usual_;  // nothing: libpcap reads on
    bool cut_ = false;
};

// Appears whole or not at all, and has one writer at a time: output_file.hh.
class CaptureWriter {
  public:
    static tl::expected<CaptureWriter, std::string> create(const std::string& path);
    // `pieces` of one frame, in order. `wire_length`: where they are not the whole of it.
    void write(std::uint64_t timestamp_ns, std::span<const std::span<const std::uint8_t>> pieces,
               std::optional<std::uint32_t> wire_length = {});
    // Puts the file in its place; an error's text, or empty. Without it the destructor leaves no file.
    std::string close();

  private:
    explicit CaptureWriter(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}
    std::unique_ptr<OutputFile> file_;
};

}  // namespace sluice
