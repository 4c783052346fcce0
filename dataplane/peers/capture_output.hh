// A capture of the frames that a switch delivers to a peer, by the moment their first bit leaves.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/packet.hh"
#include "dataplane/peers/capture_file.hh"
#include "lib/clock/capture_timeline.hh"

namespace sluice {

class CaptureOutput {
  public:
    // An error's text when the file cannot be made. `timeline` outlives it.
    static tl::expected<CaptureOutput, std::string> create(const std::string& path,
                                                           const CaptureTimeline& timeline);
    void write(Packet* packet, Time departure);
    std::string close() { return writer_.close(); }  // an error's text, or empty

  private:
    CaptureOutput(CaptureWriter writer, const CaptureTimeline& timeline)
        : writer_(std::move(writer)), time_(timeline) {}

    CaptureWriter writer_;
    TimelineCursor time_;
};

}  // namespace sluice
