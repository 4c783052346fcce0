#include "control/report/figures/report_nic.hh"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

using Json = nlohmann::ordered_json;

Json capabilities_json(const PortCapabilities& can) {
    return {{"driver", can.driver},
            {"pfc_tx", to_string(can.pfc.tx)},
            {"pfc_why", can.pfc.why},
            {"max_mtu", can.max_mtu},
            {"scattered_receive", can.scattered_receive},
            {"multi_segment_transmit", can.multi_segment_transmit},
            {"receive_queues", can.receive_queues},
            {"transmit_queues", can.transmit_queues},
            {"receive_spread", can.receive_spread},
            {"receive_ring", can.receive_ring},
            {"transmit_ring", can.transmit_ring},
            {"paced", can.paced},
            {"tells_ring_fill", can.tells_ring_fill},
            {"removal_interrupt", can.removal_interrupt},
            {"filter", can.filter},
            {"module", can.module}};
}

Json physical_json(const PhysicalCounters& counters) {
    Json json = Json::object();
    for (std::size_t n = 0; n < physical_kinds; ++n) {
        const auto kind = static_cast<Physical>(n);
        const auto& values = counters.value[n];
        const std::string key(to_string(kind));
        if (!is_by_priority(kind)) {
            if (values[0]) json[key] = *values[0];
            continue;
        }
        if (std::none_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); }))
            continue;
        for (const auto& value : values) json[key].push_back(value ? Json(*value) : Json());
    }
    if (counters.module_temperature) json["module_temperature_mc"] = *counters.module_temperature;
    return json;
}

std::string capabilities_text(const PortCapabilities& can) {
    return fmt::format(
        "driver {}, PFC {}: {}; MTU up to {}; receives by {}; rings of {} and {} descriptors{}; filter {}",
        can.driver, to_string(can.pfc.tx), can.pfc.why, can.max_mtu, can.receive_spread, can.receive_ring,
        can.transmit_ring, can.paced ? ", paced" : "", can.filter);
}

}  // namespace sluice
