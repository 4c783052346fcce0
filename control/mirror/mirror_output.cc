#include "control/mirror/mirror_output.hh"

#include <fmt/format.h>

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

std::string MirrorOutput::cannot_be_written(std::string_view why, std::string_view remedy) const {
    return fmt::format("{}: cannot be written: {}; do: {}", path_, why, remedy);
}

}  // namespace sluice
