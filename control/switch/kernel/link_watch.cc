#include "control/switch/kernel/link_watch.hh"

#include <array>
#include <utility>

namespace sluice {

std::string_view to_string(LinkCause cause) {
    constexpr std::array<std::string_view, 9> names{"none",       "command",         "interface_down",
                                                    "no_carrier", "interface_gone",  "device_gone",
                                                    "no_link",    "program_removed", "program_replaced"};
    return names[static_cast<std::size_t>(cause)];
}

std::optional<LinkNotice> LinkWatch::look(PortId port, LinkCause cause, Time now) {
    State& state = ports_[port];
    if (cause == state.cause) return std::nullopt;
    const LinkNotice notice{port, cause, std::exchange(state.cause, cause), now - state.since};
    if (notice.is_up() || notice.before == LinkCause::none) state.since = now;
    return notice;
}

}  // namespace sluice
