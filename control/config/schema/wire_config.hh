// Wires, as the file has them: [wire.NAME] and its rules [wire.NAME.impair.NAME].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/natural_order.hh"
#include "control/config/schema/source_place.hh"
#include "lib/peer/faults.hh"
#include "lib/values/units.hh"

namespace sluice {

// Forward: of frames that come in by the wire's first port.
enum class WireDirections : std::uint8_t { both, forward, backward };

struct ImpairMatchConfig : FaultMatch, FrameChoice {
    WireDirections direction = WireDirections::both;
    bool operator==(const ImpairMatchConfig&) const = default;
};

struct ImpairConfig {
    ImpairMatchConfig match;
    FaultAction action = FaultAction::drop;
    std::optional<Duration> time;            // of delay; of reorder: at most
    std::optional<std::uint32_t> frames;     // of reorder; absent: 1
    std::optional<std::uint32_t> sender_qp;  // of cnp; absent: learned
    std::optional<std::uint8_t> cnp_dscp;    // absent: 48
    SourcePlace place;
    bool operator==(const ImpairConfig&) const = default;
};

struct WireConfig {
    std::vector<std::string> ports;  // two, unless lint has found otherwise
    bool passes_pfc = false;
    std::map<std::string, ImpairConfig, NaturalOrder> impair;  // in this order a frame meets them
    SourcePlace place;
    bool operator==(const WireConfig&) const = default;
};

struct Config;

constexpr std::size_t max_wires = 128;

// The port at the other end of the wire; empty: the port is on none.
std::string wire_peer(const Config& config, const std::string& port);
inline bool is_on_wire(const Config& config, const std::string& port) {
    return !wire_peer(config, port).empty();
}
// "wire.w.impair.r.time", quoted as the file would have it.
std::string wire_path(const std::string& wire, std::string_view key);
std::string impair_path(const std::string& wire, const std::string& rule, std::string_view key);

}  // namespace sluice
