#include "control/switch/running/loss_watch.hh"

#include <fmt/format.h>

#include <string>

#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/ports/device_port.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

constexpr Duration ring_period = seconds(1);
constexpr Duration virtual_ring_period = microseconds(10);

}  // namespace

bool LossWatch::is_due() const { return running_.now() >= next_; }

// A cause of lost frames.
struct LossWatch::FrameLoss {
    std::string_view kind, words;  // {0}: how many, {1}: the port's interface, {2}: its MTU
    std::uint64_t count;
};

void LossWatch::note_losses(bool at_end) {
    next_ = running_.now() + (running_.is_virtual() ? virtual_ring_period : ring_period);
    const Switch& device = running_.device();
    for (PortId id = 0; id < device.port_count(); ++id) {
        const PortAccount account = device.view(id).io().account();
        for (const FrameLoss& loss :
             {FrameLoss{
                  "ring_overrun",
                  "its receive ring had no room, or no packet buffer, for {0}; whatever class they were "
                  "of, they are lost; imissed counts them",
                  account.missed - account.uncut},
              FrameLoss{"rx_errors",
                        "its device received {0} with errors, and handed none of them over; whatever class "
                        "they were of, they are lost; rx_errors counts them; do: see what it counts: "
                        "sluicectl port show {3}; check the cable, the module and the MTU at both ends",
                        account.rx_errors},
              FrameLoss{"uncut_frames",
                        "{0} were several in one, which a host's kernel left for its card to cut; they are "
                        "lost; uncut_packets counts them; do, at the host's end of {1}: ethtool -K INTERFACE "
                        "tso off gso off",
                        account.uncut},
              FrameLoss{
                  "frames_refused",
                  "its interface {1} had no room for {0}; they are lost; refused_packets counts them; a "
                  "veth's room is net.core.netdev_max_backlog",
                  account.refused},
              FrameLoss{"beyond_mtu",
                        "{0} were longer than the MTU of its interface lets out; they are lost; "
                        "beyond_mtu_packets counts them; do: ip link set {1} mtu {2}",
                        account.beyond_mtu - account.beyond_mtu_in},
              FrameLoss{
                  "beyond_mtu",
                  "{0} that came in were longer than it takes with its MTU of {2}; they are lost; "
                  "beyond_mtu_in_packets counts them; do: set the port's mtu to that of the hosts behind "
                  "{1} (at most 9216; above 3818 it takes Linux 6.6), or theirs to {2}",
                  account.beyond_mtu_in}})
            if (loss.count != 0) note_loss(id, loss, at_end);
    }
}

void LossWatch::note_loss(PortId id, const FrameLoss& loss, bool at_end) {
    if (!losses_[{id, loss.words}].is_to_tell(loss.count, running_.now(), at_end)) return;
    const std::string& name = running_.port_names()[id];
    const DevicePort* device = running_.surroundings().device_port(id);
    const std::string interface = device != nullptr ? device->interface_name() : name;
    const std::string frames = fmt::format("{} frames {}", loss.count, at_end ? "in all" : "by now");
    running_.events().note(std::string(loss.kind),
                           fmt::format("port {}: {}", name,
                                       fmt::format(fmt::runtime(loss.words), frames, interface,
                                                   running_.config().ports.at(name).mtu, name)));
}

}  // namespace sluice
