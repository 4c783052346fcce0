#include "control/switch/mirror/mirror_output.hh"

#include <fmt/format.h>

#include "lib/record/pcapng.hh"

namespace sluice {

void MirrorStream::write(const MirroredFrame& frame) {
    block_.clear();
    const MirrorHead& head = frame.head;
    pcapng::add_packet(block_, {head.shown_at(), frame.stamp_ns, head.frame_bytes, frame.bytes,
                                head.is_inbound() ? pcapng::Direction::inbound : pcapng::Direction::outbound,
                                frame.comment});
    if (batch_.size() + block_.size() > batch_bytes_) flush();
    batch_ += block_;
    ++in_batch_;
}

void MirrorStream::flush() {
    if (in_batch_ == 0) return;
    (write(batch_) ? written_ : lost_) += in_batch_;
    batch_.clear();
    in_batch_ = 0;
}

std::string MirrorStream::cannot_be_written(std::string_view why, std::string_view remedy) const {
    return fmt::format("{}: cannot be written: {}; do: {}", path_, why, remedy);
}

}  // namespace sluice
