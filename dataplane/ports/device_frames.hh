// The frames that a software device takes, by its device string and the packet buffers: the facts known
// before it is started. A start refuses by this, and `--check` likewise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/ports/device.hh"

namespace sluice {

struct FramesRefused {
    enum class Key : std::uint8_t { mtu, device, packet_buffer } key;  // which is wrong
    std::string wrong;                                                 // follows the device in a sentence
    std::string remedy;
};

// `device`: the text that `text` was made of. `data_bytes`: of a packet buffer.
std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t mtu, std::uint32_t data_bytes);

}  // namespace sluice
