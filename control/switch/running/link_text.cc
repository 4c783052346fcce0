#include "control/switch/running/link_text.hh"

#include <fmt/format.h>

#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device_port.hh"

namespace sluice {
namespace {

// `program`: the one in the place of an XDP port's.
std::string why_down(LinkCause cause, const std::string& interface, const std::string& program) {
    switch (cause) {
        case LinkCause::none:
        case LinkCause::command:
            break;
        case LinkCause::interface_down:
            return fmt::format("its interface {0} is set down; do: ip link set {0} up", interface);
        case LinkCause::no_carrier:
            return fmt::format("its interface {} has no carrier: the peer's end or the cable is down",
                               interface);
        case LinkCause::interface_gone:
            return fmt::format("its interface {} is gone", interface);
        case LinkCause::device_gone:
            return "its card is gone";
        case LinkCause::no_link:
            return "its device has no link: the peer's end or the cable is down";
        case LinkCause::program_removed:
            return fmt::format("its interface {} has no XDP program any more, and takes none", interface);
        case LinkCause::program_replaced:
            return fmt::format(
                "its interface {0} has the XDP program {1} of somebody else; do: ip link set dev {0} xdp off",
                interface, program);
    }
    return "by command";
}

std::string why_up(LinkCause before, const std::string& interface) {
    switch (before) {
        case LinkCause::none:
        case LinkCause::command:
            break;
        case LinkCause::interface_down:
            return fmt::format("its interface {} is up again", interface);
        case LinkCause::no_carrier:
            return fmt::format("its interface {} has a carrier again", interface);
        case LinkCause::interface_gone:
            return fmt::format("its interface {} is back", interface);
        case LinkCause::device_gone:
            return "its card is back";
        case LinkCause::no_link:
            return "its device has a link again";
        case LinkCause::program_removed:
        case LinkCause::program_replaced:
            return fmt::format("its XDP program is at interface {} again", interface);
    }
    return "by command";
}

}  // namespace

std::string link_text(const std::string& port, const DevicePort* device, const LinkNotice& notice) {
    std::string interface;  // by its present name
    if (device != nullptr && device->interface()) interface = device->interface()->name();
    if (device != nullptr && interface.empty()) interface = device->interface_name();
    const Steering* steering = device != nullptr ? device->steering() : nullptr;
    const std::string program = steering != nullptr ? steering->other() : "";
    const std::string why =
        notice.is_up() ? why_up(notice.before, interface) : why_down(notice.cause, interface, program);
    const bool by_command = (notice.is_up() ? notice.before : notice.cause) == LinkCause::command;
    const char* state = notice.is_up() ? "up" : notice.before == LinkCause::none ? "down" : "still down";
    return fmt::format("port {} {}{}{}", port, state, by_command ? " " : ": ", why);
}

}  // namespace sluice
