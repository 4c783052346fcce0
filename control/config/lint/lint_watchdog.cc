// The PFC watchdog: its detection time must be longer than any honest pause.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/config/compile/port_headroom.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

bool has_pfc(const PortConfig& port) {
    const bool off = port.pfc_mode ? *port.pfc_mode == PfcMode::off : port.qos == "lossy";
    return !off && !(port.pfc && port.pfc->empty());
}

// The longest pause of one XOFF, at the slowest speed, is not a storm.
static_assert(gigabits(1).byte_time() * (std::int64_t{0xFFFF} * quantum_bytes) <
              WatchdogConfig::min_detection);

// A peer may pause us while it drains its buffer through one port, and for the loop of its pause. Its buffer
// is assumed to be as large as ours, and its ports as fast as the one between us.
void check_honest_pause(const Config& config, std::string path, const PortConfig& port, Duration detection,
                        Findings& findings) {
    const Rate speed = port.speed;
    const std::uint64_t bytes = config.buffer_size_bytes + port_headroom(config, port).wire_bytes;
    const Duration honest =
        speed.byte_time() * static_cast<std::int64_t>(bytes) / 1'000'000 * 1'000'000;  // whole us
    if (honest < detection) return;
    findings.warn(
        "watchdog-honest-pause", std::move(path),
        fmt::format("{} is not above {}, in which a peer with a buffer of {}, as ours, drains it "
                    "through one port at {} and tells us: an honest pause would be taken for a storm",
                    print_time(detection), print_time(honest), print_size(config.buffer_size_bytes),
                    print_rate(speed)),
        honest < WatchdogConfig::max_detection
            ? fmt::format("write detection = \"{}ms\"", honest.ps / 1'000'000'000 + 1)
            : "write a smaller buffer, or action = \"alert\"");
}

}  // namespace

void check_watchdog(const Config& config, Findings& findings) {
    const WatchdogConfig& watchdog = config.watchdog;
    const PortConfig* slowest = nullptr;  // of the ports that have the switch's detection time
    Duration shortest = watchdog.detection;
    for (const auto& [name, port] : config.ports) {
        const WatchdogConfig own = watchdog_of(watchdog, port);
        if (!has_pfc(port) || own.action == WatchdogAction::off) continue;
        shortest = std::min(shortest, own.detection);
        if (port.watchdog.detection)
            check_honest_pause(config, port_path(name, "watchdog.detection"), port, own.detection, findings);
        else if (slowest == nullptr || port.speed < slowest->speed)
            slowest = &port;
    }
    if (slowest != nullptr)
        check_honest_pause(config, "watchdog.detection", *slowest, watchdog.detection, findings);
    if (watchdog.poll && config.clock == ClockKind::virtual_time)
        findings.note("watchdog-poll", "watchdog.poll", "the virtual clock is exact: no effect",
                      "leave poll out");
    else if (watchdog.poll && *watchdog.poll > shortest)
        findings.warn("watchdog-poll", "watchdog.poll",
                      fmt::format("a storm of {} is found up to {} late", print_time(shortest),
                                  print_time(*watchdog.poll)),
                      fmt::format("write poll = \"{}\"", print_time(shortest / 4)));
}

}  // namespace sluice::lint
