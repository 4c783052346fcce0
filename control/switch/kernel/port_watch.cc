#include "control/switch/kernel/port_watch.hh"

#include <fmt/format.h>

#include <utility>

#include "control/config/lint/lint_nic.hh"
#include "dataplane/run/switch.hh"
#include "lib/frame/headers.hh"
#include "lib/pfc/pfc_honor.hh"

namespace sluice {
namespace {

// PFC frames that the MAC counted; nothing where it does not.
std::optional<std::uint64_t> counted_by_mac(const PhysicalCounters& physical) {
    std::optional<std::uint64_t> sum;
    for (unsigned n = 0; n < classes; ++n)
        if (const auto count = physical.get(Physical::rx_pfc, static_cast<ClassId>(n)))
            sum = sum.value_or(0) + *count;
    return sum;
}

bool has_reached_us(const PfcHonor& honor) {
    for (unsigned n = 0; n < classes; ++n) {
        const auto& counters = honor.counters(static_cast<ClassId>(n));
        if ((counters.rx_xoff.get() | counters.rx_xon.get() | counters.rx_unexpected.get()) != 0) return true;
    }
    return false;
}

std::string back_text(const DevicePort& port, const PortConfig& config) {
    std::string text = fmt::format("its interface {} is back", port.interface_name());
    if (const unsigned mtu = port.interface() ? port.interface()->mtu() : 0; mtu < config.mtu)
        text += fmt::format(
            "; its MTU is {}, the port's {}: the port loses longer frames, and counts them; do: ip "
            "link set {} mtu {}",
            mtu, config.mtu, port.interface_name(), config.mtu);
    return text;
}

}  // namespace

PortWatch::PortWatch(std::vector<DevicePort*> ports, std::vector<std::string> names) {
    for (std::size_t id = 0; id < ports.size(); ++id)
        ports_.push_back({.port = ports[id], .name = std::move(names[id])});
}

std::vector<PortNotice> PortWatch::find_changes(const Config& config, const Switch& device, Time now) {
    std::vector<PortNotice> notice;
    for (PortId id = 0; id < ports_.size(); ++id) {
        Watched& watched = ports_[id];
        look_at_program(watched, now, notice);
        watched.port->poll_link();
        look_for_device(watched, config.ports.at(watched.name), device.link_up(id), now, notice);
        if (watched.port->capabilities().is_virtual) continue;
        look_at_speed(watched, config, notice);
        look_at_counters(watched, device.view(id).honor(), now, notice);
        look_for_segments(watched, config.ports.at(watched.name), notice);
    }
    return notice;
}

void PortWatch::look_for_device(Watched& watched, const PortConfig& config, bool owner_sees_link, Time now,
                                std::vector<PortNotice>& notice) {
    DevicePort& port = *watched.port;
    const bool card = port.interface_name().empty();
    const auto tell = [&](std::string_view what, std::string text) {
        notice.push_back({fmt::format("{}_{}", card ? "device" : "interface", what),
                          fmt::format("port {}: {}", watched.name, text), !card});
    };
    if (watched.place == Place::there && port.is_removed()) {
        watched.place = Place::going;
        tell("gone",
             card
                 ? "its card is gone; it is taken again when it is back"
                 : fmt::format("its interface {0} has gone; it is taken again as soon as {0} is there and up",
                               port.interface_name()));
    } else if (watched.place == Place::going && !owner_sees_link) {
        // Once the link is down the owner no longer touches the device. Not at the first look: the owner may
        // still be in a turn in which it saw the link up.
        port.release();
        watched.place = Place::gone;
        watched.next_try = now + return_period;
        watched.last_error.clear();
    }
    if (watched.place != Place::gone || now < watched.next_try) return;
    watched.next_try = now + return_period;
    if (!port.has_returned()) return;
    std::string error = port.reopen();
    if (error.empty()) {
        watched.place = Place::there;
        watched.first_pfc.reset();
        watched.program = SteerPlace::here;
        tell("back", card ? "its card is back" : back_text(port, config));
        return;
    }
    if (!card) watched.next_try = now + refused_period;
    if (error == watched.last_error) return;
    tell("refused", error);
    watched.last_error = std::move(error);
}

// Attaches a removed program again; another program in its place stays.
void PortWatch::look_at_program(Watched& watched, Time now, std::vector<PortNotice>& notice) {
    Steering* steering = watched.port->steering();
    if (steering == nullptr || watched.place != Place::there || now < watched.next_program) return;
    watched.next_program = now + program_period;
    const std::string& interface = watched.port->interface_name();
    const auto tell = [&](const char* kind, std::string_view text) {
        notice.push_back({kind, fmt::format("port {}: {}", watched.name, text)});
    };
    const SteerPlace before = std::exchange(watched.program, steering->check_place());
    if (watched.program == SteerPlace::here && before == SteerPlace::here) return;
    if (watched.program == SteerPlace::replaced && before != SteerPlace::replaced)
        tell("program_lost",
             fmt::format(
                 "somebody has replaced its XDP program at interface {} by {}, which is left alone: the port "
                 "is down until that one is off; do: ip link set dev {} xdp off",
                 interface, steering->other(), interface));
    std::string error;
    if (watched.program == SteerPlace::removed) {
        error = steering->attach();
        watched.program = steering->place();
        if (before == SteerPlace::here)
            tell("program_lost",
                 fmt::format("somebody has removed its XDP program from interface {}{}{}", interface,
                             error.empty() ? "" : "; it cannot be attached again: ", error));
    }
    if (watched.program == SteerPlace::here)
        tell("program_restored", fmt::format("its XDP program is at interface {} again", interface));
    if (!std::exchange(watched.lost_program, true))
        broken_.push_back(
            fmt::format("not received: {} has been without its XDP program, and the kernel had its frames",
                        watched.name));
}

void PortWatch::look_at_speed(Watched& watched, const Config& config, std::vector<PortNotice>& notice) const {
    const std::uint32_t mbps = watched.port->link_mbps();
    if (mbps == 0) return;
    std::string wrong = speed_mismatch(config.ports.at(watched.name).speed, mbps);
    if (!wrong.empty() && wrong != watched.last_mismatch)
        notice.push_back({"link_speed", fmt::format("port {}: {}", watched.name, wrong)});
    watched.last_mismatch = std::move(wrong);
}

void PortWatch::look_for_segments(Watched& watched, const PortConfig& config,
                                  std::vector<PortNotice>& notice) {
    const std::uint16_t whole = watched.port->capabilities().whole_mtu;
    if (whole == 0 || watched.told_segments || watched.port->has_segmented()) return;
    const std::uint64_t errors = watched.port->account().rx_errors;
    if (errors == 0) return;
    watched.told_segments = true;
    constexpr std::uint64_t step = 1024;  // in which cards fill a packet buffer
    notice.push_back(
        {"scattered_receive",
         fmt::format("port {}: its driver promises to receive frames of several packet buffers, and none has "
                     "come, while {} frames were received with errors: it may lose all above an MTU of {}; "
                     "do: set mtu to at most {}, or buffer.packet_buffer to {}",
                     watched.name, errors, whole, whole,
                     (config.mtu + link_header_bytes + step - 1) / step * step)});
}

void PortWatch::look_at_counters(Watched& watched, const PfcHonor& honor, Time now,
                                 std::vector<PortNotice>& notice) {
    if (watched.place != Place::there || now < watched.next_counters) return;
    watched.next_counters = now + counter_period;
    const bool with_module = now >= watched.next_module;
    if (with_module) watched.next_module = now + module_period;
    const auto counted = counted_by_mac(watched.port->read_physical(with_module));
    if (!counted || watched.swallows) return;
    if (!watched.first_pfc) watched.first_pfc = counted;
    // A frame that the MAC has just counted may still be in the ring, so a count must be a second old.
    if (*counted > *watched.first_pfc && !has_reached_us(honor)) {
        if (watched.seen_pfc) {
            watched.swallows = true;
            broken_.push_back(
                fmt::format("not obeyed: the MAC of {} counts PFC frames and hands none over", watched.name));
            notice.push_back({"pfc_swallowed",
                              fmt::format("port {}: its MAC has counted {} PFC frames and handed none over",
                                          watched.name, *counted - *watched.first_pfc)});
        }
        watched.seen_pfc = true;
    }
}

std::vector<PortNotice> TapWatch::find_changes(SlowPath& slow_path, const ServedSwitch& of) {
    std::vector<PortNotice> notice;
    const std::vector<std::string>& names = of.port_names;
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
        if (of.now < watched.next_make) continue;
        watched.next_make = of.now + make_period;
        std::string error = slow_path.open_tap(id, names[id], of.macs[id], of.config.ports.at(names[id]).mtu);
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
