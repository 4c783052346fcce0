#include "control/mirror/mirror_output.hh"

namespace sluice {

void MirrorOutput::put(std::string_view block) {
    if (batch_.size() + block.size() > batch_bytes_) flush();
    batch_ += block;
    ++in_batch_;
}

void MirrorOutput::flush() {
    if (in_batch_ == 0) return;
    (write(batch_) ? written_ : lost_) += in_batch_;
    batch_.clear();
    in_batch_ = 0;
}

}  // namespace sluice
