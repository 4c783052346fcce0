// Several receive queues of a port: whether its device has them, and a worker polls them.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

// Of a net_pcap device, which reads a file for each of its queues; 0: it is none, or names no file.
std::size_t input_files(std::string_view device) {
    if (!device.starts_with("net_pcap")) return 0;
    constexpr std::string_view key = ",rx_pcap=";
    std::size_t count = 0;
    for (std::size_t at = device.find(key); at != device.npos; at = device.find(key, at + 1)) ++count;
    return count;
}

// Receive queues that a net_af_packet device makes, all of which get frames; 0: it is none.
std::size_t packet_sockets(std::string_view device) {
    if (!device.starts_with("net_af_packet")) return 0;
    constexpr std::string_view key = ",qpairs=";
    const std::size_t at = device.rfind(key);
    if (at == device.npos) return 1;
    const std::string_view rest = device.substr(at + key.size());
    const auto number = parse_integer(rest.substr(0, rest.find(',')));
    return number && *number > 0 ? *number : 1;
}

void check_packet_sockets(const std::string& name, const PortConfig& port, Findings& findings) {
    const std::size_t queues = packet_sockets(port.device);
    if (queues == 0 || queues == port.rx_queues) return;
    findings.error("rx-queues-device", port_path(name, "rx_queues"),
                   fmt::format("the device has qpairs={}, each of which gets frames, and the port polls {}",
                               queues, port.rx_queues),
                   fmt::format("write rx_queues = {}, or qpairs={}", queues, port.rx_queues), port.place);
}

void check_queues_of(const std::string& name, const PortConfig& port, const Config& config,
                     Findings& findings) {
    const std::string path = port_path(name, "rx_queues");
    if (config.clock == ClockKind::virtual_time) {
        findings.error(
            "rx-queues-clock", path,
            "under the virtual clock a port has one receive queue: the order of its frames is part of "
            "the input",
            "write clock = \"real\", or rx_queues = 1", port.place);
        return;
    }
    if (const std::size_t files = input_files(port.device); files != 0 && files < port.rx_queues)
        findings.error("rx-queues-device", path,
                       fmt::format("{} receive queues, and the device reads {} file{}", port.rx_queues, files,
                                   files == 1 ? "" : "s"),
                       fmt::format("write rx_queues = {}, or rx_pcap=FILE once for each queue", files),
                       port.place);
    if (input_files(port.device) != 0 && port.peer == PeerKind::obey)
        findings.error("rx-queues-peer", path, "a sender that obeys has one file",
                       "write rx_queues = 1, or leave peer out", port.place);
    for (const unsigned worker : port.rx_workers)
        if (worker >= config.workers)
            findings.error("worker-index", port_path(name, "rx_workers"),
                           fmt::format("worker {} of {}: the last one is {}", worker, config.workers,
                                       config.workers - 1),
                           fmt::format("leave {} out, or write workers = {}", worker, worker + 1),
                           port.place);
}

}  // namespace

void check_receive_queues(const Config& config, Findings& findings) {
    for (const auto& [name, port] : config.ports) {
        if (config.clock == ClockKind::real_time) check_packet_sockets(name, port, findings);
        if (port.rx_queues != 1)
            check_queues_of(name, port, config, findings);
        else if (!port.rx_workers.empty())
            findings.note("rx-workers-idle", port_path(name, "rx_workers"),
                          "no effect: the port's one receive queue is polled by its worker",
                          "leave rx_workers out, or write rx_queues = 2", port.place);
    }
}

}  // namespace sluice::lint
