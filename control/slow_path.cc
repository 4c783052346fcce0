#include "control/slow_path.hh"

#include <algorithm>

#include "control/running_switch.hh"
#include "dataplane/fib.hh"
#include "lib/responder.hh"

namespace sluice {
namespace {

// Whether packets to this address leave by other ports than this one, and by any at all: then hosts here may
// send them to us.
bool is_behind_another(const Policy& policy, PortId here, const IpAddress& address) {
    const std::uint32_t number = address.is_v6
                                     ? policy.fib->lookup(address.bytes.data())
                                     : policy.fib->lookup(load_be<std::uint32_t>(address.bytes.data()));
    const Group& group = policy.groups[number];
    if (group.drop != DropReason::none) return false;
    const auto members = policy.buckets.subspan(group.first_bucket, std::size_t{1} << group.log2_buckets);
    return std::none_of(members.begin(), members.end(),
                        [&](std::uint32_t hop) { return policy.next_hops[hop].port == here; });
}

std::vector<IpAddress> addresses_of(const Config& config) {
    std::vector<IpAddress> all;
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& own : port.address) all.push_back(own.address);
    std::sort(all.begin(), all.end());
    return all;
}

// False when there is no room: whoever waits for the frame asks again.
bool inject(Switch& device, PortContext& port, std::span<const std::uint8_t> frame, bool made) {
    auto* slot = port.control->injected.claim();
    if (slot == nullptr || frame.size() > slot->data.size()) return false;
    slot->head = {made};
    slot->bytes = static_cast<std::uint32_t>(frame.size());
    std::copy(frame.begin(), frame.end(), slot->data.begin());
    port.control->injected.post();
    device.owner(port).injections->post({&port.id, 1});
    return true;
}

}  // namespace

bool SlowPath::serve(RunningSwitch& running) {
    Switch& device = running.device();
    const Policy& policy = device.policy();
    bool any = false;
    for (PortId id = 0; id < device.port_count(); ++id) {
        PortContext& port = device.port(id);
        FrameMailbox<PuntHead>& punted = port.control->punted;
        if (punted.empty()) continue;
        if (local_.empty()) local_ = addresses_of(running.config());
        const PortConfig& config = running.config().ports.at(running.port_names()[id]);
        ResponderPort answering{running.macs()[id], config.promiscuous, config.address, local_, {}};
        if (config.proxy_arp)
            answering.proxied = [&policy, id](const IpAddress& address) {
                return is_behind_another(policy, id, address);
            };
        for (const auto* slot = punted.front(); slot != nullptr; slot = punted.front()) {
            const auto reply = respond(slot->frame(), answering, slot->head.exceeded_mtu);
            punted.pop();
            if (!reply.empty()) any |= inject(device, port, reply, true);
        }
    }
    local_.clear();
    return any;
}

}  // namespace sluice
