// The losses of a port by reason: frames that it missed before they were classed, then dropped packets.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice {

struct Loss {
    std::string reason;
    std::uint64_t packets = 0;
};

// The losses of a port of the report that are not 0.
std::vector<Loss> missed_of(const nlohmann::ordered_json& port);
std::vector<Loss> losses_of(const nlohmann::ordered_json& port);

}  // namespace sluice
