// The frames of a software device that its packet buffers do not take, by its device string: a fact known
// before it is started. A start refuses by this, and `--check` likewise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/ports/device.hh"

namespace sluice {

struct FramesRefused {
    std::string wrong;  // follows the device in a sentence
    std::string remedy;
};

// `device`: the text that `text` was made of. `data_bytes`: of a packet buffer.
std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t data_bytes);

}  // namespace sluice
