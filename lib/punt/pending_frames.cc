#include "lib/punt/pending_frames.hh"

namespace sluice {

bool PendingFrames::keep(PendingFrame frame, Time now) {
    if (frame.bytes.empty() || frames_.size() >= limits_.all) return false;
    std::size_t& count = counts_[frame.hop];
    if (count >= limits_.each) return false;
    ++count;
    frame.until = now + limits_.patience;
    frames_.push_back(std::move(frame));
    return true;
}

std::size_t PendingFrames::of_port(PortId port) const {
    return static_cast<std::size_t>(std::count_if(
        frames_.begin(), frames_.end(), [port](const PendingFrame& frame) { return frame.port == port; }));
}

void PendingFrames::forget(const PendingFrame::Hop& hop) {
    const auto count = counts_.find(hop);
    if (--count->second == 0) counts_.erase(count);
}

}  // namespace sluice
