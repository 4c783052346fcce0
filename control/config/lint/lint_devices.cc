// Devices: one port each, files that do not collide, and devices that the clock allows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"
#include "lib/values/pci_address.hh"

namespace sluice::lint {
namespace {

// "net_pcap0,rx_pcap=IN" taken apart: "net_pcap0", and the arguments in order.
struct Device {
    std::string_view name;
    std::vector<std::pair<std::string_view, std::string_view>> arguments;
};

Device split_device(std::string_view text) {
    const auto take = [&] {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view part = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        return part;
    };
    Device device;
    device.name = take();
    while (!text.empty()) {
        const std::string_view argument = take();
        const std::size_t equals = std::min(argument.find('='), argument.size());
        device.arguments.emplace_back(argument.substr(0, equals),
                                      argument.substr(std::min(equals + 1, argument.size())));
    }
    return device;
}

// `name` is `driver` followed by nothing but a number, as DPDK numbers its virtual devices.
bool is_vdev(std::string_view name, std::string_view driver) {
    if (!name.starts_with(driver)) return false;
    name.remove_prefix(driver.size());
    return name.find_first_not_of("0123456789") == name.npos;
}

struct Owner {
    std::string port;
    SourcePlace place;
};
using Owners = std::map<std::string, Owner, std::less<>>;

void check_virtual_device(const std::string& port_name, const PortConfig& port, const Device& device,
                          Findings& findings) {
    const std::string path = port_path(port_name, "device");
    if (!is_vdev(device.name, "net_pcap") && !is_vdev(device.name, "net_null")) {
        findings.error("device-clock", path,
                       fmt::format("devices of this kind need the real clock: {}", in_quotes(device.name)),
                       "use net_pcap or net_null with a number, or write clock = \"real\"", port.place);
        return;
    }
    for (const std::string_view interface : {"iface", "rx_iface", "rx_iface_in", "tx_iface"})
        for (const auto& [key, value] : device.arguments)
            if (key == interface)
                findings.error("device-clock", path,
                               fmt::format("{} names a network interface, which needs the real clock", key),
                               "use rx_pcap and tx_pcap, or write clock = \"real\"", port.place);
}

void check_arguments(const std::string& port_name, const PortConfig& port, const Device& device,
                     Findings& findings) {
    if (!is_vdev(device.name, "net_pcap")) return;
    for (const std::string_view key : {"rx_pcap", "tx_pcap"}) {
        std::size_t count = 0;
        for (const auto& [name, value] : device.arguments) {
            if (name != key) continue;
            ++count;
            if (value.empty())
                findings.error("device-file", port_path(port_name, "device"),
                               fmt::format("{} names no file", key),
                               fmt::format("write {}=FILE, or leave it out", key), port.place);
        }
        const std::size_t queues = key == "rx_pcap" ? port.rx_queues : 1;
        if (count > queues)
            findings.error(
                "device-argument-twice", port_path(port_name, "device"),
                queues == 1 ? fmt::format("{} is given {} times: a port has one queue each way", key, count)
                            : fmt::format("{} is given {} times for {} receive queues", key, count, queues),
                queues == 1 ? "leave one" : fmt::format("leave {}", queues), port.place);
    }
}

// Finds keys that `kernel.routes` does not use, and ports that have to be interfaces of the kernel.
void check_kernel(const Config& config, const std::map<std::string, Device, NaturalOrder>& devices,
                  Findings& findings) {
    if (!config.kernel.routes && !config.kernel.has_taps()) return;
    if (config.clock != ClockKind::real_time) {
        const bool routes = config.kernel.routes;
        findings.error("kernel-clock", routes ? "kernel.routes" : "kernel.taps",
                       routes ? "the kernel's routes change in real time" : "the kernel answers in real time",
                       "write clock = \"real\", or leave it out");
        return;
    }
    std::map<std::string_view, std::string> taps;
    for (const auto& [name, device] : devices) {
        const bool has_interface =
            device.name.starts_with("xdp:") ||
            std::any_of(device.arguments.begin(), device.arguments.end(),
                        [](const auto& argument) { return argument.first == "iface"; });
        const PortConfig& port = config.ports.at(name);
        const bool has_tap = !has_interface && config.kernel.has_taps();
        if (!has_interface && !has_tap)
            findings.note("kernel-interface", port_path(name, "device"),
                          "the kernel has no interface of this port, so none of its routes goes by it",
                          "kernel.taps = true, device = \"xdp:NAME\", or routes in the configuration",
                          port.place);
        if (port.responder && (has_interface || has_tap))
            findings.warn(
                "responder-kernel", port_path(name, "responder"),
                has_tap ? "no effect: the kernel answers at the port's TAP"
                        : "the kernel answers at this port's interface, too",
                has_tap ? "leave it out"
                        : "leave it out, and give the interface the port's address, or nobody answers for it",
                port.place);
        if (!has_tap) continue;
        const auto [owner, is_new] = taps.emplace(tap_name(name), name);
        if (!is_new)
            findings.error(
                "tap-twice", port_path(name),
                fmt::format("its TAP would be called {}, as that of port {}", owner->first, owner->second),
                fmt::format("give it a name that differs in the first {} characters", tap_name_bytes),
                port.place);
    }
}

}  // namespace

std::vector<std::string_view> captures_of(std::string_view device, std::string_view wanted) {
    std::vector<std::string_view> files;
    for (const auto& [key, file] : split_device(device).arguments)
        if (key == wanted && !file.empty()) files.push_back(file);
    return files;
}

void check_devices(const Config& config, Findings& findings) {
    std::map<std::string, Device, NaturalOrder> devices;
    Owners owners;
    for (const auto& [name, port] : config.ports) {
        const bool real = config.clock == ClockKind::real_time;
        if (port.device.empty()) {
            if (real)
                findings.error("device-missing", port_path(name),
                               "a port needs a device under the real clock",
                               "write device = \"...\", or clock = \"virtual\"", port.place);
            continue;
        }
        const Device& device = devices.emplace(name, split_device(port.device)).first->second;
        const auto [owner, is_new] = owners.emplace(
            full_pci_address(device.name).value_or(std::string(device.name)), Owner{name, port.place});
        if (!is_new)
            findings.error(
                "device-twice", port_path(name, "device"),
                fmt::format("{} is the device of port {} too", in_quotes(device.name), owner->second.port),
                "give each port its own", port.place);
        const bool is_capture = std::any_of(device.arguments.begin(), device.arguments.end(),
                                            [](const auto& argument) { return argument.first == "rx_pcap"; });
        if (real && port.peer && !is_capture)
            findings.warn(
                "peer-real", port_path(name, "peer"),
                "no effect: under the real clock the peer is what is on the cable, but for a capture",
                "leave peer out", port.place);
        if (!real) check_virtual_device(name, port, device, findings);
        check_arguments(name, port, device, findings);
    }
    check_kernel(config, devices, findings);
}

}  // namespace sluice::lint
