// The parts of lint; private to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/findings.hh"

namespace sluice::lint {

// The finding `id` at `path` for each of the names that no port has. (lint.cc)
void check_ports_named(const Config& config, const std::vector<std::string>& names, FindingId id,
                       const std::string& path, Findings& findings);

void check_decisions(const Config& config, Findings& findings);  // lint_files.cc
void check_devices(const Config& config, Findings& findings);    // lint_devices.cc
// The files that a device has as its "rx_pcap" or "tx_pcap". (lint_devices.cc)
std::vector<std::string_view> captures_of(std::string_view device, std::string_view wanted);
void check_files(const Config& config, Findings& findings);  // lint_files.cc
void check_hosts(const Config& config, Findings& findings);  // lint_hosts.cc
// "host.h1.mtu", quoted as the file would have it.
std::string host_path(std::string_view host, std::string_view key);
void check_flows(const Config& config, Findings& findings);    // lint_flows.cc
void check_mirrors(const Config& config, Findings& findings);  // lint_mirror.cc
// "mirror.m.file", quoted as the file would have it. (lint_mirror.cc)
std::string mirror_path(const std::string& name, std::string_view key);
void check_receive_queues(const Config& config, Findings& findings);  // lint_devices.cc
void check_addresses(const Config& config, Findings& findings);       // lint_routes.cc
void check_neighbors(const Config& config, Findings& findings);
void check_routes(const Config& config, Findings& findings);
// The neighbors, and all that they are judged by: ports and their addresses.
bool same_neighbors(const Config& good, const Config& config);
void check_slow_path(const Config& config, Findings& findings);  // lint_devices.cc
void check_watchdog(const Config& config, Findings& findings);   // lint_watchdog.cc
void check_wires(const Config& config, Findings& findings);      // lint_wires.cc

}  // namespace sluice::lint
