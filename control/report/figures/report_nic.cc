#include "control/report/figures/report_nic.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/report/figures/report_rows.hh"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

struct CapabilitiesSource {
    const PortCapabilities& can;
    bool has_segmented;
};

FIGURE_ROWS(capability_rows, CapabilitiesSource, "ports.{port}.capabilities") = {
#include "control/report/figures/rows/capabilities.def"
};

// By priority, null where the driver counts none; absent where it counts it of no priority.
Json by_priority_json(const PhysicalCounters& counters, Physical kind) {
    const auto& values = counters.value[static_cast<std::size_t>(kind)];
    if (std::none_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); }))
        return absent();
    Json list = Json::array();
    for (const auto& value : values) list.push_back(or_null(value));
    return list;
}

FIGURE_ROWS(physical_rows, PhysicalCounters, "ports.{port}.physical") = {
#include "control/report/figures/rows/physical.def"
};

}  // namespace

Json capabilities_json(const PortCapabilities& can, bool has_segmented) {
    return json_of(capability_rows, {can, has_segmented});
}

Json physical_json(const PhysicalCounters& counters) { return json_of(physical_rows, counters); }

std::string capabilities_text(const PortCapabilities& can) {
    return fmt::format(
        "driver {}, PFC {}: {}; MTU up to {}; receives by {}; rings of {} and {} descriptors{}; filter {}",
        can.driver, to_string(can.pfc.tx), can.pfc.why, can.max_mtu, can.receive_spread, can.receive_ring,
        can.transmit_ring, can.paced ? ", paced" : "", can.filter);
}

}  // namespace sluice
