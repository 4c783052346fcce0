// A pause is repeated at half its time, and must not end before the repetition takes effect at the sender.
// That takes the loop of the headroom (lib/pfc/headroom.hh).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

struct PauseFault {
    Severity severity;
    std::string message, fix;
};

// `surely`: the bytes between two pauses in some traffic; the rest of the loop is a bound, for the cable
// delays both alike and a turn is seldom so long. `key`: that of the quanta.
std::optional<PauseFault> pause_fault(const Config& config, const Headroom& loop, std::uint64_t surely,
                                      std::uint16_t quanta, std::string_view key) {
    const Duration byte = loop.inputs.rate.byte_time();
    const auto time = [&](std::uint64_t bytes) {
        return print_time(byte * static_cast<std::int64_t>(bytes) / 1000 * 1000);
    };
    const std::uint64_t half = half_pause_bytes(quanta);
    if (half > loop.wire_bytes) return std::nullopt;
    constexpr std::uint64_t longest = half_pause_bytes(UINT16_MAX);
    std::string fix = "use a shorter cable";
    if (loop.wire_bytes < longest) {
        fix = fmt::format("write {} = {}", key, quanta_to_hold(loop.wire_bytes));
    } else if (loop.wire_bytes - loop.own_turn_bytes < longest) {
        const bool real = config.clock == ClockKind::real_time;
        const Duration left =
            byte * static_cast<std::int64_t>(longest - 1 - (loop.wire_bytes - loop.own_turn_bytes));
        const Duration turn = real ? left - (loop.inputs.own_turn_max - config.turn_max) : left / 2;
        if (turn.ps >= 1000)
            fix = fmt::format("write {} = 65535 and {} = \"{}ns\"", key, real ? "turn_max" : "virtual.turn",
                              turn.ps / 1000);
    }
    const std::string terms = fmt::format(
        "a frame that it waits for {}, the reaction with both interfaces {}, turns {}, the cable there and "
        "back {}",
        time(loop.own_frame_bytes), time(loop.obeying_bytes()),
        time(loop.own_turn_bytes + loop.peer_turn_bytes + loop.hand_over_bytes), time(loop.cable_bytes));
    if (half < surely) {
        return PauseFault{
            Severity::error,
            fmt::format("half of a pause of {} quanta, {}, is not above the {} by which its refresh may "
                        "come late, so a sender that obeys starts again: {}",
                        quanta, time(half), time(surely), terms),
            std::move(fix)};
    }
    return PauseFault{
        Severity::warning,
        fmt::format("half of a pause of {} quanta, {}, is not above {}, a bound of what its refresh may "
                    "take: {}",
                    quanta, time(half), time(loop.wire_bytes), terms),
        std::move(fix)};
}

}  // namespace

void check_pause_time(const Config& config, const std::string& name, const EffectivePort& port,
                      Findings& findings) {
    if (port.masks.may_send == 0) return;
    const Headroom& loop = port.headroom;
    if (auto fault =
            pause_fault(config, loop, loop.unheld_bytes, config.ports.at(name).pfc_quanta, "pfc_quanta"))
        findings.add(fault->severity, "pause-time", port_path(name, "pfc_quanta"), std::move(fault->message),
                     std::move(fault->fix));
}

// A host with a slow drain pauses us. The excess depends on its drain, so the whole loop is a bound.
void check_host_pauses(const Config& config, const EffectiveQos& qos, Findings& findings) {
    for (const auto& [name, host] : config.hosts) {
        const auto port = qos.ports.find(host.port);
        if (!host.drain || port == qos.ports.end() || port->second.masks.honors == 0) continue;
        const Headroom& loop = port->second.headroom;
        if (auto fault = pause_fault(config, loop, 0, host.pause_quanta, "pause_quanta"))
            findings.add(fault->severity, "host-pause-time", host_path(name, "pause_quanta"),
                         std::move(fault->message), std::move(fault->fix));
    }
}

}  // namespace sluice::lint
