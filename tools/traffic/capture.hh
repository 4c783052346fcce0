// Capture files, as dataplane/peers/capture_file.hh reads and writes them. Trouble is a `Failure` that names
// the file and, where there is one, the frame (counted from 1, as tshark does).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/peers/capture_file.hh"

namespace sluice::traffic {

using CapturedFrame = sluice::CaptureReader::Frame;

class CaptureReader {
  public:
    explicit CaptureReader(const std::string& file);
    // False at the end. `frame.bytes` holds until the next call.
    bool next(CapturedFrame& frame);
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
    explicit CaptureWriter(const std::string& file);
    void write(const CapturedFrame& frame) {
        writer_.write(frame.timestamp_ns, std::array{frame.bytes}, frame.wire_length);
    }
    void close();  // once all is written: without it there is no file

  private:
    sluice::CaptureWriter writer_;
};

}  // namespace sluice::traffic
