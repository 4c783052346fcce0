#include "control/fabric/advise/like_switch.hh"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_ports_named = 8;

tl::unexpected<std::vector<std::string>> one_line(std::string text) {
    return tl::unexpected(std::vector{std::move(text)});
}

std::string some_of(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), max_ports_named);
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

// The keys that say how the port treats packets: a fabric makes the others, and faults are no switch's.
PortConfig treatment_of(PortConfig port) {
    const PortConfig usual;
    port.device = usual.device;
    port.mac = usual.mac;
    port.address = usual.address;
    port.promiscuous = usual.promiscuous;
    port.responder = usual.responder;
    port.proxy_arp = usual.proxy_arp;
    port.peer = usual.peer;
    port.worker = usual.worker;
    port.rx_queues = usual.rx_queues;
    port.rx_workers = usual.rx_workers;
    port.fault = usual.fault;
    port.place = usual.place;
    return port;
}

// "cable (5m, not 40m), mtu (1500, not 9100)": keys of `port` that are not as those of `first`.
std::string key_differences(const PortConfig& first, const PortConfig& port) {
    const std::string name = "p";
    Config from, to;
    from.ports[name] = treatment_of(first);
    to.ports[name] = treatment_of(port);
    std::string text;
    for (const ConfigChange& each : config_changes(from, to)) {
        const auto said = [](const std::string& value) { return value.empty() ? "the default" : value; };
        append_item(text, ", ",
                    fmt::format("{} ({}, not {})", each.path.substr(sizeof "port.p." - 1), said(each.to),
                                said(each.from)));
    }
    return text;
}

using PortsBySpeed = std::map<std::uint64_t, std::vector<std::string>>;

PortsBySpeed ports_by_speed(const Config& config) {
    PortsBySpeed made;
    for (const auto& [name, port] : config.ports) made[port.speed.bits_per_second].push_back(name);
    return made;
}

std::string speeds_text(const PortsBySpeed& by_speed) {
    std::string text;
    for (const auto& [speed, names] : by_speed)
        append_item(text, ", ", fmt::format("{} ({})", print_rate({speed}), some_of(names)));
    return text;
}

// What a switch of a fabric may have of it.
Config without_surroundings(const Config& all, const PortConfig& port) {
    Config config;
    config.load_balance = all.load_balance;
    config.buffer_profile = all.buffer_profile;
    config.buffer_size_bytes = all.buffer_size_bytes;
    config.cell_bytes = all.cell_bytes;
    config.watchdog = all.watchdog;
    config.trimming = all.trimming;
    config.pools = all.pools;
    config.wred = all.wred;
    config.maps = all.maps;
    config.port_defaults = treatment_of(port);
    config.port_defaults.speed = PortConfig{}.speed;
    config.port_defaults.cable_m = PortConfig{}.cable_m;
    return config;
}

}  // namespace

tl::expected<LikeSwitch, std::vector<std::string>> like_switch(const std::string& file,
                                                               std::optional<Rate> speed) {
    const auto all = load_config(file);
    if (!all) {
        std::vector<std::string> lines;
        for (const ConfigError& each : all.error()) lines.push_back(each.text());
        return tl::unexpected(std::move(lines));
    }
    const PortsBySpeed by_speed = ports_by_speed(*all);
    if (by_speed.empty()) return one_line(file + ": it has no ports; do: name the configuration of a switch");
    if (!speed && by_speed.size() > 1)
        return one_line(
            fmt::format("{}: its ports have several speeds, {}; do: say --speed of those to ask for", file,
                        speeds_text(by_speed)));
    const auto found = speed ? by_speed.find(speed->bits_per_second) : by_speed.begin();
    if (found == by_speed.end())
        return one_line(fmt::format("--speed: {} has no port of {}; do: say one of {}", file,
                                    print_rate(*speed), speeds_text(by_speed)));
    const std::vector<std::string>& names = found->second;
    const PortConfig& first = all->ports.at(names.front());
    std::vector<std::string> wrong;
    for (const std::string& name : names) {
        const PortConfig& port = all->ports.at(name);
        if (const std::string keys = key_differences(first, port); !keys.empty())
            wrong.push_back(fmt::format(
                "{}:{}: port.{} differs from port.{} of the same speed in {}; do: make them alike, or leave "
                "one kind out of a copy of the file",
                file, port.place.line, config_key(name), config_key(names.front()), keys));
    }
    if (!wrong.empty()) return tl::unexpected(std::move(wrong));
    LikeSwitch made{without_surroundings(*all, first),
                    static_cast<unsigned>(names.size()),
                    first.speed,
                    first.cable_m,
                    {}};
    for (const auto& [other, left] : by_speed)
        if (other != first.speed.bits_per_second)
            made.notes.push_back(
                fmt::format("{}: {} of {} {} left out, and the headroom that they take of the buffer", file,
                            some_of(left), print_rate({other}), print_was(left.size())));
    if (all->clock == ClockKind::real_time)
        made.notes.push_back(file +
                             ": the headroom for turns of its workers is left out: a fabric has the "
                             "virtual clock");
    return made;
}

}  // namespace sluice::fabric
