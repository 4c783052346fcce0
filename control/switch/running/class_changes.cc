#include "control/switch/running/class_changes.hh"

#include <utility>

#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

std::vector<ClassNotice> ClassChanges::look(const Switch& device, Time now) {
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

}  // namespace sluice
