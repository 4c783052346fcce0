#include "control/kernel/link_watch.hh"

#include <array>
#include <utility>

namespace sluice {

std::string_view to_string(LinkCause cause) {
    constexpr std::array<std::string_view, 7> names{
        "none", "command", "interface_down", "no_carrier", "interface_gone", "device_gone", "no_link"};
    return names[static_cast<std::size_t>(cause)];
}

std::optional<LinkNews> LinkWatch::look(PortId port, LinkCause cause, Time now) {
    State& state = ports_[port];
    if (cause == state.cause) return std::nullopt;
    const LinkNews news{port, cause, std::exchange(state.cause, cause), now - state.since};
    if (news.is_up() || news.before == LinkCause::none) state.since = now;
    return news;
}

}  // namespace sluice
