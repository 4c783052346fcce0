// Messages of the kernel as tests write them: routes, neighbors and addresses from text.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/switch/kernel/kernel_tables.hh"

namespace sluice::kernel_messages {

inline IpAddress address(std::string_view text) { return *parse_address(text); }
inline IpPrefix prefix(std::string_view text) { return *parse_network(text); }
inline MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 1, last}}; }

inline KernelLeg via(int index, std::string_view gateway, std::uint32_t weight = 1) {
    return {index, address(gateway), weight};
}

inline KernelRoute route(std::string_view to, std::vector<KernelLeg> legs, std::uint32_t metric = 0) {
    KernelRoute made;
    made.prefix = prefix(to);
    made.metric = metric;
    made.legs = std::move(legs);
    return made;
}
inline KernelRoute replacing(KernelRoute made) {
    made.replaces = true;
    return made;
}
inline KernelRoute listed(KernelRoute made) {
    made.listed = true;
    return made;
}
inline KernelRoute gone(KernelRoute made) {
    made.there = false;
    return made;
}

inline KernelRoute of_kind(KernelRoute::Kind kind, std::string_view to, int index = 1) {
    KernelRoute made = route(to, {});
    made.kind = kind;
    if (kind == KernelRoute::Kind::local) made.legs = {{index, std::nullopt, 1}};
    return made;
}

inline KernelNeighbor neighbor(int index, std::string_view at, std::optional<std::uint8_t> last_of_mac) {
    KernelNeighbor made;
    made.index = index;
    made.address = address(at);
    if (last_of_mac) made.mac = mac(*last_of_mac);
    return made;
}

}  // namespace sluice::kernel_messages
