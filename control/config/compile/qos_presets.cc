#include "control/config/compile/qos_presets.hh"

#include "control/config/compile/qos.hh"

namespace sluice {

Preset preset_of(const std::string& name) {
    // TC 6 CNP and TC 7 network control strict; DWRR 50/50 between RoCE (3) and the rest.
    constexpr std::array<std::uint8_t, classes> usual{50, 50, 50, 50, 50, 50, 0, 0};
    if (name == "semi-lossless") return {0x08, 0x08, PfcMode::semi_lossless, usual, false, "linear"};
    if (name == "lossy") return {0, 0x08, PfcMode::off, usual, false, "linear"};
    // SONiC's T0: 15 for the lossless classes, 14 for the others, 7 strict.
    if (name == "sonic-t0")
        return {0x18, 0x18, PfcMode::symmetric, {14, 14, 14, 15, 15, 14, 14, 0}, true, "sonic"};
    return {0x08, 0x08, PfcMode::symmetric, usual, false, "linear"};
}

namespace {

MapConfig sonic_map() {
    MapConfig map;
    map.dscp_to_tc.fill(1);
    map.dscp_to_tc[3] = 3;
    map.dscp_to_tc[4] = 4;
    map.dscp_to_tc[5] = 2;
    map.dscp_to_tc[8] = 0;
    map.dscp_to_tc[46] = 5;
    map.dscp_to_tc[48] = 6;
    map.tc_to_priority_group = {0, 0, 0, 3, 4, 0, 0, 7};
    map.cnp_tc.reset();
    return map;
}

}  // namespace

MapConfig map_of(const Config& config, const PortConfig& port) {
    const auto found = config.maps.find(port.map);
    const MapConfig map = found != config.maps.end() ? found->second : MapConfig{};
    // The preset brings its own map unless the file has one.
    if (port.qos == "sonic-t0" && port.map == "default" && map == MapConfig{}) return sonic_map();
    return map;
}

}  // namespace sluice
