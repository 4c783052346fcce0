// A capture of the frames that a switch delivers to a peer, by the moment their first bit leaves.
#pragma once

#include <array>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "dataplane/base/described.hh"
#include "dataplane/peers/capture_file.hh"
#include "lib/clock/capture_timeline.hh"

namespace sluice {

class CaptureOutput {
  public:
    // An error's text when the file cannot be made. `timeline` outlives it.
    static tl::expected<CaptureOutput, std::string> create(const std::string& path,
                                                           const CaptureTimeline& timeline) {
        auto writer = CaptureWriter::create(path);
        if (!writer) return tl::unexpected(writer.error());
        return CaptureOutput(std::move(*writer), timeline);
    }
    void write(Packet* packet, Time departure) {
        std::array<std::span<const std::uint8_t>, 64> pieces;
        std::array<std::uint8_t, roce::max_packet_bytes> whole;
        std::size_t count = 0;
        for (Packet* segment = packet; segment != nullptr && count < pieces.size(); segment = segment->next)
            pieces[count++] = {frame_bytes(segment), segment->data_len};
        if (is_described(packet)) {
            copy_frame(packet, whole.data());
            pieces[0] = std::span(whole).first(packet->pkt_len);
        }
        writer_.write(time_.stamp_of(departure), std::span(pieces).first(count));
    }
    std::string close() { return writer_.close(); }  // an error's text, or empty

  private:
    CaptureOutput(CaptureWriter writer, const CaptureTimeline& timeline)
        : writer_(std::move(writer)), time_(timeline) {}

    CaptureWriter writer_;
    TimelineCursor time_;
};

}  // namespace sluice
