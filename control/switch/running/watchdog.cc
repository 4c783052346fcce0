#include "control/switch/running/watchdog.hh"

#include <nlohmann/json.hpp>

#include "dataplane/path/port_watchdog.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array action_words{"drop", "forward", "alert", "off"};

std::string action_text(const WatchdogCounters& counters) { return action_words.at(counters.action.get()); }

// A window that runs is nobody's business yet.
std::string state_text(const WatchdogCounters& counters) {
    constexpr std::array words{"off", "operational", "operational", "stormed", "cut"};
    return words.at(counters.state.get());
}

}  // namespace

std::vector<WatchdogNotice> WatchdogWatch::look(Switch& device) {
    std::vector<WatchdogNotice> notice;
    const std::uint64_t changes = device.watchdog_changes();
    if (std::exchange(changes_, changes) == changes) return notice;
    seen_.resize(device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id) {
        for (unsigned n = 0; n < classes; ++n) {
            const WatchdogCounters& counters = device.view(id).watchdog().counters[n];
            Seen& seen = seen_[id][n];
            const Seen now{counters.detected.get(), counters.restored.get()};
            const WatchdogNotice one{id,
                                     static_cast<ClassId>(n),
                                     false,
                                     action_text(counters),
                                     counters.storm_passed.get(),
                                     counters.storm_dropped.get()};
            // A storm that ends and one that begins between two looks: the end came first, unless it is its
            // own.
            const bool ended_first = seen.detected > seen.restored;
            if (now.restored != seen.restored && ended_first) notice.push_back(one);
            if (now.detected != seen.detected) {
                notice.push_back(one);
                notice.back().detected = true;
            }
            if (now.restored != seen.restored && !ended_first) notice.push_back(one);
            seen = now;
        }
    }
    return notice;
}

nlohmann::ordered_json watchdog_json(const Switch& device, const std::vector<std::string>& port_names) {
    Json list = Json::array();
    for (PortId id = 0; id < device.port_count(); ++id) {
        const WatchdogPolicy& policy = device.policy().ports[id].watchdog;
        for (unsigned n = 0; n < classes; ++n) {
            const WatchdogCounters& counters = device.view(id).watchdog().counters[n];
            if ((policy.candidates >> n & 1U) == 0) continue;
            list.push_back({{"port", port_names[id]},
                            {"queue", n},
                            {"state", state_text(counters)},
                            {"action", action_words.at(static_cast<std::size_t>(policy.settings.action))},
                            {"detection_ns", policy.settings.detection.ps / 1000},
                            {"restoration_ns", policy.settings.restoration.ps / 1000},
                            {"detected", counters.detected.get()},
                            {"restored", counters.restored.get()},
                            {"storm_passed", counters.storm_passed.get()},
                            {"storm_dropped", counters.storm_dropped.get()},
                            {"total_passed", counters.total_passed.get()},
                            {"total_dropped", counters.total_dropped.get()}});
        }
    }
    return list;
}

}  // namespace sluice
