#include "control/switch/kernel/tap_watch.hh"

#include <fmt/format.h>

#include <utility>

namespace sluice {

std::vector<PortNotice> TapWatch::find_changes(SlowPath& slow_path, const Config& config,
                                               const std::vector<std::string>& names,
                                               const std::vector<MacAddress>& macs, Time now) {
    std::vector<PortNotice> notice;
    taps_.resize(names.size());
    for (PortId id = 0; id < names.size(); ++id) {
        const Tap* tap = slow_path.tap(id);
        Watched& watched = taps_[id];
        if (tap == nullptr || (!watched.is_gone && tap->is_there())) continue;
        const std::string_view called = tap_name(names[id]);
        const auto tell = [&](const char* kind, std::string text, bool another) {
            notice.push_back({kind, "port " + names[id] + ": " + std::move(text), another});
        };
        if (!watched.is_gone) {
            watched.is_gone = true;
            watched.last_error.clear();
            tell("interface_gone", fmt::format("its TAP {} has gone; it is made anew", called), false);
        }
        if (now < watched.next_make) continue;
        watched.next_make = now + make_period;
        std::string error = slow_path.open_tap(id, names[id], macs[id], config.ports.at(names[id]).mtu);
        if (error.empty()) {
            watched.is_gone = false;
            tell("interface_back", fmt::format("its TAP {} is back", called), true);
        } else if (error != watched.last_error) {
            notice.push_back({"interface_refused", error, false});
            watched.last_error = std::move(error);
        }
    }
    return notice;
}

}  // namespace sluice
