// The parts of lint; private to it.
#pragma once

#include "control/config/findings.hh"

namespace sluice::lint {

void check_decisions(const Config& config, Findings& findings);  // lint_decisions.cc
void check_devices(const Config& config, Findings& findings);    // lint_devices.cc
void check_hosts(const Config& config, Findings& findings);      // lint_hosts.cc
// "host.h1.mtu", quoted as the file would have it.
std::string host_path(std::string_view host, std::string_view key);
void check_flows(const Config& config, Findings& findings);           // lint_flows.cc
void check_mirrors(const Config& config, Findings& findings);         // lint_mirror.cc
void check_receive_queues(const Config& config, Findings& findings);  // lint_receive_queues.cc
void check_addresses(const Config& config, Findings& findings);       // lint_routes.cc
void check_neighbors(const Config& config, Findings& findings);
void check_routes(const Config& config, Findings& findings);
// The neighbors, and all that they are judged by: ports and their addresses.
bool same_neighbors(const Config& good, const Config& config);
void check_slow_path(const Config& config, Findings& findings);  // lint_slow_path.cc
void check_watchdog(const Config& config, Findings& findings);   // lint_watchdog.cc
void check_wires(const Config& config, Findings& findings);      // lint_wires.cc

}  // namespace sluice::lint
