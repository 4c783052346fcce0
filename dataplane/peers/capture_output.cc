#include "dataplane/peers/capture_output.hh"

#include <array>
#include <span>
#include <utility>

#include "dataplane/base/described.hh"

namespace sluice {

tl::expected<CaptureOutput, std::string> CaptureOutput::create(const std::string& path,
                                                               const CaptureTimeline& timeline) {
    auto writer = CaptureWriter::create(path);
    if (!writer) return tl::unexpected(writer.error());
    return CaptureOutput(std::move(*writer), timeline);
}

void CaptureOutput::write(Packet* packet, Time departure) {
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

}  // namespace sluice
