#include "tools/traffic/capture.hh"

#include <fmt/format.h>

#include <utility>

#include "tools/traffic/failure.hh"

namespace sluice::traffic {
namespace {

template <class File>
File opened(tl::expected<File, std::string> file) {
    if (!file) throw Failure{file.error()};
    return std::move(*file);
}

}  // namespace

CaptureReader::CaptureReader(const std::string& file)
    : file_{file}, reader_{opened(sluice::CaptureReader::open(file))} {}

bool CaptureReader::next(CapturedFrame& frame) {
    if (reader_.read(frame)) {
        ++frames_;
        return true;
    }
    const std::string& error = reader_.error();
    if (error.empty()) return false;
    // It begins with the file.
    throw Failure{
        fmt::format("{}: frame {}{}{}", file_, frames_ + 1, error.substr(file_.size()), keep_first(frames_))};
}

CaptureWriter::CaptureWriter(const std::string& file)
    : writer_{opened(sluice::CaptureWriter::create(file))} {}

void CaptureWriter::close() {
    if (const std::string error = writer_.close(); !error.empty()) throw Failure{error};
}

}  // namespace sluice::traffic
