// Simulated hosts: each behind a port of its own, with an address that the port reaches and packets that fit.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

void check_rates(const std::string& name, const HostConfig& host, const PortConfig& port,
                 Findings& findings) {
    if (host.rate_min && host.rate_min->bits_per_second > port.speed.bits_per_second)
        findings.error(
            "host-rate", host_path(name, "rate_min"),
            fmt::format("{} is above the {} of its port", print_rate(*host.rate_min), print_rate(port.speed)),
            fmt::format("write rate_min = \"{}\" or less", print_rate(port.speed)));
    if (host.receive_xon_bytes && *host.receive_xon_bytes > host.receive_buffer_bytes)
        findings.error(
            "host-receive-xon", host_path(name, "receive_xon"),
            fmt::format("XON at {} would come before XOFF, above {}", print_size(*host.receive_xon_bytes),
                        print_size(host.receive_buffer_bytes)),
            "write receive_xon at most as receive_buffer, or \"auto\"");
    if (host.drain && host.drain->bits_per_second < port.speed.bits_per_second)
        findings.warn("host-drain", host_path(name, "drain"),
                      fmt::format("it takes in {} of the {} that its port sends: it pauses the port",
                                  print_rate(*host.drain), print_rate(port.speed)),
                      "write drain = \"unlimited\"");
}

// With go-back-N the trimmed packet, which overtakes its predecessors, would send back a requester that is
// merely behind.
void check_trim(const std::string& name, const HostConfig& host, Findings& findings) {
    if (!host.recovery.naks_trimmed || host.recovery.kind == roce::Recovery::selective) return;
    findings.error("host-trim", host_path(name, "trim"),
                   "a host that goes back N cannot ask for one packet alone",
                   "write recovery = \"selective\", or trim = \"ignore\"");
}

// Only a SEND needs a posted receive.
void check_rnr(const std::string& name, const HostConfig& host, const Config& config, Findings& findings) {
    if (host.rnr_chance.parts_per_billion == 0 || config.flows.empty()) return;
    for (const FlowConfig& flow : config.flows)
        if (flow.kind == FlowKind::send && std::find(flow.to.begin(), flow.to.end(), name) != flow.to.end())
            return;
    findings.warn("host-rnr", host_path(name, "rnr_chance"),
                  "no flow of kind \"send\" goes to it: it has no effect",
                  "write kind = \"send\" for a flow to it, or leave rnr_chance out");
}

bool says_mtu(const std::string& name, const HostConfig& host, const Config& config) {
    return host.mtu != HostConfig{}.mtu || config.source.find(host_path(name, "mtu")).line != 0 ||
           config.source.find("host.default.mtu").line != 0;
}

// Reports the host's MTU, or the port's when the host has the default.
void check_mtu(const std::string& name, const HostConfig& host, const PortConfig& port, const Config& config,
               Findings& findings) {
    const std::uint32_t bytes = longest_ip_bytes(host);
    if (bytes <= port.mtu) return;
    std::uint32_t fitting = host.mtu;
    while (fitting >= 256 && bytes - host.mtu + fitting > port.mtu) fitting = std::bit_floor(fitting - 1);
    const bool hosts_own = says_mtu(name, host, config);
    findings.error(
        "host-mtu", hosts_own ? host_path(name, "mtu") : port_path(host.port, "mtu"),
        hosts_own ? fmt::format("a payload of {} is an IP packet of {} bytes, the MTU of its port is {}",
                                host.mtu, bytes, port.mtu)
                  : fmt::format("its host's payload of {} is an IP packet of {} bytes, the MTU is {}",
                                host.mtu, bytes, port.mtu),
        fitting >= 256 ? fmt::format("write mtu = {} for the host, or mtu = {} for the port", fitting, bytes)
                       : fmt::format("write mtu = {} for the port", bytes));
}

void check_address(const std::string& name, const HostConfig& host, const PortConfig& port,
                   Findings& findings) {
    const auto refuse = [&](std::string wrong, std::string fix) {
        findings.error("host-address", host_path(name, "address"), std::move(wrong), std::move(fix));
    };
    const std::string address = print_address(host.address);
    std::string subnets;
    bool inside = false;
    for (const IpPrefix& own : port.address) {
        if (own.address == host.address)
            return refuse(fmt::format("{} is port {}'s own address", address, host.port),
                          fmt::format("write another address of {}", print_prefix(network_of(own))));
        append_item(subnets, " or ", print_prefix(network_of(own)));
        inside |= contains(own, host.address);
    }
    if (inside) return;
    if (subnets.empty())
        return refuse(fmt::format("port {} has no address, so no subnet with {} in it", host.port, address),
                      fmt::format("write address = [...] for the port, with the subnet of {}", address));
    refuse(fmt::format("{} is outside the subnet of port {}", address, host.port),
           fmt::format("write an address of {}", subnets));
}

void check_neighbor(const std::string& name, const HostConfig& host, const Config& config,
                    Findings& findings) {
    const auto [first, last] = config.neighbors->equal_range(host.address);
    for (auto there = first; there != last; ++there) {
        const MacAddress mac = host_mac(config, name);
        if (there->port == host.port && there->mac == mac && !there->vlan) continue;
        findings.error(
            "host-neighbor", fmt::format("neighbor {}", print_address(host.address)),
            fmt::format("it is host {}, at port {} with {}, and untagged", name, host.port, print_mac(mac)),
            "leave the neighbor out: it is made", there->place);
    }
}

// A capture or a card that receives, where the host does.
bool has_input(const PortConfig& port) {
    const bool only_written =
        port.device.starts_with("net_pcap") && port.device.find("rx_") == std::string::npos;
    return !port.device.empty() && !only_written;
}

void check_port(const std::string& name, const HostConfig& host, const Config& config, Findings& findings) {
    const auto found = config.ports.find(host.port);
    if (found == config.ports.end()) {
        const std::string near = nearest_key(host.port, config.ports);
        findings.error(
            "host-port", host_path(name, "port"), fmt::format("there is no port {}", in_quotes(host.port)),
            near.empty() ? fmt::format("add [port.{}], or write port = \"...\"", config_key(host.port))
                         : fmt::format("write port = \"{}\"", near));
        return;
    }
    const PortConfig& port = found->second;
    if (has_input(port))
        findings.error("host-device", port_path(host.port, "device"),
                       "a simulated host stands behind the port, and so does its device",
                       "leave device out, or the host");
    if (!is_on_wire(config, host.port)) check_address(name, host, port, findings);
    check_neighbor(name, host, config, findings);
    check_mtu(name, host, port, config, findings);
    check_rates(name, host, port, findings);
    check_rnr(name, host, config, findings);
    check_trim(name, host, findings);
}

}  // namespace

std::string host_path(std::string_view host, std::string_view key) {
    return fmt::format("host.{}.{}", config_key(host), key);
}

void check_hosts(const Config& config, Findings& findings) {
    std::map<std::string_view, std::string_view> of_port;
    std::map<IpAddress, std::string_view> of_address;
    for (const auto& [name, host] : config.hosts) {
        if (config.clock == ClockKind::real_time)
            findings.error("host-clock", host_path(name, "port"), "a simulated host needs the virtual clock",
                           "write clock = \"virtual\", or run sluice-peer at the other end of the cable");
        if (const auto [owner, is_new] = of_port.emplace(host.port, name); !is_new)
            findings.error("host-twice", host_path(name, "port"),
                           fmt::format("host {} is behind port {} already", owner->second, host.port),
                           "give each host its own port");
        if (const auto [owner, is_new] = of_address.emplace(host.address, name); !is_new)
            findings.error(
                "host-address", host_path(name, "address"),
                fmt::format("{} is the address of host {}, too", print_address(host.address), owner->second),
                "give each host its own");
        else
            check_port(name, host, config, findings);
        if (const std::size_t qps = queue_pairs_of(config, name); qps > max_host_qps)
            findings.error(
                "host-qps", host_path(name, "port"),
                fmt::format("its flows have {} queue pairs, a host has {} at most", qps, max_host_qps),
                "write fewer qps");
    }
}

}  // namespace sluice::lint
