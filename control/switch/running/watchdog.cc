#include "control/switch/running/watchdog.hh"

#include "dataplane/path/port_watchdog.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

// A running detection window shows as operational.
std::string_view watchdog_state_text(WatchdogState state) {
    constexpr std::array<std::string_view, 5> words{"off", "operational", "operational", "stormed", "cut"};
    return words.at(static_cast<std::size_t>(state));
}

std::vector<WatchdogNotice> WatchdogWatch::new_notices(const Switch& device) {
    std::vector<WatchdogNotice> notice;
    const std::uint64_t changes = device.watchdog_changes();
    if (std::exchange(changes_, changes) == changes) return notice;
    seen_.resize(device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id) {
        for (unsigned n = 0; n < classes; ++n) {
            const WatchdogCounters& counters = device.view(id).watchdog().counters[n];
            Seen& seen = seen_[id][n];
            const Seen now{counters.detected.get(), counters.restored.get()};
            const WatchdogNotice one{
                id,
                static_cast<ClassId>(n),
                false,
                std::string(to_string(static_cast<WatchdogAction>(counters.action.get()))),
                counters.storm_passed.get(),
                counters.storm_dropped.get()};
            // Between two looks one storm may end and another begin: the end is first, unless it is its own.
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

}  // namespace sluice
