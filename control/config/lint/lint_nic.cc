#include "control/config/lint/lint_nic.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/findings.hh"
#include "control/config/schema/values.hh"
#include "dataplane/ports/ring_size.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

using lint::Findings;
using lint::port_path;

std::string list_text(std::uint8_t priorities) {
    std::string text;
    for_each_class(priorities, [&](ClassId n) { append_item(text, ", ", std::to_string(n)); });
    return text;
}

void check_pfc(const std::string& name, const EffectivePort& effective, const PortCapabilities& can,
               Findings& findings) {
    const auto wanted = static_cast<std::uint8_t>(effective.masks.may_send | effective.masks.honors);
    if (wanted == 0 || can.pfc.tx == PfcTx::software) return;
    findings.error("nic-pfc", port_path(name, "qos"),
                   fmt::format("PFC of priority {} needs pfc_tx software, and it is {} here: {}",
                               list_text(wanted), to_string(can.pfc.tx), can.pfc.why),
                   "write qos = \"lossy\", or take another card");
}

// A card that consumes PFC frames hands none to a wire that passes PFC.
void check_wire(const std::string& name, const Config& config, const PortCapabilities& can,
                Findings& findings) {
    if (can.pfc.tx == PfcTx::software) return;
    for (const auto& [wire_name, wire] : config.wires)
        if (wire.passes_pfc && std::find(wire.ports.begin(), wire.ports.end(), name) != wire.ports.end())
            findings.error("wire-nic", wire_path(wire_name, "pfc"),
                           fmt::format("PFC is to pass port {}, and its card's is {}: {}", name,
                                       to_string(can.pfc.tx), can.pfc.why),
                           "write pfc = \"end\", or take another card");
}

void check_receive_ring(const std::string& name, const PortConfig& port, const Config& config,
                        const PortCapabilities& can, Findings& findings) {
    const std::uint64_t bytes = bytes_in_time(port.speed, config.turn_max);
    const std::uint64_t ring = std::uint64_t{can.receive_ring} * packet_buffer_bytes(config);
    if (ring >= bytes) return;
    const Duration turn = port.speed.byte_time() * static_cast<std::int64_t>(ring) / 1000 * 1000;
    findings.warn(
        "nic-receive-ring", port_path(name, "device"),
        fmt::format("{} bytes arrive in a turn of {}, and the card's receive ring of {} descriptors "
                    "takes {}",
                    bytes, print_time(config.turn_max), can.receive_ring, ring),
        fmt::format("write turn_max = \"{}\"", print_time(turn)));
}

}  // namespace

std::string speed_mismatch(Rate configured, std::uint32_t link_mbps) {
    const Rate link{std::uint64_t{link_mbps} * 1'000'000};
    if (link_mbps == 0 || link == configured) return {};
    const auto text = [](Rate rate) {
        return fmt::format("{:g} Gb/s", static_cast<double>(rate.bits_per_second) / 1e9);
    };
    return fmt::format(
        "the link is of {}, and {} are configured: pauses last another time than reckoned with", text(link),
        text(configured));
}

std::vector<Finding> lint_nics(const Config& config, const EffectiveQos& qos,
                               const std::function<NicState(const std::string& port)>& state_of) {
    Findings findings(config);
    for (const auto& [name, port] : config.ports) {
        const NicState state = state_of(name);
        if (state.can == nullptr || state.can->is_virtual) continue;
        check_pfc(name, qos.ports.at(name), *state.can, findings);
        check_wire(name, config, *state.can, findings);
        check_receive_ring(name, port, config, *state.can, findings);
        if (std::string wrong = speed_mismatch(port.speed, state.link_mbps); !wrong.empty())
            findings.warn(
                "nic-link-speed", port_path(name, "speed"), std::move(wrong),
                fmt::format("write speed = \"{:g}G\" under [{}]", state.link_mbps / 1000.0, port_path(name)));
    }
    return findings.take();
}

}  // namespace sluice
