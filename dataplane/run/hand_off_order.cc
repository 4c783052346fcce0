#include "dataplane/run/hand_off_order.hh"

#include "dataplane/path/worker_context.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

// The first packet that `from` has for `to`; null when there is none.
Packet* head(Switch& device, WorkerId from, WorkerId to) {
    if (from == to) {
        const LocalInbox& local = device.worker(from).local;
        return local.taken < local.count ? local.packets[local.taken] : nullptr;
    }
    auto& mailbox = device.shared().mailbox(from, to);
    return mailbox.empty() ? nullptr : mailbox.front();
}

void take(Switch& device, WorkerId from, WorkerId to) {
    if (from == to)
        ++device.worker(from).local.taken;
    else
        device.shared().mailbox(from, to).pop();
}

bool before(const PacketMeta& a, const PacketMeta& b) {
    return a.ingress_port != b.ingress_port ? a.ingress_port < b.ingress_port : a.sequence < b.sequence;
}

}  // namespace

// Each mailbox is in order, so the least of their heads comes next.
void take_handed_off(Switch& device, std::vector<Packet*>& packets) {
    const auto workers = static_cast<WorkerId>(device.worker_count());
    while (true) {
        Packet* least = nullptr;
        WorkerId least_from = 0;
        WorkerId least_to = 0;
        for (WorkerId from = 0; from < workers; ++from) {
            for (WorkerId to = 0; to < workers; ++to) {
                Packet* packet = head(device, from, to);
                if (packet == nullptr || (least != nullptr && !before(meta(packet), meta(least)))) continue;
                least = packet;
                least_from = from;
                least_to = to;
            }
        }
        if (least == nullptr) break;
        take(device, least_from, least_to);
        packets.push_back(least);
    }
    for (WorkerId w = 0; w < workers; ++w) device.worker(w).local.count = device.worker(w).local.taken = 0;
}

}  // namespace sluice
