#include "control/switch/kernel/slow_path.hh"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "dataplane/path/fib.hh"
#include "dataplane/run/switch.hh"
#include "lib/frame/headers.hh"
#include "lib/punt/responder.hh"

namespace sluice {
namespace {

// True when packets to this address leave by other ports than this one.
bool is_behind_another(const Policy& policy, PortId here, const IpAddress& address) {
    const NextHopGroup& group = policy.next_hop_groups[policy.fib->lookup(address)];
    if (group.drop != DropReason::none) return false;
    const auto members = policy.buckets.subspan(group.first_bucket, std::size_t{1} << group.log2_buckets);
    return std::none_of(members.begin(), members.end(),
                        [&](std::uint32_t hop) { return policy.next_hops[hop].port == here; });
}

// The destination of a packet that has been routed.
std::optional<IpAddress> destination_in(std::span<const std::uint8_t> frame) {
    const auto layers = frame_layers(frame);
    if (!layers) return std::nullopt;
    const bool v6 = layers->type == ether_type::ipv6;
    if (frame.size() < layers->l3_offset + (v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header)))
        return std::nullopt;
    return destination_of(v6, frame.data() + layers->l3_offset);
}

std::vector<IpAddress> addresses_of(const Config& config) {
    std::vector<IpAddress> all;
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& own : port.address) all.push_back(own.address);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

std::string SlowPath::open_tap(PortId id, const std::string& port, const MacAddress& mac, unsigned mtu) {
    auto tap = Tap::open(std::string(tap_name(port)), mac, mtu);
    if (!tap) return "port " + port + ": " + tap.error();
    taps_.resize(std::max<std::size_t>(taps_.size(), id + 1U));
    taps_[id] = std::move(*tap);
    return {};
}

bool SlowPath::serve(const ServedSwitch& of) {
    if (of.workers_stand_still) {
        // Workers stand still, so they have posted all that they counted.
        const std::uint64_t punts = of.device.punts();
        if (punts == served_ && !has_frames()) return false;
        served_ = punts;
    }
    accounts_.resize(of.device.port_count());
    bool any = false;
    for (PortId id = 0; id < of.device.port_count(); ++id) {
        if (tap(id) != nullptr)
            any |= exchange(of, id);
        else if (!of.device.view(id).control()->punted.empty())
            any |= answer(of, id);
    }
    local_.clear();
    any |= settle(of);
    return any;
}

bool SlowPath::give(Switch& device, PortId id, std::span<const std::uint8_t> frame, const InjectHead& head) {
    if (device.inject(id, frame, head)) return true;
    ++accounts_[id].lost;
    return false;
}

// Frames by the same next hops, or for the same host of a subnet, share a bound.
bool SlowPath::keep(const ServedSwitch& of, PortId id, const Punted& in) {
    const auto frame = in.frame();
    const auto destination = destination_in(frame);
    if (destination) {
        const std::uint32_t group = of.device.policy().fib->lookup(*destination);
        const PendingFrame::Hop hop{group, group == group_unresolved ? *destination : IpAddress{}};
        if (pending_.keep({hop, *destination, id, {frame.begin(), frame.end()}, {}}, of.now)) return false;
    }
    return give(of.device, id, frame, {InjectHead::Origin::returned, DropReason::unresolved_next_hop, 0});
}

// Sends frames whose neighbor is known by now.
bool SlowPath::settle(const ServedSwitch& of) {
    if (pending_.size() == 0) return false;
    Switch& device = of.device;
    const Policy& policy = device.policy();
    bool any = false;
    pending_.settle(
        of.now,
        [&](const PendingFrame& frame) {
            return policy.next_hop_groups[policy.fib->lookup(frame.destination)].drop !=
                   DropReason::unresolved_next_hop;
        },
        [&](const PendingFrame& frame, PendingFrames::Fate fate) {
            if (device.view(frame.port).control()->injected.claim() == nullptr) return false;
            any = true;
            return give(
                device, frame.port, frame.bytes,
                {InjectHead::Origin::returned,
                 fate == PendingFrames::Fate::resolved ? DropReason::none : DropReason::unresolved_timeout,
                 0});
        });
    return any;
}

bool SlowPath::answer(const ServedSwitch& of, PortId id) {
    Switch& device = of.device;
    FrameMailbox<PuntHead>& punted = device.view(id).control()->punted;
    if (local_.empty()) local_ = addresses_of(of.config);
    const Policy& policy = device.policy();
    const PortConfig& config = of.config.ports.at(of.port_names[id]);
    ResponderPort answering{of.macs[id], config.promiscuous, config.address, local_, {}};
    if (config.proxy_arp)
        answering.proxied = [&policy, id](const IpAddress& address) {
            return is_behind_another(policy, id, address);
        };
    bool any = false;
    for (const auto* in = punted.front(); in != nullptr; in = punted.front()) {
        if (in->head.punt == PuntClass::unresolved) {
            any |= keep(of, id, *in);
        } else if (config.responder) {
            // Without room the reply is lost, and the host asks again.
            const auto reply = respond(in->frame(), answering, in->head.exceeded_mtu);
            if (!reply.empty())
                any |= give(device, id, reply, {InjectHead::Origin::reply, DropReason::none, 0});
        }
        punted.pop();
    }
    return any;
}

bool SlowPath::exchange(const ServedSwitch& of, PortId id) {
    Switch& device = of.device;
    ControlPath& control = *device.view(id).control();
    Tap& tap = *taps_[id];
    tap.set_carrier(device.link_up(id));
    FrameMailbox<PuntHead>& punted = control.punted;
    bool any = false;
    for (const auto* in = punted.front(); in != nullptr; in = punted.front()) {
        if (in->head.punt == PuntClass::unresolved)
            any |= keep(of, id, *in);
        else if (!tap.write(in->frame()))
            ++accounts_[id].refused;
        punted.pop();
    }
    // A frame without a slot waits in the TAP's own queue.
    while (auto* out = control.injected.claim()) {
        const std::size_t bytes = tap.read(out->data);
        if (bytes == 0) break;
        out->head = {InjectHead::Origin::kernel, DropReason::none, 0};
        out->bytes = static_cast<std::uint32_t>(bytes);
        control.injected.post();
        device.announce_injected(id);
        any = true;
    }
    return any;
}

}  // namespace sluice
