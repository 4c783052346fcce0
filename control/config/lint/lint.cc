#include "control/config/lint/lint.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace lint {
namespace {

constexpr Duration max_turn = milliseconds(1);
constexpr std::uint32_t min_ipv6_mtu = 1280;  // RFC 8200, 5

void check_workers(const Config& config, const Machine& machine, Findings& findings) {
    const bool real = config.clock == ClockKind::real_time;
    std::size_t queues = 0;
    for (const auto& [name, port] : config.ports) queues += port.rx_queues;
    if (!config.ports.empty() && config.workers > queues)
        findings.warn(
            "workers-idle", "workers",
            fmt::format("{} workers for {} {}: {} have nothing to do", config.workers, queues,
                        queues == config.ports.size() ? "ports" : "receive queues", config.workers - queues),
            fmt::format("write workers = {}", queues));
    if (real && config.workers > machine.cpus)
        findings.error("workers-cpus", "workers",
                       fmt::format("{} workers under the real clock need as many CPUs, there are {}",
                                   config.workers, machine.cpus),
                       fmt::format("write workers = {}", machine.cpus));
    if (!config.cores.empty() && config.cores.size() != config.workers)
        findings.error("cores-count", "cores",
                       fmt::format("{} CPUs for {} workers", config.cores.size(), config.workers),
                       "name one CPU for each worker, or leave cores out");
    if (!config.cores.empty() && !real)
        findings.note("cores-virtual", "cores", "the virtual clock runs all workers on one thread: no effect",
                      "leave cores out");
}

void check_turn(const Config& config, Findings& findings) {
    if (config.virtual_turn <= max_turn) return;
    Rate fastest = gigabits(1);
    for (const auto& [name, port] : config.ports) fastest = std::max(fastest, port.speed);
    const auto bytes = static_cast<std::uint64_t>(config.virtual_turn.ps /
                                                  std::max<std::int64_t>(1, fastest.byte_time().ps));
    findings.error(
        "turn-long", "virtual.turn",
        fmt::format("a turn of {} is longer than {}: {} bytes arrive at {} between two turns",
                    print_time(config.virtual_turn), print_time(max_turn), bytes, print_rate(fastest)),
        "write turn = \"5us\" or less");
}

// A sleeping worker does not poll its receive rings; headroom reckons with turn_max alone.
void check_idle_sleep(const Config& config, Findings& findings) {
    if (config.idle_sleep * 2 <= config.turn_max) return;
    findings.error("idle-sleep", "idle_sleep",
                   fmt::format("an idle worker sleeps {}, more than half of turn_max, {}",
                               print_time(config.idle_sleep), print_time(config.turn_max)),
                   fmt::format("write turn_max = \"{}\"", print_time(config.idle_sleep * 2)));
}

void check_buffer(const Config& config, Findings& findings) {
    if (const std::uint32_t room = packet_buffer_bytes(config); config.cell_bytes > room)
        findings.error(
            "cell-range", "buffer.packet_buffer",
            fmt::format("a packet buffer of {} bytes is smaller than a cell of {}: the buffers would be "
                        "gone before the cells",
                        room, config.cell_bytes),
            fmt::format("write packet_buffer = {} or more, or smaller cells", config.cell_bytes));
    // The minimum: a frame of each port in the buffer.
    std::uint64_t least = 0;
    for (const auto& [name, port] : config.ports) {
        const std::uint64_t frame = port.mtu + link_header_bytes;
        least += (frame + config.cell_bytes - 1) / config.cell_bytes * config.cell_bytes;
    }
    if (config.buffer_size_bytes < std::max<std::uint64_t>(least, config.cell_bytes))
        findings.error(
            "buffer-small", "buffer.size",
            fmt::format("{} bytes do not hold one frame of each of {} ports, which take {}",
                        config.buffer_size_bytes, config.ports.size(), least),
            fmt::format("write size = {} or more", std::max<std::uint64_t>(least, config.cell_bytes)));
    if (const std::uint64_t rest = config.buffer_size_bytes % config.cell_bytes; rest != 0)
        findings.note("buffer-rest", "buffer.size",
                      fmt::format("{} bytes are {} cells of {} and {} bytes that nothing uses",
                                  config.buffer_size_bytes, config.buffer_size_bytes / config.cell_bytes,
                                  config.cell_bytes, rest),
                      fmt::format("write size = {}", config.buffer_size_bytes - rest));
}

void check_port(const std::string& name, const PortConfig& port, const Config& config, Findings& findings) {
    const bool has_v6 = std::any_of(port.address.begin(), port.address.end(),
                                    [](const IpPrefix& a) { return a.address.is_v6; });
    if (has_v6 && port.mtu < min_ipv6_mtu)
        findings.warn(
            "mtu-ipv6", port_path(name, "mtu"),
            fmt::format("IPv6 needs an MTU of at least {}, this port has {}", min_ipv6_mtu, port.mtu),
            fmt::format("write mtu = {}", min_ipv6_mtu));
    if (port.worker && *port.worker >= config.workers)
        findings.error(
            "worker-index", port_path(name, "worker"),
            fmt::format("worker {} of {}: the last one is {}", *port.worker, config.workers,
                        config.workers - 1),
            fmt::format("write worker = {}, or workers = {}", config.workers - 1, *port.worker + 1));
    if (!config.maps.contains(port.map)) {
        const std::string near = nearest_key(port.map, config.maps);
        findings.error(
            "map-unknown", port_path(name, "map"), fmt::format("there is no map {}", in_quotes(port.map)),
            near.empty() ? fmt::format("add [map.{}]", port.map) : fmt::format("write map = \"{}\"", near));
    }
}

// The first key of the port's faults in the file.
std::string fault_key(const std::string& name, const Config& config) {
    for (const std::string& table :
         {port_path(name, "fault."), std::string("default.fault."), std::string("default.port.fault.")}) {
        const auto said = config.source.places.lower_bound(table);
        if (said != config.source.places.end() && said->first.starts_with(table))
            return "fault." + said->first.substr(table.size());
    }
    return "fault";
}

void check_fault(const std::string& name, const PortConfig& port, const Config& config, Findings& findings) {
    const FaultSettings& fault = port.fault;
    if (fault == FaultSettings{}) return;
    if (config.clock == ClockKind::real_time)
        findings.error("fault-real-clock", port_path(name, fault_key(name, config)),
                       "faults are injected under the virtual clock only",
                       "write clock = \"virtual\", or leave [fault] out");
    if (fault.overshoot_bytes != 0 && port.peer == PeerKind::ignore)
        findings.note("fault-overshoot", port_path(name, "fault.overshoot"),
                      "a peer that ignores PFC never stops: no effect", "write peer = \"obey\"");
    const bool set_later =
        std::any_of(config.events.begin(), config.events.end(), [&](const EventConfig& event) {
            return event.command.starts_with(fmt::format("fault {} storm_classes ", name));
        });
    const bool every = fault.storm_every != FaultSettings{}.storm_every;
    if (fault.storm_classes == 0 && !set_later && (every || fault.storm_for != FaultSettings{}.storm_for))
        findings.note("fault-storm", port_path(name, every ? "fault.storm_every" : "fault.storm_for"),
                      "a storm without storm_classes", "name its classes");
}

void check_macs(const Config& config, Findings& findings) {
    std::map<MacAddress, std::string> owners;
    for (const auto& [name, port] : config.ports) {
        if (!port.mac) continue;
        const auto [owner, is_new] = owners.emplace(*port.mac, name);
        if (!is_new)
            findings.error(
                "mac-twice", port_path(name, "mac"),
                fmt::format("{} is the MAC address of port {} too", print_mac(*port.mac), owner->second),
                "give each port its own, or leave mac out");
    }
    std::set<MacAddress> reported;
    for (const NeighborConfig& neighbor : *config.neighbors)
        if (const auto owner = owners.find(neighbor.mac);
            owner != owners.end() && reported.insert(neighbor.mac).second)
            findings.error("neighbor-own-mac", fmt::format("neighbor {}", print_address(neighbor.address)),
                           fmt::format("{} is the MAC address of our own port {}", print_mac(neighbor.mac),
                                       owner->second),
                           "write the neighbor's MAC address", neighbor.place);
}

}  // namespace

void check_ports_named(const Config& config, const std::vector<std::string>& names, FindingId id,
                       const std::string& path, Findings& findings) {
    for (const std::string& name : names) {
        if (config.ports.contains(name)) continue;
        const std::string near = nearest_key(name, config.ports);
        findings.error(id, path, fmt::format("there is no port {}", in_quotes(name)),
                       near.empty() ? "name a port of the switch" : fmt::format("write \"{}\"", near));
    }
}
}  // namespace lint

std::vector<Finding> check_config(const Config& config, const Machine& machine, const Config* good) {
    lint::Findings findings(config);
    if (config.ports.empty())
        findings.error("no-ports", {}, "there is no port: the switch would do nothing",
                       "add a section [port.p1]");
    lint::check_workers(config, machine, findings);
    lint::check_turn(config, findings);
    lint::check_idle_sleep(config, findings);
    lint::check_buffer(config, findings);
    for (const auto& [name, port] : config.ports) {
        lint::check_port(name, port, config, findings);
        lint::check_fault(name, port, config, findings);
    }
    lint::check_devices(config, findings);
    lint::check_hosts(config, findings);
    lint::check_flows(config, findings);
    lint::check_wires(config, findings);
    lint::check_receive_queues(config, findings);
    lint::check_decisions(config, findings);
    lint::check_mirrors(config, findings);
    lint::check_files(config, findings);
    lint::check_addresses(config, findings);
    const bool same_neighbors = good != nullptr && lint::same_neighbors(*good, config);
    if (!same_neighbors) {
        lint::check_macs(config, findings);
        lint::check_neighbors(config, findings);
    }
    if (!same_neighbors || !good->routes.is_shared_with(config.routes)) lint::check_routes(config, findings);
    lint::check_watchdog(config, findings);
    lint::check_slow_path(config, findings);
    return findings.take();
}

}  // namespace sluice
