// What a port lost, by reason: frames that it missed, before they were classed, then packets that were
// dropped.
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

// Of a port of the report; without those of nothing.
std::vector<Loss> missed_of(const nlohmann::ordered_json& port);
std::vector<Loss> losses_of(const nlohmann::ordered_json& port);

}  // namespace sluice
