#include "control/switch/running/class_changes.hh"

#include <fmt/format.h>

#include <utility>

#include "control/config/schema/values.hh"
#include "control/switch/running/limit_change.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

std::vector<ClassNotice> ClassChanges::new_notices(const Switch& device, Time now) {
    std::vector<ClassNotice> notice;
    waits_.resize(device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id)
        for (ClassId n = 0; n < classes; ++n) {
            const GroupLimits& limits = device.policy().ports[id].group[n];
            Wait& wait = waits_[id][n];
            if (limits.changing == wait.since.has_value()) continue;
            const std::uint64_t dropped = device.view(id).counters().group[n].dropped.get();
            if (limits.changing) {
                notice.push_back({id, n, true, false, {}, 0});
                wait = {now, dropped};
            } else {
                const Wait ended = std::exchange(wait, {});
                notice.push_back(
                    {id, n, false, limits.lossless, now - *ended.since, dropped - ended.dropped});
            }
        }
    return notice;
}

std::string class_text(const ClassNotice& notice, const std::vector<std::string>& port_names,
                       const LimitChange& change) {
    std::string text = fmt::format("port {} class {}: ", port_names[notice.port], notice.priority);
    if (!notice.begins)
        return text + fmt::format("{} after {}; it lost {} packets meanwhile",
                                  notice.lossless ? "lossless" : "lossy again", print_time(notice.lasted),
                                  notice.lost);
    text +=
        fmt::format("becomes lossless, and pauses its peer until {} cells have left", change.pending_cells());
    if (const auto queue = change.fullest_queue())
        text += fmt::format(", most of them from queue {}.{}", port_names[queue->port], queue->queue);
    return text;
}

}  // namespace sluice
