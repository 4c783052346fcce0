// Capture files, as dataplane/peers/capture_file.hh reads and writes them. Trouble is a `Failure` that names
// the file and, where there is one, the frame (counted from 1, as tshark does).
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/peers/capture_file.hh"
#include "tools/traffic/failure.hh"

namespace sluice::traffic {

using CapturedFrame = sluice::CaptureReader::Frame;

template <class File>
File opened(tl::expected<File, std::string> file) {
    if (!file) throw Failure{file.error()};
    return std::move(*file);
}

class CaptureReader {
  public:
    explicit CaptureReader(const std::string& file)
        : file_{file}, reader_{opened(sluice::CaptureReader::open(file))} {}
    // False at the end. `frame.bytes` holds until the next call.
    bool next(CapturedFrame& frame) {
        if (reader_.read(frame)) return ++frames_, true;
        const std::string& error = reader_.error();
        if (error.empty()) return false;
        // It begins with the file.
        throw Failure{fmt::format("{}: frame {}{}{}", file_, frames_ + 1, error.substr(file_.size()),
                                  keep_first(frames_))};
    }
    const std::string& file() const { return file_; }
    // What was left out so far, a sentence each.
    std::vector<std::string> notes() const { return reader_.notes(); }

  private:
    std::string file_;
    sluice::CaptureReader reader_;
    std::uint64_t frames_ = 0;
};

class CaptureWriter {
  public:
    explicit CaptureWriter(const std::string& file) : writer_{opened(sluice::CaptureWriter::create(file))} {}
    void write(const CapturedFrame& frame) {
        writer_.write(frame.timestamp_ns, std::array{frame.bytes}, frame.wire_length);
    }
    // Once all is written: without it there is no file.
    void close() {
        if (const std::string error = writer_.close(); !error.empty()) throw Failure{error};
    }

  private:
    sluice::CaptureWriter writer_;
};

}  // namespace sluice::traffic
