#include "dataplane/path/port_trace.hh"

namespace sluice {

PortTrace::PortTrace(unsigned slots, Duration width) {
    constexpr unsigned share_slots = 1024;
    queue.reserve(classes);
    group.reserve(classes);
    for (unsigned n = 0; n < classes; ++n) {
        queue.emplace_back(slots, width);
        group.emplace_back(slots, width);
    }
    for (Pauses* pauses : {&sent, &obeyed}) {
        pauses->max_changes = slots;
        pauses->share.reserve(classes);
        for (unsigned n = 0; n < classes; ++n) pauses->share.emplace_back(share_slots, width);
    }
}

PortTrace::~PortTrace() = default;

void PortTrace::reserve() {
    for (DepthTrace& depth : queue) depth.reserve();
    for (Group& depths : group) depths.reserve();
    for (Pauses* pauses : {&sent, &obeyed}) {
        pauses->changes.reserve(pauses->max_changes);
        for (ShareTrace& share : pauses->share) share.reserve();
    }
}

}  // namespace sluice
