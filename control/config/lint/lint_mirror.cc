// Finds mirrors that cannot work, or have keys without effect.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

bool is_on(const MirrorConfig& mirror, MirrorEvent event) {
    return std::find(mirror.on.begin(), mirror.on.end(), event) != mirror.on.end();
}

void check_keys(const std::string& name, const MirrorConfig& mirror, Findings& findings) {
    const int outputs = !mirror.file.empty() + !mirror.fifo.empty() + mirror.collector.has_value();
    if (outputs == 0)
        findings.error("mirror-output", mirror_path(name, "file"),
                       "a mirror needs a file, a FIFO or a collector", "write file = \"out/drops.pcapng\"");
    if (outputs > 1)
        findings.error("mirror-output", mirror_path(name, "file"),
                       "a mirror has a file, a FIFO or a collector, this one has several",
                       "leave all but one of them out");
    if (mirror.on.empty())
        findings.note("mirror-idle", mirror_path(name, "on"), "the list is empty: nothing is ever mirrored",
                      "write on = [\"drop\"]");
    else if (!mirror.reasons.empty() && !is_on(mirror, MirrorEvent::drop))
        findings.note("mirror-idle", mirror_path(name, "reason"),
                      "reasons are those of drops, which this mirror does not show: no effect",
                      "write on = [\"drop\"], or leave reason out");
}

bool may_be_host(const IpAddress& address) {
    constexpr std::uint32_t any_v4 = 0x0A00'0001;
    constexpr Ipv6Octets any_v6{0x20, 0x01};
    return (address.is_v6
                ? judge_ipv6(any_v6, address.bytes)
                : judge_ipv4(any_v4, load_be<std::uint32_t>(address.bytes.data()))) == DropReason::none;
}

// The collector must be another host, with a source address of its family, and the mirror must have a rate.
void check_collector(const std::string& name, const MirrorConfig& mirror, const Config& config,
                     Findings& findings) {
    const IpAddress& to = *mirror.collector;
    const std::string key = mirror_path(name, "collector");
    if (!may_be_host(to))
        findings.error("mirror-collector", key,
                       fmt::format("{} is the address of no host", print_address(to)),
                       "name the collector's unicast address");
    bool has_source = false;
    for (const auto& [port, said] : config.ports)
        for (const IpPrefix& own : said.address) {
            has_source |= own.address.is_v6 == to.is_v6 && !is_link_local(own.address);
            if (own.address == to)
                findings.error("mirror-collector", key,
                               fmt::format("{} is the address of port {}: the switch is not a collector",
                                           print_address(to), in_quotes(port)),
                               "name another host's address");
        }
    if (!has_source)
        findings.error("mirror-collector", key,
                       fmt::format("no port has an {} address, from which its packets could come",
                                   to.is_v6 ? "IPv6" : "IPv4"),
                       "give a port an address of its family");
    if (mirror.limit.rate == 0)
        findings.error("mirror-collector", mirror_path(name, "rate"),
                       "a mirror without a rate would fill the port to its collector",
                       "write rate = 1000, or another limit");
}

}  // namespace

std::string mirror_path(const std::string& name, std::string_view key) {
    return fmt::format("mirror.{}.{}", config_key(name), key);
}

void check_mirrors(const Config& config, Findings& findings) {
    for (const auto& [name, mirror] : config.mirrors) {
        check_ports_named(config, mirror.ports, "mirror-port", mirror_path(name, "port"), findings);
        check_keys(name, mirror, findings);
        if (mirror.collector) check_collector(name, mirror, config, findings);
    }
}

}  // namespace sluice::lint
