#include "dataplane/path/port_trace.hh"

#include "lib/values/ids.hh"

namespace sluice {

PortTrace::PortTrace(unsigned slots, Duration width) {
    constexpr unsigned share_slots = 1024;
    for (auto* list : {&queue, &group, &limit, &headroom})
        for (unsigned n = 0; n < classes; ++n) list->emplace_back(slots, width);
    for (Pauses* pauses : {&sent, &obeyed}) {
        pauses->changes.reserve(slots);
        for (unsigned n = 0; n < classes; ++n) pauses->share.emplace_back(share_slots, width);
    }
}

void PortTrace::changed(Pauses& pauses, Time now, std::uint8_t priorities) {
    for (unsigned n = 0; n < classes; ++n) pauses.share[n].change(now, (priorities >> n & 1U) != 0);
    auto& changes = pauses.changes;
    if ((changes.empty() ? std::uint8_t{0} : changes.back().priorities) == priorities) return;
    if (changes.size() == changes.capacity())
        pauses.cut = true;
    else
        changes.push_back({now, priorities});
}

}  // namespace sluice
