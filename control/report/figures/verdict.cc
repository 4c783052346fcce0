#include "control/report/figures/verdict.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/report/figures/report_rows.hh"
#include "control/switch/running/running_switch.hh"
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
        verdict.reasons.push_back(fmt::format("{} that came in on {} {} dropped: {}",
                                              print_count(count, "lossless packet"), running.port_names()[id],
                                              print_was(count), to_string(reason)));
    }
}

struct VerdictSource {
    const RunVerdict& verdict;
    bool is_interrupted;
};

FIGURE_ROWS(verdict_rows, VerdictSource, "verdict") = {
#include "control/report/figures/rows/verdict.def"
};

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
            verdict.reasons.push_back(fmt::format("{} {} sent to the peer of {} against its pause (watchdog)",
                                                  print_count(sent, "packet"), print_was(sent),
                                                  running.port_names()[id]));
    }
    for (const std::string& promise : running.broken_promises()) verdict.reasons.push_back(promise);
    for (PortId id = 0; id < ports; ++id) {
        const PortAccount account = device.view(id).io().account();
        const auto lost = [&](std::uint64_t frames, std::string_view how) {
            if (frames != 0)
                verdict.reasons.push_back(
                    fmt::format("{} of unknown class {} {}", print_count(frames, "frame"), print_was(frames),
                                fmt::format(fmt::runtime(how), running.port_names()[id])));
        };
        lost(account.missed, "missed by the receive ring of {}");
        lost(account.rx_errors, "received with errors by {}");
        verdict.rx_errors += account.rx_errors;
        verdict.missed_packets += account.all_missed();
        lost(account.beyond_mtu_in, "longer than {} takes");
    }
    return verdict;
}

std::string RunVerdict::headline() const {
    const std::optional<bool> is_lossless = lossless();
    if (!is_lossless) return "lossless: nothing was lossless: no packet came in a lossless class";
    const std::string lost = counts_each_switch
                                 ? print_count(lost_packets, "lossless packet") + " lost"
                                 : fmt::format("{} of {} lost", grouped_text(lost_packets),
                                               print_count(lossless_packets, "lossless packet"));
    if (*is_lossless) return "lossless: yes, " + lost;
    std::string what = lost_packets != 0 ? lost : std::string();
    if (missed_packets != 0)
        append_item(what, ", ",
                    fmt::format("{} lost before {} classified", print_count(missed_packets, "frame"),
                                missed_packets == 1 ? "it was" : "they were"));
    return "NOT lossless: " + (what.empty() ? reasons.front() : what);
}

nlohmann::ordered_json verdict_json(const RunVerdict& verdict, bool is_interrupted) {
    return json_of(verdict_rows, {verdict, is_interrupted});
}

}  // namespace sluice
