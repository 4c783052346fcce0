#include "control/serve/daemon/service.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "control/config/schema/values.hh"
#include "control/serve/server/notify.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/path/turn_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

constexpr std::chrono::seconds status_period{1};
constexpr std::size_t max_named = 4;  // ports

// By the clock that the manager compares with.
std::uint64_t monotonic_us() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

std::optional<std::uint64_t> number_of(const char* variable) {
    const char* text = std::getenv(variable);
    const auto number = text == nullptr ? parse_integer("") : parse_integer(text);
    return number ? std::optional(*number) : std::nullopt;
}

}  // namespace

std::optional<std::chrono::microseconds> watchdog_interval() {
    // Three times in its limit, so that one round that comes late is not a death.
    constexpr std::uint64_t beats = 3;
    constexpr std::uint64_t max_us = 86'400'000'000;
    const auto limit_us = number_of("WATCHDOG_USEC");
    if (!limit_us || *limit_us < beats || *limit_us > max_us) return std::nullopt;
    const bool is_ours = std::getenv("WATCHDOG_PID") == nullptr ||
                         number_of("WATCHDOG_PID") == static_cast<std::uint64_t>(getpid());
    if (!is_ours) return std::nullopt;
    return std::chrono::microseconds(*limit_us / beats);
}

void Service::ready(Clock::time_point now) {
    is_ready_ = true;
    told_ = status();
    notify_service_manager("READY=1\nSTATUS=" + told_);
    if (const auto interval = watchdog_interval()) heartbeat_.emplace(*interval, now, turns());
}

void Service::reloading() {
    notify_service_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us()));
}

void Service::reloaded(bool good) {
    refused_ = !good;
    told_ = status();
    notify_service_manager("READY=1\nSTATUS=" + told_);
}

void Service::stopping() {
    is_ready_ = false;
    notify_service_manager("STOPPING=1\nSTATUS=what is queued leaves");
}

void Service::tick(Clock::time_point now) {
    if (!is_ready_) return;
    if (now >= next_status_) {
        next_status_ = now + status_period;
        tell_status();
    }
    if (!heartbeat_) return;
    if (heartbeat_->beats(now, turns())) notify_service_manager("WATCHDOG=1");
    const auto stuck = heartbeat_->stuck();
    if (stuck && !told_stuck_)
        running_.events().note(
            "worker_stuck",
            fmt::format("worker {} has made no turn for {} s; if it does not go on, the service "
                        "manager ends the switch",
                        *stuck, heartbeat_->silent(now).count()));
    if (!stuck && told_stuck_) running_.events().note("worker_back", "every worker makes turns again");
    told_stuck_ = stuck.has_value();
}

std::vector<std::uint64_t> Service::turns() const {
    std::vector<std::uint64_t> all;
    if (running_.is_virtual()) return all;  // its workers run on this thread
    const Switch& device = running_.device();
    for (unsigned w = 0; w < device.worker_count(); ++w)
        all.push_back(device.turns(static_cast<WorkerId>(w)).turns.get());
    return all;
}

std::string Service::status() const {
    const auto& names = running_.port_names();
    std::string down;
    std::size_t count = 0;
    for (PortId id = 0; id < names.size(); ++id) {
        if (running_.watch().links().cause(id) == LinkCause::none) continue;
        if (++count <= max_named) append_item(down, ", ", names[id]);
    }
    if (count > max_named) down += ", ...";
    std::string text = fmt::format("{} of {} up", names.size() - count, print_count(names.size(), "port"));
    if (count != 0) text += fmt::format(" (down: {})", down);
    if (const auto reasons = running_.broken_promises(); !reasons.empty())
        text += fmt::format("; not lossless: {}", reasons.front());
    if (refused_) text += "; the last reload was refused: the journal says why";
    std::ranges::replace(text, '\n', ' ');  // which would begin another state
    return text;
}

void Service::tell_status() {
    std::string now = status();
    if (now == told_) return;
    told_ = std::move(now);
    notify_service_manager("STATUS=" + told_);
}

}  // namespace sluice
