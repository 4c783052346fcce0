#include "control/report/figures/port_warnings.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

// The setting that makes the port's RoCEv2 packets lossless.
std::string lossless_setting(const RunningSwitch& running, const std::string& name) {
    const EffectivePort& port = running.qos().ports.at(name);
    for (unsigned tc = 0; tc < classes; ++tc)
        if ((port.lossless >> port.map.tc_to_priority_group[tc] & 1U) != 0)
            return fmt::format("map.{}.roce_tc = {}", running.config().ports.at(name).map, tc);
    return fmt::format("port.{}.qos = \"lossless\"", name);
}

}  // namespace

std::vector<std::string> port_warnings(const RunningSwitch& running, PortId id) {
    std::vector<std::string> warnings;
    const std::string& name = running.port_names()[id];
    const PortView port = running.device().view(id);
    const auto lossy = port.received([](const auto& queue) { return queue.lossy_roce.get(); });
    if (lossy != 0)
        warnings.push_back(fmt::format("port {}: {} came in a class that is not lossless; do: set {}", name,
                                       print_count(lossy, "RoCEv2 packet"), lossless_setting(running, name)));
    const auto foreign = running.device().dropped(id, DropReason::not_for_us);
    if (const MacAddress wanted = port.foreign_mac(); foreign != 0 && wanted != MacAddress{})
        warnings.push_back(
            fmt::format("port {0}: {1} {4} not for the port's MAC {2}, the first was for {3}; do: "
                        "send to {2}, or "
                        "set port.{0}.mac, or port.{0}.promiscuous = true",
                        name, print_count(foreign, "frame"), print_mac(running.macs()[id]), print_mac(wanted),
                        print_was(foreign)));
    if (const std::uint8_t deaf = running.watch().deaf_peers().deaf(id); deaf != 0)
        warnings.push_back("port " + name + ": " + deaf_peer_text(name, deaf));
    return warnings;
}

}  // namespace sluice
