#include "control/switch/running/deaf_peers.hh"

#include <fmt/format.h>

#include <utility>

#include "control/config/schema/values.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/pfc/pfc_generator.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

PausedClass::Seen seen_at(PortView port, ClassId n) {
    const PfcGenerator::Counters& sent = port.generator().counters(n);
    return {port.group(n).in_xoff(),
            sent.transitions.get(),
            sent.tx_refresh.get(),
            sent.tx_late.get(),
            {static_cast<std::int64_t>(sent.unheld_ps.get())},
            port.received([n](const auto& queue) { return queue.group_rx[n].bytes.get(); })};
}

}  // namespace

void PausedClass::look(const Seen& seen, std::uint64_t loop_bytes, Rate rate) {
    const Seen before = std::exchange(before_, seen);
    const bool one_pause =
        before.in_xoff && seen.in_xoff && seen.pauses == before.pauses && seen.refreshes != before.refreshes;
    if (!one_pause) {
        suspected_ = false;
        return;
    }
    const std::uint64_t came = seen.bytes - before.bytes;
    const auto free_bytes =
        static_cast<std::uint64_t>((seen.unheld - before.unheld).ps / rate.byte_time().ps);
    const bool too_much = came > loop_bytes * (1 + seen.late - before.late) + free_bytes;
    if (too_much && suspected_) deaf_ = true;
    if (came == 0) deaf_ = false;
    suspected_ = too_much;
}

void DeafPeers::judge_second(const Switch& device, const std::function<std::uint64_t(PortId)>& loop_bytes) {
    ports_.resize(device.port_count());
    for (PortId id = 0; id < device.port_count(); ++id) {
        const PortView port = device.view(id);
        OfPort& of = ports_[id];
        of.deaf = 0;
        for (ClassId n = 0; n < classes; ++n) {
            of.of_class[n].look(seen_at(port, n), loop_bytes(id), device.policy().ports[id].speed);
            if (of.of_class[n].is_deaf()) of.deaf = static_cast<std::uint8_t>(of.deaf | 1U << n);
        }
        of.ever |= of.deaf;
    }
}

std::string deaf_peer_text(const std::string& port, std::uint8_t deaf) {
    std::string list;
    for_each_class(deaf, [&](ClassId n) { append_item(list, ", ", std::to_string(n)); });
    const char* priorities = (deaf & (deaf - 1U)) == 0 ? "priority" : "priorities";
    return fmt::format(
        "the peer does not obey pauses of {0} {1}: frames kept coming for seconds while it was paused; do: "
        "switch PFC on for {0} {1} at the peer of {2}",
        priorities, list, port);
}

}  // namespace sluice
