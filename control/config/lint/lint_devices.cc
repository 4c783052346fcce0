// Devices: one port each, allowed under the clock, with the receive queues that the device has and workers
// poll; and the responder or kernel that answers at a port.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "dataplane/ports/device.hh"
#include "lib/values/pci_address.hh"

namespace sluice::lint {
namespace {

// "net_pcap0,rx_pcap=IN" taken apart: "net_pcap0", and the arguments in order.
struct Device {
    std::string name;
    std::vector<std::pair<std::string, std::string>> arguments;

    std::size_t count(std::string_view key) const {
        return static_cast<std::size_t>(std::count_if(
            arguments.begin(), arguments.end(), [&](const auto& argument) { return argument.first == key; }));
    }
};

Device split_device(std::string_view text) {
    const Words parts = split(text, ',');
    Device device{parts.front(), {}};
    for (const std::string& part : std::span(parts).subspan(1)) {
        const std::size_t equals = std::min(part.find('='), part.size());
        device.arguments.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
    }
    return device;
}

void check_virtual_device(const std::string& path, const Device& device, Findings& findings) {
    const DeviceText kind = parse_device(device.name);
    if (!kind.has("net_pcap") && !kind.has("net_null")) {
        findings.error("device-clock", path,
                       fmt::format("devices of this kind need the real clock: {}", in_quotes(device.name)),
                       "use net_pcap or net_null with a number, or write clock = \"real\"");
        return;
    }
    for (const std::string_view key : {"iface", "rx_iface", "rx_iface_in", "tx_iface"})
        for (std::size_t n = device.count(key); n > 0; --n)
            findings.error("device-clock", path,
                           fmt::format("{} names a network interface, which needs the real clock", key),
                           "use rx_pcap and tx_pcap, or write clock = \"real\"");
}

void check_arguments(const std::string& path, const PortConfig& port, const Device& device,
                     Findings& findings) {
    if (!parse_device(device.name).has("net_pcap")) return;
    for (const std::string_view key : {"rx_pcap", "tx_pcap"}) {
        for (const auto& [name, value] : device.arguments)
            if (name == key && value.empty())
                findings.error("device-file", path, fmt::format("{} names no file", key),
                               fmt::format("write {}=FILE, or leave it out", key));
        const std::size_t count = device.count(key);
        const std::size_t queues = key == "rx_pcap" ? port.rx_queues : 1;
        if (count > queues)
            findings.error(
                "device-argument-twice", path,
                queues == 1 ? fmt::format("{} is given {} times: a port has one queue each way", key, count)
                            : fmt::format("{} is given {} times for {} receive queues", key, count, queues),
                queues == 1 ? "leave one" : fmt::format("leave {}", queues));
    }
}

// Finds keys without effect beside `kernel.routes`, and ports that are not interfaces of the kernel.
void check_kernel(const Config& config, Findings& findings) {
    if (!config.kernel.routes && !config.kernel.has_taps()) return;
    if (config.clock != ClockKind::real_time) {
        const bool routes = config.kernel.routes;
        findings.error("kernel-clock", routes ? "kernel.routes" : "kernel.taps",
                       routes ? "the kernel's routes change in real time" : "the kernel answers in real time",
                       "write clock = \"real\", or leave it out");
        return;
    }
    std::map<std::string_view, std::string> taps;
    for (const auto& [name, port] : config.ports) {
        if (port.device.empty()) continue;
        const bool has_interface = !parse_device(port.device).interface.empty();
        const bool has_tap = !has_interface && config.kernel.has_taps();
        if (!has_interface && !has_tap)
            findings.note("kernel-interface", port_path(name, "device"),
                          "the kernel has no interface of this port, so none of its routes goes by it",
                          "kernel.taps = true, device = \"xdp:NAME\", or routes in the configuration");
        if (port.responder && (has_interface || has_tap))
            findings.warn(
                "responder-kernel", port_path(name, "responder"),
                has_tap ? "no effect: the kernel answers at the port's TAP"
                        : "the kernel answers at this port's interface, too",
                has_tap
                    ? "leave it out"
                    : "leave it out, and give the interface the port's address, or nobody answers for it");
        if (!has_tap) continue;
        const auto [owner, is_new] = taps.emplace(tap_name(name), name);
        if (!is_new)
            findings.error(
                "tap-twice", port_path(name),
                fmt::format("its TAP would be called {}, as that of port {}", owner->first, owner->second),
                fmt::format("give it a name that differs in the first {} characters", tap_name_bytes));
    }
}

// Receive queues of a net_af_packet device, all of which get frames; 0: another device.
std::size_t packet_sockets(std::string_view text) {
    if (!text.starts_with("net_af_packet")) return 0;
    std::size_t queues = 1;
    for (const auto& [key, value] : split_device(text).arguments)
        if (key == "qpairs") queues = std::max<std::size_t>(parse_integer(value).value_or(1), 1);
    return queues;
}

void check_packet_sockets(const std::string& name, const PortConfig& port, Findings& findings) {
    const std::size_t queues = packet_sockets(port.device);
    if (queues == 0 || queues == port.rx_queues) return;
    findings.error("rx-queues-device", port_path(name, "rx_queues"),
                   fmt::format("the device has qpairs={}, each of which gets frames, and the port polls {}",
                               queues, port.rx_queues),
                   fmt::format("write rx_queues = {}, or qpairs={}", queues, port.rx_queues));
}

void check_queues_of(const std::string& name, const PortConfig& port, const Config& config,
                     Findings& findings) {
    const std::string path = port_path(name, "rx_queues");
    if (config.clock == ClockKind::virtual_time) {
        findings.error(
            "rx-queues-clock", path,
            "under the virtual clock a port has one receive queue: the order of its frames is part of "
            "the input",
            "write clock = \"real\", or rx_queues = 1");
        return;
    }
    // A net_pcap device reads a file for each of its queues.
    const std::size_t files = parse_device(port.device).rx_pcaps.size();
    if (files != 0 && files < port.rx_queues)
        findings.error("rx-queues-device", path,
                       fmt::format("{} receive queues, and the device reads {} file{}", port.rx_queues, files,
                                   files == 1 ? "" : "s"),
                       fmt::format("write rx_queues = {}, or rx_pcap=FILE once for each queue", files));
    if (files != 0 && port.peer == PeerKind::obey)
        findings.error("rx-queues-peer", path, "a sender that obeys has one file",
                       "write rx_queues = 1, or leave peer out");
    for (const unsigned worker : port.rx_workers)
        if (worker >= config.workers)
            findings.error("worker-index", port_path(name, "rx_workers"),
                           fmt::format("worker {} of {}: the last one is {}", worker, config.workers,
                                       config.workers - 1),
                           fmt::format("leave {} out, or write workers = {}", worker, worker + 1));
}

}  // namespace

void check_devices(const Config& config, Findings& findings) {
    std::map<std::string, std::string, std::less<>> owners;
    for (const auto& [name, port] : config.ports) {
        const bool real = config.clock == ClockKind::real_time;
        if (port.device.empty()) {
            if (real)
                findings.error("device-missing", port_path(name),
                               "a port needs a device under the real clock",
                               "write device = \"...\", or clock = \"virtual\"");
            continue;
        }
        const Device device = split_device(port.device);
        const auto [owner, is_new] =
            owners.emplace(full_pci_address(device.name).value_or(device.name), name);
        if (!is_new)
            findings.error(
                "device-twice", port_path(name, "device"),
                fmt::format("{} is the device of port {} too", in_quotes(device.name), owner->second),
                "give each port its own");
        if (real && port.peer && device.count("rx_pcap") == 0)
            findings.warn(
                "peer-real", port_path(name, "peer"),
                "no effect: under the real clock the peer is the device on the cable, except for a capture",
                "leave peer out");
        if (!real) check_virtual_device(port_path(name, "device"), device, findings);
        check_arguments(port_path(name, "device"), port, device, findings);
    }
    check_kernel(config, findings);
}

void check_receive_queues(const Config& config, Findings& findings) {
    for (const auto& [name, port] : config.ports) {
        if (config.clock == ClockKind::real_time) check_packet_sockets(name, port, findings);
        if (port.rx_queues != 1)
            check_queues_of(name, port, config, findings);
        else if (!port.rx_workers.empty())
            findings.note("rx-workers-idle", port_path(name, "rx_workers"),
                          "no effect: the port's one receive queue is polled by its worker",
                          "leave rx_workers out, or write rx_queues = 2");
    }
}

void check_slow_path(const Config& config, Findings& findings) {
    for (const auto& [name, port] : config.ports) {
        if (port.proxy_arp && !port.responder)
            findings.warn("proxy-arp-alone", port_path(name, "proxy_arp"),
                          "no effect: it is the responder that would answer", "write responder = true");
        if (port.responder && port.device.starts_with("xdp:") && !config.kernel.routes)
            findings.warn("responder-kernel", port_path(name, "responder"),
                          "of use for oversize packets alone: the kernel gets the rest at this port's "
                          "interface, and answers for the interface's addresses only",
                          "leave it out, and give the interface the port's address");
        if (port.responder && port.address.empty())
            findings.note("responder-address", port_path(name, "responder"),
                          "the port has no address to answer for, or to send errors from",
                          "give it one with address");
    }
}

}  // namespace sluice::lint
