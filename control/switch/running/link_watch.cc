#include "control/switch/running/link_watch.hh"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device_port.hh"

namespace sluice {
namespace {

// By cause. {0}: the port's interface; {1}: the program in the place of an XDP port's.
struct CauseWords {
    std::string_view name, down, up_again;
};
constexpr std::array<CauseWords, 9> cause_words{{
    {"none", "by command", "by command"},
    {"command", "by command", "by command"},
    {"interface_down", "its interface {0} is set down; do: ip link set {0} up",
     "its interface {0} is up again"},
    {"no_carrier", "its interface {0} has no carrier: the peer's end or the cable is down",
     "its interface {0} has a carrier again"},
    {"interface_gone", "its interface {0} is gone", "its interface {0} is back"},
    {"device_gone", "its card is gone", "its card is back"},
    {"no_link", "its device has no link: the peer's end or the cable is down", "its device has a link again"},
    {"program_removed", "its interface {0} has no XDP program any more, and takes none",
     "its XDP program is at interface {0} again"},
    {"program_replaced",
     "its interface {0} has the XDP program {1} of somebody else; do: ip link set dev {0} xdp off",
     "its XDP program is at interface {0} again"},
}};

const CauseWords& words_of(LinkCause cause) { return cause_words[static_cast<std::size_t>(cause)]; }

}  // namespace

std::string_view to_string(LinkCause cause) { return words_of(cause).name; }

std::string link_text(const std::string& port, const DevicePort* device, const LinkNotice& notice) {
    std::string interface, program;
    if (device != nullptr) {
        if (device->interface()) interface = device->interface()->name();  // the present one
        if (interface.empty()) interface = device->interface_name();
        if (const Steering* steering = device->steering()) program = steering->other();
    }
    const LinkCause cause = notice.is_up() ? notice.before : notice.cause;
    const CauseWords& words = words_of(cause);
    const char* state = notice.is_up() ? "up" : notice.before == LinkCause::none ? "down" : "still down";
    return fmt::format(
        "port {} {}{}{}", port, state, cause == LinkCause::command ? " " : ": ",
        fmt::format(fmt::runtime(notice.is_up() ? words.up_again : words.down), interface, program));
}

std::optional<LinkNotice> LinkWatch::look(PortId port, LinkCause cause, Time now) {
    State& state = ports_[port];
    if (cause == state.cause) return std::nullopt;
    const LinkNotice notice{port, cause, std::exchange(state.cause, cause), now - state.since};
    if (notice.is_up() || notice.before == LinkCause::none) state.since = now;
    return notice;
}

}  // namespace sluice
