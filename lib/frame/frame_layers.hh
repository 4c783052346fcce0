// Where the network header of a frame begins, for code that `parse` leaves no answer to: frames that are not
// IP, or are for a group.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/frame/headers.hh"

namespace sluice {

inline bool is_vlan_tag(std::uint16_t type) {
    return type == ether_type::vlan || type == ether_type::qinq || type == ether_type::qinq_old;
}

struct FrameLayers {
    std::uint16_t type = 0;     // behind the tags
    std::size_t l3_offset = 0;  // at most the frame's length
};

// Nothing: shorter than its Ethernet header and tags, or more than two tags.
inline std::optional<FrameLayers> frame_layers(std::span<const std::uint8_t> frame) {
    FrameLayers layers;
    layers.l3_offset = sizeof(EthernetHeader);
    for (unsigned tags = 0; tags <= 2; ++tags) {
        if (frame.size() < layers.l3_offset) return std::nullopt;
        layers.type = load_be<std::uint16_t>(frame.data() + layers.l3_offset - 2);
        if (!is_vlan_tag(layers.type)) return layers;
        layers.l3_offset += sizeof(VlanTag);
    }
    return std::nullopt;
}

}  // namespace sluice
