#include "control/report/verdict.hh"

#include <fmt/format.h>

#include "dataplane/path/port_watchdog.hh"
#include "dataplane/ports/port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

std::uint64_t lossless_packets(const RunningSwitch& running, PortId id) {
    const Switch& device = running.device();
    std::uint64_t sum = 0;
    for (unsigned n = 0; n < classes; ++n) {
        const bool lossless = device.policy().ports[id].group[n].lossless;
        sum +=
            device.view(id).received([&](const auto& queue) { return queue.lossless_packets(n, lossless); });
    }
    return sum;
}

void judge_drops(const RunningSwitch& running, PortId id, RunVerdict& verdict) {
    for (std::size_t i = 1; i < drop_reason_count; ++i) {
        const auto reason = static_cast<DropReason>(i);
        const std::uint64_t count = running.device().dropped_lossless(id, reason);
        if (count == 0) continue;
        verdict.lost_packets += count;
        verdict.reasons.push_back(fmt::format("{} lossless packets that came in on {} were dropped: {}",
                                              count, running.port_names()[id], to_string(reason)));
    }
}

}  // namespace

RunVerdict judge_run(const RunningSwitch& running) {
    RunVerdict verdict;
    const Switch& device = running.device();
    const auto ports = static_cast<PortId>(device.port_count());
    for (PortId id = 0; id < ports; ++id) {
        verdict.lossless_packets += lossless_packets(running, id);
        judge_drops(running, id, verdict);
    }
    for (PortId id = 0; id < ports; ++id) {
        std::uint64_t sent = 0;
        for (const WatchdogCounters& counters : device.view(id).watchdog().counters)
            sent += counters.against_pause.get();
        if (sent != 0)
            verdict.reasons.push_back(
                fmt::format("{} packets were sent to the peer of {} against its pause (watchdog)", sent,
                            running.port_names()[id]));
    }
    for (const std::string& promise : running.broken_promises()) verdict.reasons.push_back(promise);
    for (PortId id = 0; id < ports; ++id) {
        const PortAccount account = device.view(id).io().account();
        const auto lost = [&](std::uint64_t frames, std::string_view how) {
            if (frames != 0)
                verdict.reasons.push_back(fmt::format("{} frames of unknown class were {} {}", frames, how,
                                                      running.port_names()[id]));
        };
        lost(account.missed, "missed by the receive ring of");
        lost(account.rx_errors, "received with errors by");
        verdict.rx_errors += account.rx_errors;
        if (account.beyond_mtu_in != 0)
            verdict.reasons.push_back(fmt::format("{} frames of unknown class were longer than {} takes",
                                                  account.beyond_mtu_in, running.port_names()[id]));
    }
    return verdict;
}

nlohmann::ordered_json verdict_json(const RunningSwitch& running, const RunVerdict& verdict) {
    nlohmann::ordered_json json;
    const auto lossless = verdict.lossless();
    json["lossless"] = lossless ? nlohmann::ordered_json(*lossless) : nlohmann::ordered_json(nullptr);
    json["lossless_packets"] = verdict.lossless_packets;
    json["lost_packets"] = verdict.lost_packets;
    json["reasons"] = verdict.reasons;
    json["interrupted"] = running.is_interrupted();
    return json;
}

}  // namespace sluice
