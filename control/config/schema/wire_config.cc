#include "control/config/schema/wire_config.hh"

#include <fmt/format.h>

#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"

namespace sluice {

std::string wire_peer(const Config& config, const std::string& port) {
    for (const auto& [name, wire] : config.wires) {
        if (wire.ports.size() != 2) continue;
        if (wire.ports[0] == port) return wire.ports[1];
        if (wire.ports[1] == port) return wire.ports[0];
    }
    return {};
}

std::string wire_path(const std::string& wire, std::string_view key) {
    return fmt::format("wire.{}.{}", config_key(wire), key);
}

std::string impair_path(const std::string& wire, const std::string& rule, std::string_view key) {
    return wire_path(wire, fmt::format("impair.{}.{}", config_key(rule), key));
}

}  // namespace sluice
