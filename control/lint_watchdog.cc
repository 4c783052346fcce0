// The PFC watchdog: what it takes for a storm must be longer than any honest pause.
#include <fmt/format.h>

#include "control/lint_findings.hh"
#include "control/values.hh"

namespace sluice::lint {
namespace {

constexpr Duration min_detection = milliseconds(100), max_detection = seconds(5);
constexpr Duration min_restoration = milliseconds(100), max_restoration = seconds(60);

bool has_pfc(const PortConfig& port) {
    const bool off = port.pfc_mode ? *port.pfc_mode == PfcMode::off : port.qos == "lossy";
    return !off && !(port.pfc && port.pfc->empty());
}

// An XOFF of ours, and of a peer that asks for as much, ends long before.
void check_pause_time(const std::string& name, const PortConfig& port, const WatchdogConfig& watchdog,
                      Findings& findings) {
    const Duration pause = port.speed.byte_time() * (std::int64_t{port.pfc_quanta} * quantum_bytes);
    if (pause < watchdog.detection) return;
    findings.error("watchdog-pause-time", port_path(name, "pfc_quanta"),
                   fmt::format("one XOFF of {} quanta pauses for {}, which is not below the watchdog's "
                               "detection time of {}",
                               port.pfc_quanta, print_time(pause), print_time(watchdog.detection)),
                   "write a longer watchdog.detection, or fewer quanta", port.place);
}

// A peer may hold us for as long as it takes to drain its buffer through one port. Its buffer is not known:
// as large as ours, and its ports as fast as the one between us.
void check_honest_pause(const Config& config, Findings& findings) {
    Rate slowest{};
    for (const auto& [name, port] : config.ports)
        if (has_pfc(port) && (slowest == Rate{} || port.speed < slowest)) slowest = port.speed;
    if (slowest == Rate{} || !slowest.valid_port_speed()) return;
    constexpr std::uint64_t absurd_bytes = 1ULL << 40;
    const auto bytes = static_cast<std::int64_t>(std::min(config.buffer_size_bytes, absurd_bytes));
    const Duration honest = slowest.byte_time() * bytes;
    if (honest < config.watchdog.detection) return;
    findings.warn("watchdog-honest-pause", "watchdog.detection",
                  fmt::format("{} is not above {}, in which a peer with a buffer of {}, as ours, drains it "
                              "through one port at {}: an honest pause would be taken for a storm",
                              print_time(config.watchdog.detection), print_time(honest),
                              print_size(config.buffer_size_bytes), print_rate(slowest)),
                  honest < max_detection
                      ? fmt::format("write detection = \"{}ms\"", honest.ps / 1'000'000'000 + 1)
                      : "write a smaller buffer, or action = \"alert\"");
}

void check_ranges(const WatchdogConfig& watchdog, Findings& findings) {
    if (watchdog.detection < min_detection || watchdog.detection > max_detection)
        findings.error("watchdog-detection", "watchdog.detection",
                       fmt::format("{} is not from {} to {}", print_time(watchdog.detection),
                                   print_time(min_detection), print_time(max_detection)),
                       "write detection = \"200ms\"");
    if (const auto time = watchdog.restoration; time && (*time < min_restoration || *time > max_restoration))
        findings.error("watchdog-restoration", "watchdog.restoration",
                       fmt::format("{} is not from {} to {}", print_time(*time), print_time(min_restoration),
                                   print_time(max_restoration)),
                       "write restoration = \"400ms\"");
}

}  // namespace

void check_watchdog(const Config& config, Findings& findings) {
    const WatchdogConfig& watchdog = config.watchdog;
    check_ranges(watchdog, findings);
    if (watchdog.poll && config.clock == ClockKind::virtual_time)
        findings.note("watchdog-poll", "watchdog.poll", "the virtual clock is exact: no effect",
                      "leave poll out");
    else if (watchdog.poll && *watchdog.poll > watchdog.detection)
        findings.warn("watchdog-poll", "watchdog.poll",
                      fmt::format("a storm of {} is found up to {} late", print_time(watchdog.detection),
                                  print_time(*watchdog.poll)),
                      fmt::format("write poll = \"{}\"", print_time(watchdog.detection / 4)));
    if (watchdog.action == WatchdogAction::off) return;
    for (const auto& [name, port] : config.ports)
        if (has_pfc(port) && port.speed.valid_port_speed()) check_pause_time(name, port, watchdog, findings);
    check_honest_pause(config, findings);
}

}  // namespace sluice::lint
