#include "dataplane/ports/device_frames.hh"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace sluice {
namespace {

// net_null fills one mbuf with as many bytes as it is told, whether they fit or not.
std::uint64_t null_frame_bytes(const std::string& device) {
    constexpr std::string_view key = ",size=";
    std::uint64_t most = 0;
    for (std::size_t at = device.find(key); at != std::string::npos; at = device.find(key, at + 1))
        most = std::max<std::uint64_t>(most, std::strtoull(device.c_str() + at + key.size(), nullptr, 0));
    return most;
}

}  // namespace

std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t data_bytes) {
    if (text.has("net_null") && null_frame_bytes(device) > data_bytes)
        return FramesRefused{
            "makes frames larger than a packet buffer",
            "set size to at most " + std::to_string(data_bytes) + ", or buffer.packet_buffer to more"};
    return std::nullopt;
}

}  // namespace sluice
