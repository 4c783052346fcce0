#include "control/port_watch.hh"

#include <fmt/format.h>

#include <utility>

#include "control/lint_nic.hh"

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

}  // namespace

PortWatch::PortWatch(std::vector<EthdevPort*> ports, std::vector<std::string> names) {
    for (std::size_t id = 0; id < ports.size(); ++id)
        ports_.push_back({.port = ports[id], .name = std::move(names[id])});
}

std::vector<PortNews> PortWatch::look(const Config& config, const Switch& device, Time now) {
    std::vector<PortNews> news;
    for (PortId id = 0; id < ports_.size(); ++id) {
        Watched& watched = ports_[id];
        watched.port->poll_link();
        if (watched.port->capabilities().is_virtual) continue;
        look_for_device(watched, device.link_up(id), now, news);
        look_at_speed(watched, config, news);
        look_at_counters(watched, device.port(id), now, news);
    }
    return news;
}

void PortWatch::look_for_device(Watched& watched, bool owner_sees_link, Time now,
                                std::vector<PortNews>& news) const {
    EthdevPort& port = *watched.port;
    if (watched.place == Place::there && port.is_removed()) {
        watched.place = Place::going;
        news.push_back(
            {"device_gone",
             fmt::format("port {}: its card is gone; it is taken again when it is back", watched.name)});
    } else if (watched.place == Place::going && !owner_sees_link) {
        // Its owner asks nothing of the device any more. Not at the first look: an owner that saw the link
        // come up a moment before is then in its last turn with it.
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
        news.push_back({"device_back", fmt::format("port {}: its card is back", watched.name)});
    } else if (error != watched.last_error) {
        news.push_back({"device_refused", fmt::format("port {}: {}", watched.name, error)});
        watched.last_error = std::move(error);
    }
}

void PortWatch::look_at_speed(Watched& watched, const Config& config, std::vector<PortNews>& news) const {
    const std::uint32_t mbps = watched.port->link_mbps();
    if (mbps == 0) return;
    std::string wrong = speed_mismatch(config.ports.at(watched.name).speed, mbps);
    if (!wrong.empty() && wrong != watched.last_mismatch)
        news.push_back({"link_speed", fmt::format("port {}: {}", watched.name, wrong)});
    watched.last_mismatch = std::move(wrong);
}

void PortWatch::look_at_counters(Watched& watched, const PortContext& context, Time now,
                                 std::vector<PortNews>& news) {
    if (watched.place != Place::there || now < watched.next_counters) return;
    watched.next_counters = now + counter_period;
    const bool with_module = now >= watched.next_module;
    if (with_module) watched.next_module = now + module_period;
    const auto counted = counted_by_mac(watched.port->read_physical(with_module));
    if (!counted || watched.swallows) return;
    if (!watched.first_pfc) watched.first_pfc = counted;
    // What the MAC counted a moment ago may still be in the ring: it has to have been there a second ago.
    if (*counted > *watched.first_pfc && !has_reached_us(context.honor)) {
        if (watched.seen_pfc) {
            watched.swallows = true;
            broken_.push_back(
                fmt::format("not obeyed: the MAC of {} counts PFC frames and hands none over", watched.name));
            news.push_back({"pfc_swallowed",
                            fmt::format("port {}: its MAC has counted {} PFC frames and handed none over",
                                        watched.name, *counted - *watched.first_pfc)});
        }
        watched.seen_pfc = true;
    }
}

}  // namespace sluice
