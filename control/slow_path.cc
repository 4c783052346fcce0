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

// The slot that was claimed goes to the worker, as a frame of so many bytes.
void post(Switch& device, PortContext& port, FrameMailbox<InjectHead>::Slot& slot, std::size_t bytes,
          bool made) {
    slot.head = {made};
    slot.bytes = static_cast<std::uint32_t>(bytes);
    port.control->injected.post();
    device.owner(port).injections->post({&port.id, 1});
}

}  // namespace

std::string SlowPath::open_tap(PortId id, const std::string& port, const MacAddress& mac, unsigned mtu) {
    auto tap = Tap::open(std::string(tap_name(port)), mac, mtu);
    if (!tap) return "port " + port + ": " + tap.error();
    taps_.resize(std::max<std::size_t>(taps_.size(), id + 1U));
    refused_.resize(taps_.size());
    taps_[id] = std::move(*tap);
    return {};
}

bool SlowPath::serve(RunningSwitch& running) {
    bool any = false;
    for (PortId id = 0; id < running.device().port_count(); ++id) {
        if (tap(id) != nullptr)
            any |= exchange(running, id);
        else if (!running.device().port(id).control->punted.empty())
            any |= answer(running, id);
    }
    local_.clear();
    return any;
}

bool SlowPath::answer(RunningSwitch& running, PortId id) {
    Switch& device = running.device();
    PortContext& port = device.port(id);
    FrameMailbox<PuntHead>& punted = port.control->punted;
    if (local_.empty()) local_ = addresses_of(running.config());
    const Policy& policy = device.policy();
    const PortConfig& config = running.config().ports.at(running.port_names()[id]);
    ResponderPort answering{running.macs()[id], config.promiscuous, config.address, local_, {}};
    if (config.proxy_arp)
        answering.proxied = [&policy, id](const IpAddress& address) {
            return is_behind_another(policy, id, address);
        };
    bool any = false;
    for (const auto* in = punted.front(); in != nullptr; in = punted.front()) {
        const auto reply = respond(in->frame(), answering, in->head.exceeded_mtu);
        punted.pop();
        // Without room there is no reply: whoever waits for it asks again.
        auto* out = port.control->injected.claim();
        if (reply.empty() || out == nullptr || reply.size() > out->data.size()) continue;
        std::copy(reply.begin(), reply.end(), out->data.begin());
        post(device, port, *out, reply.size(), true);
        any = true;
    }
    return any;
}

bool SlowPath::exchange(RunningSwitch& running, PortId id) {
    Switch& device = running.device();
    PortContext& port = device.port(id);
    Tap& tap = *taps_[id];
    tap.set_carrier(device.link_up(id));
    FrameMailbox<PuntHead>& punted = port.control->punted;
    for (const auto* in = punted.front(); in != nullptr; in = punted.front()) {
        if (!tap.write(in->frame())) ++refused_[id];
        punted.pop();
    }
    // What finds no slot waits in the TAP's own queue.
    bool any = false;
    while (auto* out = port.control->injected.claim()) {
        const std::size_t bytes = tap.read(out->data);
        if (bytes == 0) break;
        post(device, port, *out, bytes, false);
        any = true;
    }
    return any;
}

}  // namespace sluice
